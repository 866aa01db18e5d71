"""What code does with a register that rules ask about: which tick, which pins, how deep a sleep."""
