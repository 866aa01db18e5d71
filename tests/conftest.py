"""What every test relies on, whoever started it."""

from __future__ import annotations

import os
import signal

# In a shell's background SIGINT is ignored, under nohup SIGHUP is, and so they are by all that the
# tests start. What is to end by them would go on for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Tests start the commands some thousand times, and each would compile the package anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
