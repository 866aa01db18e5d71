"""RTOS recipes: what the porter must know of an RTOS beyond its machine instructions (data)."""
