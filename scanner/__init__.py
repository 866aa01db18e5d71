"""Checks of finished binaries: which instructions and accesses may not run unprivileged."""
