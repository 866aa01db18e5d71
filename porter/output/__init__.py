"""What a port becomes: a diff, a ported copy, edited files, and a report."""
