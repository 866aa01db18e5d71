"""What every test relies on, whoever started it."""

from __future__ import annotations

import signal

# In a shell's background SIGINT is ignored, and so it is by all that the tests start. What is to
# end by Ctrl-C would go on for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
