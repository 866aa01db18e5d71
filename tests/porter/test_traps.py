"""The traps of real code, one test each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files, port_text


def test_t1_an_escape_before_the_mnemonic(tmp_path: Path) -> None:
    text = b'void f(void) { __asm__ __volatile__("\\tcpsid  i\\n"); }\n'
    ported, _ = port_text(tmp_path, text)
    assert b"{ virt_int_mask(VIRT_PRIMASK); }" in ported


@pytest.mark.parametrize(
    "template",
    [
        "cpsid i\\n msr basepri, %0\\n isb\\n dsb\\n cpsie i\\n",
        "CPSID I\\n\\tMSR BASEPRI, %0\\n\\tDSB\\n\\tISB\\n\\tCPSIE I",
    ],
)
def test_t2_a_bracketed_threshold_is_one_mask(tmp_path: Path, template: str) -> None:
    text = f'void f(void) {{ asm volatile("{template}" :: "r"(0x50)); }}\n'.encode()
    ported, _ = port_text(tmp_path, text)
    assert b"{ virt_int_mask(VIRT_BASEPRI); }" in ported
    assert b"unmask" not in ported


def test_t2_a_bracket_that_keeps_primask(tmp_path: Path) -> None:
    text = (
        b"unsigned f(unsigned level)\n{\n    unsigned old;\n"
        b'    asm volatile("mrs %0, primask\\n cpsid i\\n msr basepri, %1\\n msr primask, %0\\n"\n'
        b'                 : "=&r"(old) : "r"(level));\n    return level;\n}\n'
    )
    ported, _ = port_text(tmp_path, text)
    assert b"virt_int_restore(VIRT_BASEPRI, level);" in ported
    assert b"VIRT_PRIMASK" not in ported
    assert b"old" not in ported


def test_t3_a_directive_inside_the_asm_statement(tmp_path: Path) -> None:
    text = (
        b'void f(void)\n{\n    asm volatile(\n        "cpsid i\\n"\n'
        b'#ifdef ERRATUM\n        "nop\\n"\n#endif\n        "isb\\n");\n}\n'
    )
    result = port_files(tmp_path, {"main.c": text})
    # The text between the parentheses is not one template: nobody may guess which it is.
    (port,) = result.files
    assert len(port.verdicts) == 1
    assert port.verdicts[0].status.value == "escalated" or b"#ifdef ERRATUM" not in port.ported


def test_t6_handlers_behind_macros(tmp_path: Path) -> None:
    startup = b"g_pfnVectors:\n .word _estack\n .word Reset_Handler\n" + b" .word 0\n" * 51
    table = startup.replace(b" .word 0\n", b" .word TIM2_IRQHandler\n", 1)
    lines = table.split(b"\n")
    # TIM2 is interrupt 28: entry 44 of the table.
    entries = [b" .word 0"] * 60
    entries[0], entries[1], entries[44] = b" .word _estack", b" .word Reset_Handler", lines[3]
    source = (
        b"#define STEP_TIMER_HANDLER TIM2_IRQHandler\n"
        b"#define HANDLER(name) void name(void) { work(); }\n"
        b"void work(void);\n"
    )
    files = {
        "startup.s": b"g_pfnVectors:\n" + b"\n".join(entries) + b"\n",
        "main.c": source + b"void STEP_TIMER_HANDLER(void) { work(); }\nint main(void) { }\n",
    }
    by_alias = port_files(tmp_path / "alias", files)
    assert [v.site.what for p in by_alias.files for v in p.verdicts] == ["TIM2_IRQHandler"]
    files["main.c"] = source + b"HANDLER(TIM2_IRQHandler)\nint main(void) { }\n"
    by_macro = port_files(tmp_path / "macro", files)
    assert [v.site.what for p in by_macro.files for v in p.verdicts] == ["TIM2_IRQHandler"]


def test_t7_waiting_in_a_handler_is_not_rewritten_silently(tmp_path: Path) -> None:
    text = (
        b"void PendSV_Handler(void) __attribute__((naked));\n"
        b'void PendSV_Handler(void)\n{\n    asm volatile("1: wfi\\n b 1b\\n");\n}\n'
    )
    assert escalations(port_files(tmp_path, {"main.c": text}))


def test_t8_macros_that_declare_the_saved_state(tmp_path: Path) -> None:
    text = (
        b"#define TX_INTERRUPT_SAVE_AREA unsigned int interrupt_save;\n"
        b"#define TX_DISABLE \\\n    interrupt_save = __get_PRIMASK(); \\\n    __disable_irq();\n"
        b"#define TX_RESTORE __set_PRIMASK(interrupt_save);\n"
        b"void f(void) { TX_INTERRUPT_SAVE_AREA TX_DISABLE g(); TX_RESTORE }\n"
    )
    result = port_files(tmp_path, {"main.c": text})
    assert escalations(result) == []
    ported = result.files[0].ported
    assert b"interrupt_save = virt_int_" in ported
    assert b"virt_int_restore(VIRT_PRIMASK, interrupt_save);" in ported
    assert b"__" not in ported.replace(b"__asm", b"")


def test_t10_bytes_that_are_no_utf8_and_mixed_line_ends(tmp_path: Path) -> None:
    text = (
        b"/* Gr\xfc\xdfe \x80 */\r\nvoid f(void)\r\n{\r\n    __disable_irq();\r\n"
        b"    g(); /* \xe9 */\n    __enable_irq();\r\n}"
    )
    ported, _ = port_text(tmp_path, text)
    assert ported == (
        b"/* Gr\xfc\xdfe \x80 */\r\n#include <fvm/guest.h>\r\n\r\nvoid f(void)\r\n{\r\n"
        b"    virt_int_mask(VIRT_PRIMASK);\r\n    g(); /* \xe9 */\n"
        b"    virt_int_unmask(VIRT_PRIMASK);\r\n}"
    )


def test_sites_in_every_arm_of_a_condition(tmp_path: Path) -> None:
    text = (
        b"#if A\n#define OFF() __disable_irq()\n#elif B\n"
        b'#define OFF() asm volatile("cpsid i")\n#else\n#define OFF() do { } while (0)\n#endif\n'
    )
    result = port_files(tmp_path, {"main.c": text})
    (port,) = result.files
    assert escalations(result) == []
    assert port.ported.count(b"virt_int_mask(VIRT_PRIMASK)") == 2
    assert [v.site.conditions for v in port.verdicts] == [("A",), ("!(A) && B",)]


def test_braces_that_only_balance_in_one_arm_at_a_time(tmp_path: Path) -> None:
    text = (
        b"#define SCB_VTOR (*(volatile unsigned *)0xE000ED08)\nvoid f(int a)\n{\n#ifdef X\n"
        b"    if (a) {\n#else\n    if (!a) {\n#endif\n        SCB_VTOR = 0;\n        g();\n"
        b"    }\n}\n"
    )
    ported, _ = port_text(tmp_path, text)
    assert b"SCB_VTOR = 0" not in ported
    assert b"g();" in ported


def test_cplusplus_is_never_skipped(tmp_path: Path) -> None:
    files = {"main.cpp": b"class A { public: void f() { __disable_irq(); __set_MSP(0); } };\n"}
    result = port_files(tmp_path, files)
    assert len(escalations(result)) == 1
    assert b"virt_int_mask(VIRT_PRIMASK);" in result.files[0].ported


@pytest.mark.parametrize(
    "head",
    [
        "unsigned f(void) throw()", "unsigned f() const", "unsigned f(void) ODD(x) ODDER",
        "unsigned f(p) int *p;", "extern int __WFI; unsigned f(void)", "ODD unsigned f(void)",
        "ODD(f)", "typedef int __get_PRIMASK; unsigned f(void)",
    ],
)  # fmt: skip
def test_what_is_called_in_a_function_defines_nothing(head: str, tmp_path: Path) -> None:
    ported, _ = port_text(tmp_path, f"{head} {{ return __get_PRIMASK(); }}\n".encode())
    assert b"{ return virt_int_query(VIRT_PRIMASK); }" in ported


def test_names_of_any_rtos_are_understood_by_address(tmp_path: Path) -> None:
    text = (
        b"#define CPU_REG_NVIC_ICSR (*((volatile unsigned *)(0xE000ED04)))\n"
        b"#define PENDSVSET 0x10000000\n"
        b"#define OSIntCtxSw() do { CPU_REG_NVIC_ICSR = PENDSVSET; } while (0)\n"
        b"void f(void) { OSIntCtxSw(); }\n"
    )
    ported, _ = port_text(tmp_path, text)
    assert b"do { virt_yield(); } while (0)" in ported


def test_a_macro_that_begins_with_if_is_no_product(tmp_path: Path) -> None:
    text = (
        b"#define CTRL ((volatile unsigned *)0xE000ED04)\n"
        b"#define END_ISR(x) if (x) *(CTRL) = 0x10000000\n"
        b"void f(int x) { END_ISR(x); }\n"
    )
    ported, _ = port_text(tmp_path, text)
    assert b"#define END_ISR(x) if (x) virt_yield()\n" in ported


def test_a_register_that_only_a_template_reaches_has_its_name(tmp_path: Path) -> None:
    source = b"void f() { peripheral<0xE000ED20UL>::write(0xFF); }\n"
    result = port_files(tmp_path, {"main.cpp": source})
    assert escalations(result) == [
        "0xE000ED20UL: the address is an argument of the template peripheral<0xE000ED20UL>: what "
        "it makes of it isn't followed; name the register where it is accessed"
    ]


def test_an_operand_with_strings_is_whole(tmp_path: Path) -> None:
    text = b'void f(void) { asm("msr basepri, %0" :: "r"(sizeof("a" "0") == 3 ? g() : 0)); }\n'
    ported, _ = port_text(tmp_path, text)
    assert b'virt_int_restore(VIRT_BASEPRI, sizeof("a" "0") == 3 ? g() : 0);' in ported
