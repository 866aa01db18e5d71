"""Capstone, for the text of what the tables found."""

from __future__ import annotations

from functools import cached_property
from typing import Any


class ThumbDisassembler:
    """One Capstone handle; a program without findings doesn't even import the library."""

    def text(self, code: bytes) -> str | None:
        """The instruction that begins the bytes, or None where Capstone knows none."""
        for _, size, mnemonic, operands in self._handle.disasm_lite(code, 0, 1):
            return f"{mnemonic} {operands}".strip() if size == len(code) else None
        return None

    @cached_property
    def _handle(self) -> Any:
        import capstone

        mode = capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS
        return capstone.Cs(capstone.CS_ARCH_ARM, mode)
