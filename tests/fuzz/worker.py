"""One target under atheris: `python -m tests.fuzz.worker TARGET [libFuzzer's options] [CORPUS]`."""

from __future__ import annotations

import sys

import atheris
from atheris.import_hook import HookManager

# atheris never frees the result of a comparison that it traces. Where these are arrays, that is
# the memory of the whole computer in minutes, so there it counts branches and traces no data.
ARRAYS = ["scanner.image.entropy", "scanner.image.symbols"]

with atheris.instrument_imports(include=["scanner"], exclude=ARRAYS):
    from tests.fuzz.targets import TARGETS

with HookManager({"scanner"}, set(), enable_loader_override=True, trace_dataflow=False):
    # What the scan imports only when it is used.
    import scanner.engine  # noqa: F401
    from scanner.arch.registry import ARCHITECTURES, architecture

    for core in ARCHITECTURES:
        architecture(core)


def main() -> None:
    """Fuzz until libFuzzer's own limits stop it."""
    name, *arguments = sys.argv[1:]
    atheris.Setup([sys.argv[0], *arguments], TARGETS[name])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
