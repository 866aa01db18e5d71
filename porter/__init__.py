"""Rewrites a legacy project's sources so that they run in a virtual machine."""
