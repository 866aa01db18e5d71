"""`make demo`: the whole migration, and what the result stands.

    python examples/two-legacy-mcus/demo        from the root of the checkout

Works in build/demo and never touches the example. Exit status 1 when a promise is broken.
"""

from __future__ import annotations

import sys

from report import Report
from road import Broken, migrate
from show import perform

from scanner.report.errors import FvmError


def main() -> int:
    """The demonstration."""
    report = Report()
    try:
        migrate(report)
        perform(report)
    except (Broken, FvmError) as error:
        report.check("this step works", False, str(error))
    except KeyboardInterrupt:
        report.line("interrupted")
        return 130
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
