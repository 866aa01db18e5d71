"""Whether campaigns try all their cases, as `make campaign FULL=1` asks, or a sample."""

from __future__ import annotations

import os

FULL = "FVM_FULL" in os.environ
