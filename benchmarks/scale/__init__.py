"""How the cost of operations grows with the system, and how the latency of an interrupt varies."""
