"""A composed system in QEMU: its serial lines, and its kernel's log in words."""
