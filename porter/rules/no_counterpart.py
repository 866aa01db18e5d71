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
    "FLASH": "programming the flash would touch other domains' code",
    "WWDG": "the window watchdog has no counterpart: use the description's watchdog",
    "MPU": "the kernel owns the MPU: describe the memory instead",
    "SAU": "the kernel owns the security attribution",
    "ITM": "the trace port belongs to the kernel: hyp_putc() writes into its log",
    "DWT": "only the cycle counter of the trace unit is shared: virt_cycles()",
    "FPB": "breakpoints belong to the debugger",
    "CoreDebug": "the debug registers belong to the debugger",
    "NVIC": "the NVIC belongs to the kernel",
    "SysTick": "the timer belongs to the kernel",
    "SCB": "the system control block belongs to the kernel",
    "FPU": "the kernel keeps the floating-point state",
    "PPB": "the private peripheral bus belongs to the kernel",
    "GPIO": "the port belongs to several domains",
    "PWR": "power modes belong to the kernel",
    "IWDG": "the watchdog belongs to the hypervisor",
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
