"""The architecture a RISC-V program was built for, from its build attributes.

Source: RISC-V ELF psABI specification, chapter on attributes.
"""

from __future__ import annotations

import re

from scanner.image.attributes import file_scope, uleb128

_TAG_ARCH = 5
_MAX_TEXT = 512
_NO_MORE_TO_KNOW = {
    *("i", "e", "m", "a", "c", "zicsr", "zifencei", "zmmul", "zaamo", "zalrsc", "zca"),
    *("zba", "zbb", "zbc", "zbs", "zbkb", "zicntr", "zihpm", "zihintpause", "xw"),
}
"""Extensions that bring no jump and no register beyond what RV32IMAC has."""

_FLOATING_POINT = {"f", "zcf"}


def riscv_architecture(section: bytes) -> str | None:
    """`rv32imac`, `rv32imafc`, or a longer name for what else the program needs.

    None if the section says nothing that can be read.
    """
    text = _arch_string(file_scope(section, b"riscv"))
    base = re.match(r"rv(32|64)([a-z])", text)
    if base is None:
        return None
    first, *others = text[4:].split("_")
    names = {_name(extension) for extension in (first, *others)}
    if base[1] == "64" or not names <= _NO_MORE_TO_KNOW | _FLOATING_POINT:
        return _spelled(base[1], first, others)
    return "rv32imafc" if names & _FLOATING_POINT else "rv32imac"


def _spelled(width: str, first: str, others: list[str]) -> str:
    names = [_name(extension) for extension in (first, *others)]
    letters = "".join(name for name in names if len(name) == 1)
    rest = [name for name in names if len(name) > 1 and name not in _NO_MORE_TO_KNOW]
    return "_".join([f"rv{width}{letters}", *rest])


def _name(extension: str) -> str:
    """`zba1p0` without its version."""
    return re.sub(r"\d+p\d+$", "", extension)


def _arch_string(tags: bytes) -> str:
    """Odd tags are text, even ones numbers."""
    position = 0
    while position < len(tags):
        tag, position = uleb128(tags, position)
        if tag % 2 == 0:
            _, position = uleb128(tags, position)
            continue
        end = tags.find(b"\0", position)
        end = len(tags) if end < 0 else end
        if tag == _TAG_ARCH:
            return tags[position:end].decode("ascii", "replace")[:_MAX_TEXT].lower()
        position = end + 1
    return ""
