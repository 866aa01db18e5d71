"""Instructions that assembler text gives as numbers: read as what they are, where control gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.port import port_project
from porter.result import PortResult
from tests.porter.helpers import escalations

_M4 = ("-mcpu=cortex-m4", "-mthumb")
_RV32 = ("-march=rv32imac", "-mabi=ilp32")
_HEAD = "    .syntax unified\n    .thumb\n    .text\n    .global f\n    .type f, %function\nf:\n"


def _port(folder: Path, text: str, cpu: tuple[str, ...] = _M4, name: str = "main.c") -> PortResult:
    (folder / name).write_text(text)
    return port_project(folder, cpu=cpu)


def _ported(folder: Path, text: str, cpu: tuple[str, ...] = _M4) -> str:
    result = _port(folder, text, cpu)
    assert not escalations(result)
    return result.files[0].ported.decode()


def _function(template: str) -> str:
    return f'void f(void) {{ asm volatile("{template}"); }}\n'


@pytest.mark.parametrize(
    "number",
    [
        ".short 0xb672",
        ".hword 0xB672",
        ".2byte 46706",
        ".short 0xb600 | 0x72",
        ".inst.n 0xb672",
        ".inst 0xb672",
        ".byte 0x72, 0xb6",
        ".word 0xbf00b672",
        ".4byte 0xbf00b672",
        ".short 0xb672, 0xbf00",
        ".short 0xb672\\n\\t.short 0xbf00",
        "nop\\n .short 0xb672",
        "b 1f\\n 1: .short 0xb672",
        ".fill 1, 2, 0xb672",
        ".dc.w 0xb672",
        ".dcb.w 1, 0xb672",
        '.ascii \\"r\\\\266\\"',
        ".octa 0xbf00bf00bf00bf00bf00bf00bf00b672",
        ".space 1, 0x72\\n .skip 1, 0xb6",
    ],
)
def test_cpsid_as_a_number(tmp_path: Path, number: str) -> None:
    result = _port(tmp_path, _function(number))
    verdicts = [verdict for port in result.files for verdict in port.verdicts]
    assert "cpsid i" in [verdict.site.what for verdict in verdicts]
    if "1:" not in number:
        assert "void f(void) { virt_int_mask(VIRT_PRIMASK); }" in result.files[0].ported.decode()
    else:
        assert escalations(result)


@pytest.mark.parametrize(
    ("number", "statement"),
    [
        (".short 0xb662", "virt_int_unmask(VIRT_PRIMASK);"),
        (".short 0xb676", "virt_int_mask(VIRT_PRIMASK);"),  # with a bit that should be 0
        (".short 0xbf30", "hyp_vct_wait();"),
        (".short 0xdf05", "virt_svc(5);"),
    ],
)
def test_other_instructions_as_numbers(tmp_path: Path, number: str, statement: str) -> None:
    assert f"void f(void) {{ {statement} }}" in _ported(tmp_path, _function(number))


@pytest.mark.parametrize("constraint", ['"i"(0xb600 + 0x72)', '"n"(CPSID)'])
@pytest.mark.parametrize("number", [".short %c0", ".inst.n %c0"])
def test_a_number_that_is_an_operand(tmp_path: Path, number: str, constraint: str) -> None:
    text = f'enum {{ CPSID = 0xb672 }};\nvoid f(void) {{ asm("{number}" :: {constraint}); }}\n'
    assert "void f(void) { virt_int_mask(VIRT_PRIMASK); }" in _ported(tmp_path, text)


def test_a_read_and_a_mask_by_number_are_one_save(tmp_path: Path) -> None:
    text = (
        "unsigned f(void)\n{\n    unsigned x;\n"
        '    asm("mrs %0, primask\\n .short 0xb672" : "=r"(x));\n    return x;\n}\n'
    )
    assert "    x = virt_int_save(VIRT_PRIMASK);\n" in _ported(tmp_path, text)


@pytest.mark.parametrize(
    "number", [".inst.w 0xf3808808", ".short 0xf380, 0x8808", ".word 0x8808f380"]
)
def test_what_no_call_stands_for_is_told(tmp_path: Path, number: str) -> None:
    (told,) = escalations(_port(tmp_path, _function(number)))
    assert told.startswith("msr MSP, r0: ")


@pytest.mark.parametrize(
    "text",
    [
        '#define EMIT(op) asm(".short %c0" :: "i"(op))\nvoid f(void) { EMIT(0xb672); }\n',
        '#define EMIT(op) asm(".short " #op)\nvoid f(void) { EMIT(0xb672); }\n',
        '#define EMIT(op) asm(".word " #op)\nvoid f(void) { EMIT(0xb672b672); }\n',
        "#define S(x) #x\n#define OP 0xb672\n#define STR(x) S(x)\n"
        'void f(void) { asm(".short " STR(OP)); }\n',
        _function(".set CPSID, 0xb672\\n .short CPSID"),
        _function(".short (("),
        _function(".short CPSID"),
        _function(".short 0xbf00\\n .short CPSID"),
    ],
)
def test_a_number_that_is_elsewhere_is_told(tmp_path: Path, text: str) -> None:
    assert escalations(_port(tmp_path, text))


@pytest.mark.parametrize(
    "text",
    [
        _function(".short 0xbf00"),
        _function(".section .rodata\\n .short 0xb672\\n .previous"),
        _function('.pushsection .notes,\\"a\\"\\n .word 0xb672b672\\n .popsection'),
        _function("b 1f\\n .short 0xb672\\n 1: nop"),
        _function("ldr r0, 1f\\n b 2f\\n .align 2\\n 1: .word 0x8010f3ef\\n 2: nop"),
        _function(".word 0x12345678"),
        'asm(".data\\n key: .short 0xb672, 0xb662\\n .text");\n',
        'asm(".section .rodata\\n .global table\\n table: .word 0xb672b672, f\\n .text");\n',
        "__attribute__((naked)) void f(void)\n{\n"
        '    asm("ldr r0, key\\n bx lr\\n .align 2\\n key: .word 0x8010f3ef");\n}\n',
        "__attribute__((naked)) void f(void)\n{\n"
        '    asm("ldr r0, key\\n bx lr\\n .align 2\\n key: .word %c0" :: "i"(&g));\n}\n',
        '#define EMIT(op) asm(".short " #op)\nvoid f(void) { EMIT(0xbf00); }\n',
        "const unsigned short words[] = { 0xb672, 0xf3ef };\n",
        '#define NAMED(x) asm(".word " #x)\nextern int g;\nvoid f(void) { NAMED(g); }\n',
    ],
)
def test_data_is_no_instruction(tmp_path: Path, text: str) -> None:
    assert not escalations(_port(tmp_path, text))


@pytest.mark.parametrize(
    "number",
    [
        ".word 0x30047073",
        ".4byte 0x30047073",
        ".half 0x7073, 0x3004",
        ".insn 0x30047073",
        ".insn 4, 0x30047073",
        ".insn i 0x73, 7, x0, x8, 0x300",
        ".insn i SYSTEM, 7, x0, x8, 0x300",
    ],
)
def test_a_mask_of_riscv_as_a_number(tmp_path: Path, number: str) -> None:
    ported = _ported(tmp_path, _function(number), _RV32)
    assert "void f(void) { virt_int_mask(VIRT_PRIMASK); }" in ported


@pytest.mark.parametrize(
    "statement",
    [
        'asm(".word 0x34102573");',  # csrr a0, mepc
        'asm(".insn 0x80445073");',  # csrwi 0x804, 8
        'asm(".insn r 0x0b, 0, 0, x1, x2, x3");',
        'unsigned x; asm(".insn i 0x73, 2, %0, x0, 0x300" : "=r"(x));',
        'unsigned x; asm(".insn i 0x73, 2, %0, x0, %1" : "=r"(x) : "i"(0x300));',
        'asm(".insn what");',
    ],
)
def test_numbers_of_riscv_that_a_person_looks_at(tmp_path: Path, statement: str) -> None:
    assert escalations(_port(tmp_path, f"void f(void) {{ {statement} }}\n", _RV32))


@pytest.mark.parametrize(
    "statement",
    [
        'asm(".word 0x00000013");',
        'asm(".insn r 0x33, 4, 5, x1, x2, x3");',
        'unsigned x, y = 1; asm(".insn r 0x33, 0, 1, %0, %1, %1" : "=r"(x) : "r"(y));',
        'unsigned x; asm(".insn r 0x33, 0, 1, %[x], %[x], %[x]" : [x] "+r"(x));',
        'asm("j 1f\\n .word 0x30047073\\n 1: nop");',
    ],
)
def test_numbers_of_riscv_that_are_the_guests(tmp_path: Path, statement: str) -> None:
    assert not _port(tmp_path, f"void f(void) {{ {statement} }}\n", _RV32).files


@pytest.mark.parametrize(
    ("text", "cpu"),
    [
        (_HEAD + "    .short 0xb672\n    bx lr\n", _M4),
        (_HEAD + "    .inst.n 0xb672\n    bx lr\n", _M4),
        (_HEAD + "    bx lr\n    .type g, %function\ng:\n    .short 0xb672\n    bx lr\n", _M4),
        ("    .macro LOCK\n    .short 0xb672\n    .endm\n" + _HEAD + "    LOCK\n    bx lr\n", _M4),
        (" AREA x, CODE, READONLY\n EXPORT f\nf\n DCI 0xB672\n BX LR\n END\n", _M4),
        ("    .equ CPSID, 0xb672\n" + _HEAD + "    .short CPSID\n    bx lr\n", _M4),
        ("#define CPSID 0xb672\n" + _HEAD + "    .short CPSID\n    bx lr\n", _M4),
        (_HEAD + "    .word g, 0xb672bf00\n    .word 0xbf00b672\n    bx lr\n", _M4),
        ("    .text\n    .global f\nf:\n    .word 0x30047073\n    ret\n", _RV32),
    ],
)
def test_numbers_in_assembler_files(tmp_path: Path, text: str, cpu: tuple[str, ...]) -> None:
    assert escalations(_port(tmp_path, text, cpu, "f.S"))


@pytest.mark.parametrize(
    "text",
    [
        _HEAD + "    ldr r0, key\n    bx lr\n    .align 2\nkey: .word 0x8010f3ef\n",
        _HEAD + "    ldr r0, =key\n    bx lr\n    .align 2\nkey: .short 0xb672\n",
        _HEAD + "    pop {r4, pc}\n    .align 2\n    .word 0xb672b672\n",
        _HEAD + "    bx lr\n    .data\nkey: .short 0xb672\n",
        _HEAD + "    bx lr\n    .section .rodata\nkey: .short 0xb672\n",
        _HEAD + '    bx lr\n    .section .keys, "a", %progbits\nkey: .short 0xb672\n',
        " AREA x, CODE, READONLY\n EXPORT f\nf\n LDR R0, key\n BX LR\nkey DCD 0x8010F3EF\n END\n",
        _HEAD + "    tbh [pc, r0, lsl #1]\ntable: .short (one - table) / 2\none: bx lr\n",
        _HEAD + "    bl g\n    .word g, f\n    bx lr\n",
        " AREA x, DATA, READONLY\nkey DCW 0xB672\n END\n",
    ],
)
def test_constants_in_assembler_files(tmp_path: Path, text: str) -> None:
    assert not _port(tmp_path, text, _M4, "f.S").files


@pytest.mark.parametrize("aligns", [".balignw 4, 0xb672", ".p2align 2, 0xb6", ".align 2, 0xbe"])
def test_nobody_knows_how_often_an_alignment_is_filled(tmp_path: Path, aligns: str) -> None:
    assert escalations(_port(tmp_path, _function(f"nop\\n {aligns}\\n nop")))
    assert not escalations(_port(tmp_path, _function("nop\\n .balign 4\\n .p2align 2,,3\\n nop")))
