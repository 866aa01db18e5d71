"""Checks of finished binaries: which instructions and accesses may not run unprivileged."""

from scanner.scan import scan_file

__all__ = ["scan_file"]
