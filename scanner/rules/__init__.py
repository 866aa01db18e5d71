"""What may not stand in a guest binary: one file a rule family."""
