"""Registers that a machine may not touch and for which there is no call: say why."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule, Sample

_REASONS = {
    "bit-band": "a machine is granted no bit-band alias: write the register itself",
    "part": "a bit-field, or a struct whose layout isn't known: access the whole register",
    "EXTI": "external interrupt lines belong to no domain yet: use a timer or a granted block",
    "FLASH": "programming the flash would touch other domains' code: keep data in RAM or in a "
    "memory outside of the chip, and take boot loaders out",
    "WWDG": "the window watchdog has no counterpart: use the description's watchdog",
    "MPU": "the kernel owns the MPU: describe the memory instead",
    "SAU": "the kernel owns the security attribution: take this out",
    "ITM": "the trace port belongs to the kernel: hyp_putc() writes into its log",
    "DWT": "only the cycle counter of the trace unit is shared: virt_cycles()",
    "FPB": "breakpoints belong to the debugger: take this out",
    "CoreDebug": "the debug registers belong to the debugger: take this out",
    "NVIC": "the NVIC belongs to the kernel: NVIC_EnableIRQ() and its like are for lines of the "
    "description",
    "SysTick": "the timer belongs to the kernel: hyp_tick_set(hz) sets the machine's tick",
    "SCB": "the system control block belongs to the kernel: take this out, or call what "
    "<fvm/guest.h> has for its purpose",
    "FPU": "the kernel keeps the floating-point state: take this out",
    "PPB": "the private peripheral bus belongs to the kernel: take this out, or write what is read "
    "there as a constant",
    "GPIO": "the port belongs to several domains: give the machine the pin, and call "
    "hyp_pin_set(port, mask, levels) or hyp_pin_get(port)",
    "PWR": "power modes belong to the kernel: take this out, a machine that waits sleeps",
    "IWDG": "the watchdog belongs to the hypervisor: give the machine one, and call hyp_wdg_clr()",
}


class NoCounterpart(Rule):
    """After all others: a register that is known, used in a way nothing can replace."""

    id = "no-counterpart"
    finds = "other accesses to EXTI, FLASH, WWDG, MPU, ITM, DWT, debug and system registers"
    becomes = "itself"
    why = "nothing in a virtual machine does what they do; a person decides what it is for"
    samples = (
        Sample(
            "#define MPU_CTRL (*(volatile unsigned *)0xE000ED94)\nvoid f(void) { MPU_CTRL = 5; }",
            "",
            escalates=True,
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Escalates with the reason that fits the block."""
        for access in unit.accesses():
            register = access.register
            known = register is not None and register.block in _REASONS
            if register is not None and known and access.use != "address":
                yield self.escalated(access.site, f"{register}: {_REASONS[register.block]}")
