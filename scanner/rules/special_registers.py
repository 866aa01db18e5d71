"""Numbers (SYSm) and names of the special registers that MSR and MRS reach (ARM B5.1)."""

from __future__ import annotations

APSR_WRITES = range(4)
PSR = range(8)
CONTROL = 20

_NAMES = {
    0: "APSR", 1: "IAPSR", 2: "EAPSR", 3: "XPSR", 5: "IPSR", 6: "EPSR", 7: "IEPSR",
    8: "MSP", 9: "PSP", 10: "MSPLIM", 11: "PSPLIM",
    16: "PRIMASK", 17: "BASEPRI", 18: "BASEPRI_MAX", 19: "FAULTMASK", CONTROL: "CONTROL",
}  # fmt: skip
_NON_SECURE = 0x80
_SP_NS = 0x98


def register_name(number: int) -> str:
    """Name of a special register; the number where there is none."""
    if number == _SP_NS:
        return "SP_NS"
    if number & _NON_SECURE and number - _NON_SECURE in _NAMES and number >= _NON_SECURE + 8:
        return _NAMES[number - _NON_SECURE] + "_NS"
    return _NAMES.get(number, f"special register {number}")
