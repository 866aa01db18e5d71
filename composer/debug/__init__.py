"""For people who look for a fault: debugger set-up, decoded records, a timeline of a run."""
