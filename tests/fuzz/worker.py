"""One target under atheris: `python -m tests.fuzz.worker TARGET [libFuzzer's options] [CORPUS]`."""

from __future__ import annotations

import sys

import atheris

with atheris.instrument_imports(include=["scanner", "elftools"]):
    from tests.fuzz.targets import TARGETS


def main() -> None:
    """Fuzz until libFuzzer's own limits stop it."""
    name, *arguments = sys.argv[1:]
    atheris.Setup([sys.argv[0], *arguments], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
