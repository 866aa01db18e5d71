"""The benchmark for a real board: marks read the cycle counter, results come over a serial line."""
