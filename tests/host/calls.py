"""Numbers and results of system calls, read from the header that kernel and guests share."""

from __future__ import annotations

import re

from composer.sources import runtime_folder


def _defines() -> dict[str, int]:
    text = (runtime_folder() / "include/fvm/hypercall.h").read_text()
    found = re.findall(r"#define FVM_(\w+) \(?(-?(?:0x)?[0-9A-Fa-f]+)u?\)?", text)
    return {name: int(value, 0) for name, value in found}


DEFINES = _defines()
CALL = {name[5:]: value for name, value in DEFINES.items() if name.startswith("CALL_")}
NAME = {value: name for name, value in CALL.items() if not name.startswith("HYPERVISOR")}
ERROR = {name[2:]: value & 0xFFFFFFFF for name, value in DEFINES.items() if name.startswith("E_")}
NONE = DEFINES["NONE"]
