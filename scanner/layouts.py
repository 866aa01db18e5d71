"""Systems that put privileged code beside guests, known by the symbols that they leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scanner.image.symbols import SymbolTable


@dataclass(frozen=True)
class Layout:
    """One kind of system.

    A program with all of the `signs` is one. `privileged` is what `--privileged` takes; `remark`
    says what the layout leaves open. `gates` are guests' code that asks for its privilege before it
    goes into the kernel.
    """

    name: str
    signs: tuple[str, ...]
    privileged: tuple[str, ...]
    gates: tuple[str, ...] = ()
    remark: str | None = None


LAYOUTS = (
    Layout(
        "FreeRTOS-MPU",
        ("__privileged_functions_start__", "__privileged_functions_end__"),
        ("__privileged_functions_start__-__privileged_functions_end__",),
        gates=("__syscalls_flash_start__-__syscalls_flash_end__", "freertos_system_calls"),
    ),
    Layout(
        "Zephyr userspace",
        ("_k_syscall_table", "__text_region_start"),
        ("z_mrsh_*", "z_vrfy_*", "z_impl_*", "z_arm_*", "z_riscv_*", "arch_*", "_isr_wrapper"),
        remark="Zephyr lets user threads execute the kernel's code: what they share is judged",
    ),
    Layout(
        "Tock",
        ("_sapps", "_stext", "_etext"),
        ("_stext-_etext",),
        remark="apps are programs of their own",
    ),
    Layout(
        "ThreadX Modules",
        ("_txm_module_manager_user_mode_entry", "_txm_module_manager_initialize"),
        ("*",),
        remark="modules are programs of their own",
    ),
)


def recognised(symbols: SymbolTable | None) -> Iterator[Layout]:
    """The layouts whose signs a program has."""
    if symbols is not None:
        for layout in LAYOUTS:
            if all(symbols.value(sign) is not None for sign in layout.signs):
                yield layout
