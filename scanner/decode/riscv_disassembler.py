"""Capstone for RISC-V, for the text of what the tables found."""

from __future__ import annotations

from functools import cached_property
from typing import Any

_SYSTEM = 0x73


class RiscVDisassembler:
    """One Capstone handle; a program without findings doesn't even import the library."""

    def text(self, code: bytes) -> str | None:
        """The instruction that begins the bytes, or None where Capstone knows none.

        Accesses to CSRs are left to their rule, which knows the vendor's names.
        """
        if code[0] & 0x7F == _SYSTEM and code[1] & 0x70:
            return None
        for _, size, mnemonic, operands in self._handle.disasm_lite(code, 0, 1):
            return f"{mnemonic} {operands}".strip() if size == len(code) else None
        return None

    @cached_property
    def _handle(self) -> Any:
        import capstone

        mode = capstone.CS_MODE_RISCV32 | capstone.CS_MODE_RISCVC
        return capstone.Cs(capstone.CS_ARCH_RISCV, mode)
