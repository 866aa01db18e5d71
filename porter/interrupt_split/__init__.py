"""Splits a legacy interrupt handler: what a native process does at once, and what the VM does."""
