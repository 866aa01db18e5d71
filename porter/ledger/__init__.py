"""Whether every site is accounted for: by the port, by a person, and beside a built program."""
