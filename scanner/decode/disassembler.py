"""Capstone, for the text of what the tables found and for following a constant."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import capstone


class ThumbDisassembler:
    """One Capstone handle for text and one with operands, made when first needed."""

    def text(self, code: bytes) -> str | None:
        """The instruction that begins the bytes, or None where Capstone knows none."""
        for _, size, mnemonic, operands in self._plain.disasm_lite(code, 0, 1):
            return f"{mnemonic} {operands}".strip() if size == len(code) else None
        return None

    @cached_property
    def _plain(self) -> Any:
        return capstone.Cs(capstone.CS_ARCH_ARM, _MODE)

    @cached_property
    def detailed(self) -> Any:
        """A handle whose instructions tell operands and the registers they write."""
        handle = capstone.Cs(capstone.CS_ARCH_ARM, _MODE)
        handle.detail = True
        return handle


_MODE = capstone.CS_MODE_THUMB | capstone.CS_MODE_MCLASS
