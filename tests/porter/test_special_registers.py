"""Registers that a guest reads without a fault, and that tell it something else than before."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.port import port_project
from porter.result import PortResult
from tests.porter.helpers import escalations, port_files, port_text

_RV32 = ("-march=rv32imac", "-mabi=ilp32")


def _read(instruction: str) -> str:
    return f'unsigned f(void) {{ unsigned x; asm("{instruction}" : "=r"(x)); return x; }}\n'


@pytest.mark.parametrize(
    "text",
    [_read("mrs %0, psp"), _read("MRS %0, PSP"), 'void f(int x) { asm("msr psp, %0" :: "r"(x)); }'],
)
def test_where_a_handler_finds_the_stack_of_the_interrupted_code(tmp_path: Path, text: str) -> None:
    (told,) = escalations(port_files(tmp_path, {"main.c": text.encode()}))
    assert "USR_REG->Reg.SP" in told


@pytest.mark.parametrize(
    ("register", "instead"), [("mcause", "virt_cause()"), ("mepc", "USR_REG->Reg.PC")]
)
def test_where_a_handler_finds_what_led_to_it(register: str, instead: str, tmp_path: Path) -> None:
    (told,) = escalations(_on_riscv(tmp_path, _read(f"csrr %0, {register}")))
    assert f"a guest has no {register}: " in told and instead in told


def _on_riscv(folder: Path, text: str, name: str = "main.c") -> PortResult:
    (folder / name).write_text(text)
    return port_project(folder, cpu=_RV32)


@pytest.mark.parametrize(
    "text",
    [
        "int f(void) { return (__get_CONTROL() & 2) != 0; }\n",
        "unsigned (*read)(void) = __get_CONTROL;\n",
        _read("mrs %0, control"),
        _read("MRS %0, CONTROL"),
        "#define MODE() __get_CONTROL()\nint f(void) { return MODE() & 1; }\n",
    ],
)
def test_what_control_says_is_the_guests_own(tmp_path: Path, text: str) -> None:
    (told,) = escalations(port_files(tmp_path, {"main.c": text.encode()}))
    assert "reads CONTROL, which says how the guest runs" in told
    assert "virt_in_vct()" in told


@pytest.mark.parametrize(
    "register",
    [
        "control_ns",
        "msp",
        "psp",
        "ipsr",
        "iapsr",
        "xpsr",
        "psr",
        "faultmask",
        "msplim",
        "psplim",
        "primask_ns",
        "sp_ns",
    ],
)
def test_other_special_registers_are_told(tmp_path: Path, register: str) -> None:
    assert escalations(port_files(tmp_path, {"main.c": _read(f"mrs %0, {register}").encode()}))


@pytest.mark.parametrize("write", ["__set_CONTROL(2);", 'asm("msr control, %0" :: "r"(3));'])
def test_a_write_of_control_is_told(tmp_path: Path, write: str) -> None:
    assert escalations(port_files(tmp_path, {"main.c": f"void f(void) {{ {write} }}".encode()}))


@pytest.mark.parametrize("text", [_read("mrs %0, apsr"), "int f(void) { return __get_APSR(); }\n"])
def test_flags_are_the_guests(tmp_path: Path, text: str) -> None:
    assert not port_files(tmp_path, {"main.c": text.encode()}).files


def test_control_in_an_assembler_file(tmp_path: Path) -> None:
    text = b"    .text\n    .global f\nf:\n    mrs r0, control\n    bx lr\n"
    assert escalations(port_files(tmp_path, {"f.S": text}))


@pytest.mark.parametrize(
    "read", ["rdcycle %0", "csrr %0, cycle", "csrr %0, 0xC00", "csrr %0, mcycle"]
)
def test_the_cycle_counter_becomes_a_call(tmp_path: Path, read: str) -> None:
    ported, port = port_text(tmp_path, _read(read).encode())
    assert "x = virt_cycles(); return x;" in ported.decode()
    assert [it.status.value for it in port.verdicts] == ["rewritten"]


@pytest.mark.parametrize(
    ("read", "reason"),
    [
        ("rdtime %0", "a guest has no time: read mcycle"),
        ("rdtimeh %0", "a guest has no timeh: read mcycle"),
        ("rdcycleh %0", "a guest has no cycleh: read mcycle"),
        ("rdinstret %0", "a guest has no instret: it would count what others run"),
        ("csrr %0, time", "a guest has no time: read mcycle"),
        ("csrr %0, minstret", "a guest has no minstret"),
        ("csrr %0, hpmcounter3", "csrr %0, hpmcounter3"),
        ("csrr %0, 0xcc0", "csrr %0, 0xcc0"),
        ("csrr %0, 768", "csrr %0, 768"),
    ],
)
def test_other_counters_are_told(tmp_path: Path, read: str, reason: str) -> None:
    (told,) = escalations(_on_riscv(tmp_path, _read(read)))
    assert reason in told


def test_a_register_that_only_an_operand_names(tmp_path: Path) -> None:
    text = 'unsigned f(void) { unsigned x; asm("csrr %0, %1" : "=r"(x) : "i"(0x300)); return x; }'
    (told,) = escalations(_on_riscv(tmp_path, text))
    assert "csrr %0, %1: which register that is, only an operand says" in told


@pytest.mark.parametrize(
    "text",
    [
        _read("csrr %0, fcsr"),
        _read("csrrwi %0, frm, 0"),
        _read("csrr %0, 0x003"),
        'void f(unsigned x) { asm("csrw fcsr, %0" :: "r"(x)); }\n',
        'void f(void) { asm("csrwi 1, 0"); }\n',
    ],
)
def test_registers_of_floating_point_are_the_guests(tmp_path: Path, text: str) -> None:
    assert not _on_riscv(tmp_path, text).files


def test_counters_in_an_assembler_file(tmp_path: Path) -> None:
    text = "    .text\n    .global f\nf:\n    rdtime a0\n    ret\n"
    assert escalations(_on_riscv(tmp_path, text, "f.S"))


@pytest.mark.parametrize("register", ["CSR_MSTATUS", "0x7c0", "768", "vendors_own"])
def test_any_register_of_an_assembler_file(tmp_path: Path, register: str) -> None:
    text = f"    .text\n    .macro save\n    csrc {register}, a0\n    .endm\n"
    (port,) = _on_riscv(tmp_path, text, "f.S").files
    assert [it.site.what for it in port.verdicts] == [f"csrc {register}, a0"]


@pytest.mark.parametrize(
    "register", ["pac_key_p_0", "PAC_KEY_U_3_NS", "msplim_ns", "sfsr_or_newer"]
)
@pytest.mark.parametrize("instruction", ["mrs %0, {}", "msr {}, %0"])
def test_a_special_register_of_any_name_is_a_site(
    register: str, instruction: str, tmp_path: Path
) -> None:
    text = f'void f(int x) {{ asm volatile("{instruction.format(register)}" : "+r"(x)); }}\n'
    (told,) = escalations(port_files(tmp_path, {"main.c": text.encode()}))
    assert register.lower() in told.lower()


@pytest.mark.parametrize("instruction", ["mrs %0, apsr", "msr APSR_nzcvq, %0"])
def test_flags_are_anybodys(instruction: str, tmp_path: Path) -> None:
    text = f'void f(int x) {{ asm volatile("{instruction}" : "+r"(x)); }}\n'
    assert not port_files(tmp_path, {"main.c": text.encode()}).files
