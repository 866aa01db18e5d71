"""Which core a chip or a QEMU board has, by the beginning of its name.

RISC-V parts stand with their vendors' data (scanner/vendors).
"""

from __future__ import annotations

from dataclasses import dataclass

from scanner.arch.profiles import chip_families
from scanner.report.errors import MissingError


@dataclass(frozen=True)
class Chip:
    """A part as far as a scan needs it. `refused` says why it can't be a host, if it can't; `core`
    is that of a Cortex-M, as compilers call it."""

    name: str
    arch: str
    profile: str | None = None
    refused: str | None = None
    core: str | None = None


_NO_MODE = "its Cortex-M0 has no unprivileged mode, so nothing keeps a guest from the system"
_M33_BASELINE = "its Cortex-M23 is ARMv8-M without the main extension, which no rule covers"

_CORES = {
    "cortex-m0": ("armv6m", _NO_MODE),
    "cortex-m0+": ("armv6m", None),
    "cortex-m3": ("armv7m", None),
    "cortex-m4": ("armv7em", None),
    "cortex-m7": ("armv7em", None),
    "cortex-m23": ("armv8m.main", _M33_BASELINE),
    "cortex-m33": ("armv8m.main", None),
}

# Beginnings of part names, as the vendors' selection tables list the families, and QEMU's boards.
# The longest wins.
_ARM = {
    "cortex-m0": "stm32f0 nrf51 xmc1 lpc11 hk32f03 microbit",
    "cortex-m0+": "stm32c0 stm32g0 stm32l0 stm32u0 stm32wb0 stm32wl3 rp2040 samd0 samd1 samd2"
    " saml21 saml22 samc2 lpc8 lpc11u6 lpc11e6 mkl mke0 mkv10 mkv11 efm32zg efm32hg efm32tg11"
    " s32k11 mspm0 py32f0 samda1 ht32f5",
    "cortex-m3": "stm32f1 stm32f2 stm32l1 gd32f1 gd32f2 lpc13 lpc17 lpc18 sam3 efm32g efm32lg"
    " efm32gg efm32tg lm3s apm32f1 ch32f1 ch32f2 hk32f1 mm32f1 ht32f1 cc1310 cc1350 cc2620 cc2630"
    " cc2640 cc2650 mps2-an385 mps2-an511 netduino2 stm32vldiscovery",
    "cortex-m4": "stm32f3 stm32f4 stm32g4 stm32l4 stm32wb stm32wl gd32f3 gd32f4 nrf52 lpc40 lpc43"
    " lpc54 sam4 samd5 same5 samg5 mk0 mk1 mk2 mk5 mk6 mkv3 mkv4 tm4c lm4f msp432p cc1312 cc1352"
    " cc2642 cc2652 cc2662 xmc4 at32f4 apm32f4 efm32wg efm32gg11 efm32gg12 efm32pg1 efr32 s32k14"
    " max326 r7fa4m1 r7fa6m1 r7fa6m2 r7fa6m3 cy8c6 hc32f4 gd32e10 gd32c1 msp432e"
    " mps2-an386 netduinoplus2 olimex-stm32-h405 b-l475e-iot01a",
    "cortex-m7": "stm32f7 stm32h7 sams70 same70 samv7 mimxrt10 mimxrt11 mkv5 s32k3 gd32h7"
    " mps2-an500",
    "cortex-m23": "saml10 saml11 gd32e23 r7fa2 m2351",
    "cortex-m33": "stm32h5 stm32l5 stm32u5 stm32wba nrf53 nrf54 nrf91 lpc55 mimxrt5 mimxrt6 gd32e5"
    " gd32w5 rp2350 r7fa4m2 r7fa4m3 r7fa6m4 r7fa6m5 efr32mg2 efr32bg2 efr32fg2 efr32zg2 efm32pg2"
    " mcxn mcxa cc1314 cc1354 cc2674 stm32u3 r7fa4e r7fa6e r7fa6t2 mimxrt118"
    " mps2-an505 mps2-an521",
}


def _families() -> dict[str, Chip]:
    found = {}
    for core, names in _ARM.items():
        arch, refused = _CORES[core]
        for family in names.split():
            found[family] = Chip(family, arch, refused=refused, core=core.replace("+", "plus"))
    for family, (arch, profile, refused) in chip_families().items():
        found[family] = Chip(family, arch, profile, refused)
    return found


def chip(name: str) -> Chip:
    """The chip whose family the name begins with. Raises MissingError if no family is known."""
    families = _families()
    wanted = name.lower().replace("atsam", "sam", 1)
    matching = [family for family in families if wanted.startswith(family)]
    if not matching:
        raise MissingError(
            f"no family of chips is known that '{name}' begins with", hint="name its core by --arch"
        )
    return families[max(matching, key=len)]
