"""Instructions in text, by name."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.trees.facts import HARMLESS_REGISTER, INSTRUCTION
from tests.trees.place import Place

_SEPARATORS = re.compile(r"\\n|\\t|\\r|;|\n|\|")


def instructions_in(file: str, text: str, line: int, last: int) -> Iterator[Place]:
    """What a virtual machine can't execute in one string or line of assembler."""
    for part in _SEPARATORS.split(text):
        found = INSTRUCTION.search(part.strip() + " ")
        if found is None:
            continue
        name, operands = found[1].lower(), found[2].strip()
        if name in ("mrs", "msr") and HARMLESS_REGISTER.search(operands):
            continue
        if name.startswith("csr") and HARMLESS_REGISTER.search(operands):
            continue
        yield Place(file, line, last, "instruction", f"{name} {operands}".strip())
