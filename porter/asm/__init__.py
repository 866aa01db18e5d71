"""What short assembler sequences do to masks, sleep and system registers, and the C for it."""
