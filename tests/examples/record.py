"""Records the conversations anew on the stand-alone builds: python -m tests.examples.record

Keeps comments and questions of the recordings and writes the answers that come now (a question
that is asked again needs the answer it waits for). Look at the difference before you commit it:
the recordings say what the consolidated image has to answer.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.support.console import Console, is_end_of_answer
from tests.support.conversation import QUESTION, Exchange, answer_to, normalise
from tests.support.example import CONVERSATIONS, build_standalone, standalone_pair


def record(file: Path, consoles: Mapping[str, Console]) -> None:
    """Rewrites one recording."""
    lines = file.read_text("ascii").splitlines()
    written: list[str] = []
    number = 0
    while number < len(lines):
        match = QUESTION.fullmatch(lines[number])
        written.append(lines[number])
        number += 1
        if not match:
            continue
        answer: list[str] = []
        while number < len(lines) and not QUESTION.fullmatch(lines[number]):
            if (answer and is_end_of_answer(answer[-1])) or lines[number].startswith("#"):
                break
            answer.append(lines[number])
            number += 1
        exchange = Exchange(match[1], match[3], match[2] == "~", tuple(answer), number)
        written += normalise(answer_to(exchange, consoles[match[1]]))
    file.write_text("\n".join(written) + "\n", "ascii")


def main() -> None:
    """Rewrites every recording."""
    with tempfile.TemporaryDirectory() as folder:
        elves, _ = build_standalone(Path(folder))
        for file in sorted(CONVERSATIONS.glob("*.txt")):
            with standalone_pair(elves) as machines:
                record(file, {name: m.console[name] for name, m in machines.items()})


if __name__ == "__main__":
    main()
