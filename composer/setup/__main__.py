"""`python3 -m composer.setup`: everything that a fresh clone needs. Safe to run again."""

from __future__ import annotations

import sys
from pathlib import Path


def main() -> int:
    """Run the steps in order; exit status as everywhere in fvmkit."""
    if sys.version_info < (3, 10):  # noqa: UP036 - this is what tells the user so
        print("setup: fvmkit needs Python 3.10 or newer", file=sys.stderr)
        return 1
    from composer.setup.environment import make_environment
    from composer.setup.freertos import PORTS_FOLDER, install_kernel
    from composer.setup.packages import install_packages
    from scanner.report.errors import FvmError

    root = Path(__file__).resolve().parents[2]
    try:
        install_packages()
        make_environment(root)
        install_kernel(root)
        install_kernel(root, PORTS_FOLDER)
    except FvmError as error:
        print(f"setup: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("setup: interrupted; run it again to go on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
