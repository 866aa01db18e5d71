"""`python -m proofs.encodings`: every difference between the scanner's tables and LLVM's.

Exit status 0 when all differences have a reason, 1 when one has none, 2 without llvm-mc.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from proofs.encodings import riscv, thumb
from proofs.encodings.comparison import Comparison
from proofs.encodings.llvm import llvm_mc


def comparisons() -> Iterator[tuple[str, Comparison]]:
    """Core by core."""
    for arch in thumb.CORES:
        yield arch, thumb.compare_all(arch, whole=arch in thumb.WHOLE)
    yield riscv.ARCH, riscv.compare_all()


def main() -> int:
    """Print all."""
    program = llvm_mc()
    if program is None:
        print("encodings: please install llvm-mc (Debian package llvm)", file=sys.stderr)
        return 2
    print(f"encodings: against {program}")
    failed = False
    for arch, found in comparisons():
        for line in found.lines():
            print(f"{arch}: {line}", flush=True)
        failed = failed or bool(found.unexplained)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
