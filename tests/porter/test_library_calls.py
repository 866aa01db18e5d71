"""Calls of libraries that aren't in the tree are judged as what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.libraries.body import Unfit, body_of, with_addresses
from porter.libraries.data import Body, Known, all_libraries, is_parameter
from porter.port import port_project
from porter.result import PortResult
from porter.source.c_lexer import lex_fragment
from tests.porter.helpers import DOMAIN, escalations, port_files

OPENCM3 = b"#include <libopencm3/cm3/nvic.h>\n"


def ported(folder: Path, text: bytes) -> tuple[str, PortResult]:
    """A file after a port, on one line, and all about it."""
    result = port_files(folder, {"main.c": text})
    port = next((it for it in result.files if it.file.name == "main.c"), None)
    after = port.ported if port is not None else text
    return " ".join(after.decode().split()), result


@pytest.mark.parametrize(
    ("header", "call", "becomes"),
    [
        ("libopencm3/cm3/cortex.h", "cm_disable_interrupts();", "virt_int_mask(VIRT_PRIMASK);"),
        ("libopencm3/cm3/nvic.h", "nvic_enable_irq(37);", "hyp_irq_ena(37);"),
        (
            "libopencm3/cm3/nvic.h",
            "nvic_set_priority(37, 0x60);",
            "virt_vct_prio(fvm_virt_of_irq(37), 6);",
        ),
        ("libopencm3/cm3/scb.h", "scb_reset_system();", "hyp_reboot();"),
        (
            "libopencm3/cm3/cortex.h",
            "x = cm_mask_interrupts(1); cm_mask_interrupts(x);",
            "x = virt_int_save(VIRT_PRIMASK); virt_int_restore(VIRT_PRIMASK, x);",
        ),
        ("stm32f4xx_hal.h", "HAL_NVIC_EnableIRQ(37);", "hyp_irq_ena(37);"),
        (
            "driverlib/interrupt.h",
            "IntEnable(53); IntPendSet(FAULT_PENDSV); IntPendSet(FAULT_SYSTICK);",
            "hyp_irq_ena(53 - 16); virt_yield(); virt_vct_trig(FVM_VIRT_TICK);",
        ),
        ("driverlib/interrupt.h", "IntDisable(FAULT_SYSTICK);", "hyp_tick_set(0);"),
        (
            "stm32f4xx_hal.h",
            "HAL_NVIC_SetPriority(37, 5, 0U);",
            "virt_vct_prio(fvm_virt_of_irq(37), 5);",
        ),
        (
            "stm32f4xx_hal.h",
            "HAL_PWR_EnterSLEEPMode(PWR_MAINREGULATOR_ON, PWR_SLEEPENTRY_WFI);",
            "hyp_vct_wait();",
        ),
        ("stm32f4xx_hal.h", "HAL_SYSTICK_Config(168000);", "hyp_tick_set(1000);"),
        ("Arduino.h", "noInterrupts(); interrupts();",
         "virt_int_mask(VIRT_PRIMASK); virt_int_unmask(VIRT_PRIMASK);"),
        ("intrinsics.h", "__clear_bits_csr(0x300, 8); __set_bits_csr(_CSR_MSTATUS, 0x8);",
         "virt_int_mask(VIRT_PRIMASK); virt_int_unmask(VIRT_PRIMASK);"),
        ("nrf_nvic.h", "sd_nvic_EnableIRQ(37);", "hyp_irq_ena(37);"),
        ("nrf_nvic.h", "x = sd_nvic_EnableIRQ(37);", "x = (hyp_irq_ena(37), 0);"),
        ("fsl_common.h", "x = DisableGlobalIRQ(); EnableGlobalIRQ(x);",
         "x = virt_int_save(VIRT_PRIMASK); virt_int_restore(VIRT_PRIMASK, x);"),
        ("asf.h", "x = cpu_irq_save(); cpu_irq_restore(x);",
         "x = (!virt_int_save(VIRT_PRIMASK)); virt_int_restore(VIRT_PRIMASK, !(x));"),
        ("zephyr/irq.h", "x = irq_lock(); irq_unlock(x);",
         "x = virt_int_save(VIRT_PRIMASK); virt_int_restore(VIRT_PRIMASK, x);"),
        ("project.h", "CyGlobalIntEnable;", "virt_int_unmask(VIRT_PRIMASK);"),
        ("driverlib/interrupt.h", "ROM_IntEnable(53);", "hyp_irq_ena(53 - 16);"),
        ("stm32l0xx.h", "if (x) SET_BIT(GPIOA->ODR, 1 << 5);",
         "if (x) hyp_pin_write(0, (1 << 5));"),
        ("stm32l0xx.h", "MODIFY_REG(RCC->CFGR, 3, x | 2); SET_BIT(x, 3);", "SET_BIT(x, 3);"),
    ],
)  # fmt: skip
def test_a_call_becomes_what_its_body_would(
    tmp_path: Path, header: str, call: str, becomes: str
) -> None:
    text = f"#include <{header}>\nunsigned x;\nvoid f(void) {{ {call} }}\n".encode()
    after, result = ported(tmp_path, text)
    assert escalations(result) == []
    assert after.endswith(f"void f(void) {{ {becomes} }}")


def test_the_tick_of_four_calls_is_one(tmp_path: Path) -> None:
    text = OPENCM3 + (
        b"void f(void)\n{\n    systick_set_reload(168000 - 1);\n"
        b"    systick_set_clocksource(STK_CSR_CLKSOURCE_AHB);\n    systick_counter_enable();\n"
        b"    /* now */\n    systick_interrupt_enable();\n}\n"
    )
    after, result = ported(tmp_path, text)
    assert escalations(result) == []
    assert after.endswith("void f(void) { /* now */ hyp_tick_set(1000); }")


def test_a_timer_that_counts_an_eighth_of_the_clock_ticks_as_it_did(tmp_path: Path) -> None:
    text = OPENCM3 + (
        b"void f(void)\n{\n    systick_set_reload(20999);\n"
        b"    systick_set_clocksource(STK_CSR_CLKSOURCE_AHB_DIV8);\n"
        b"    systick_interrupt_enable();\n    systick_counter_enable();\n}\n"
    )
    after, _ = ported(tmp_path, text)
    assert after.endswith("void f(void) { hyp_tick_set(1000); }")


@pytest.mark.parametrize(
    ("source", "reload", "becomes"),
    [
        ("AHB_DIV8", "8999", "1000"),
        ("AHB_DIV8", "9000000 / 1000 - 1", "1000"),
        ("AHB", "71999", "1000"),
        ("AHB", "72000", "1000"),
        ("AHB", "72000000 / 1000 - 1", "1000"),
    ],
)
def test_without_a_description_the_rate_is_that_of_the_old_clock(
    tmp_path: Path, source: str, reload: str, becomes: str
) -> None:
    text = (
        b"#define STM32F1 1\n"
        + OPENCM3
        + (
            f"void f(void)\n{{\n    systick_set_clocksource(STK_CSR_CLKSOURCE_{source});\n"
            f"    systick_set_reload({reload});\n    systick_interrupt_enable();\n"
            "    systick_counter_enable();\n}\n"
        ).encode()
    )
    port_files(tmp_path, {"main.c": text}, None)
    (port,) = port_project(tmp_path, None, core_clock=72_000_000).files
    assert f"    hyp_tick_set({becomes});\n".encode() in port.ported


def test_places_are_those_of_the_file_as_it_is(tmp_path: Path) -> None:
    """A call over several lines, one that stays, a macro, an escalation below them."""
    text = OPENCM3 + (
        b"#define OFF() cm_disable_interrupts()\nvoid f(void)\n{\n    nvic_enable_irq(\n"
        b"        37 /* USART1 */\n    ); nvic_enable_irq(99);\n    OFF();\n    __set_MSP(0);\n}\n"
    )
    result = port_files(tmp_path, {"main.c": text})
    (port,) = result.files
    assert port.file.data == text
    found = {
        (port.file.line(v.site.start), port.file.column(v.site.start), v.site.what, v.status.value)
        for v in port.verdicts
    }
    assert found == {
        (2, 15, "cm_disable_interrupts", "rewritten"),
        (5, 5, "nvic_enable_irq", "rewritten"),
        (7, 8, "nvic_enable_irq", "escalated"),
        (9, 5, "__set_MSP", "escalated"),
    }
    lines = port.ported.decode().splitlines()
    assert lines[-5:] == [
        "{", "    hyp_irq_ena(37); nvic_enable_irq(99);", "    OFF();", "    __set_MSP(0);", "}",
    ]  # fmt: skip
    assert "#define OFF() virt_int_mask(VIRT_PRIMASK)" in lines


def test_a_call_that_is_removed_takes_its_line_along(tmp_path: Path) -> None:
    text = OPENCM3 + b"void f(void)\n{\n    scb_set_priority_grouping(3);\n    g();\n}\n"
    (port,) = port_files(tmp_path, {"main.c": text}).files
    assert port.ported.endswith(b"void f(void)\n{\n    g();\n}\n")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("CM_ATOMIC_BLOCK() { g(); }", "masks to the end of the block"),
        ("hook = cm_enable_interrupts;", "used otherwise than by a call"),
        ("x = cm_mask_interrupts(y);", "its value is used"),
    ],
)
def test_what_a_line_cannot_say_a_person_must(tmp_path: Path, code: str, reason: str) -> None:
    text = OPENCM3 + f"void f(void) {{ {code} }}\n".encode()
    _, result = ported(tmp_path, text)
    verdicts = [v for port in result.files for v in port.verdicts]
    assert [verdict.status for verdict in verdicts] == [Status.ESCALATED]
    assert reason in verdicts[0].reason


def test_the_code_around_a_block_macro_is_still_understood(tmp_path: Path) -> None:
    text = OPENCM3 + b"void f(void) { x = __get_PRIMASK(); CM_ATOMIC_BLOCK() { g(); } }\n"
    after, result = ported(tmp_path, text)
    assert "{ x = virt_int_query(VIRT_PRIMASK); CM_ATOMIC_BLOCK() { g(); } }" in after
    assert len(escalations(result)) == 1


@pytest.mark.parametrize(
    "definition",
    [
        b"#define nvic_enable_irq(n) pass(n)\n",
        b"static void nvic_enable_irq(int n) { pass(n); }\n",
    ],
)
def test_a_definition_in_the_tree_outranks_the_data(tmp_path: Path, definition: bytes) -> None:
    text = OPENCM3 + definition + b"void f(void) { nvic_enable_irq(37); }\n"
    _, result = ported(tmp_path, text)
    assert result.found == 0


def test_the_body_in_the_tree_is_what_is_ported(tmp_path: Path) -> None:
    body = b"#include <x.h>\nvoid nvic_enable_irq(unsigned char n)\n{\n    NVIC_EnableIRQ(n);\n}\n"
    text = OPENCM3 + b"void f(void) { nvic_enable_irq(37); }\n"
    result = port_files(tmp_path, {"main.c": text, "nvic.c": body})
    assert [port.file.name for port in result.files] == ["nvic.c"]


def test_a_library_that_no_header_names_says_nothing(tmp_path: Path) -> None:
    """Names such as `sleep` mean something else elsewhere."""
    assert port_files(tmp_path, {"main.c": b"void f(void) { irq_lock(); sleep(); }\n"}).found == 0


def test_names_that_are_declared_or_fields_are_no_uses(tmp_path: Path) -> None:
    text = (
        b"#include <Arduino.h>\nvoid noInterrupts(void);\n"
        b"void f(struct s *p) { p->noInterrupts(); int cli = 3; (void)p->sei; }\n"
    )
    assert port_files(tmp_path, {"main.c": text}).found == 0


def test_calls_that_nothing_reaches_are_left(tmp_path: Path) -> None:
    text = OPENCM3 + b"void old(void) { CM_ATOMIC_BLOCK() { } }\nint main(void) { }\n"
    (port,) = port_files(tmp_path, {"main.c": text}).files
    assert [verdict.status for verdict in port.verdicts] == [Status.LEFT]


def test_an_argument_that_does_something_is_not_lost() -> None:
    known = Known("some", (Body(("line", "level"), "NVIC_EnableIRQ(line)"),))
    assert body_of(known, lex_fragment(b"n + 1, 3"), is_statement=True) == b"NVIC_EnableIRQ(n + 1)"
    with pytest.raises(Unfit, match="an argument does something"):
        body_of(known, lex_fragment(b"n, i++"), is_statement=True)


def test_statements_in_a_row_need_room(tmp_path: Path) -> None:
    start = b"#include <fsl_common.h>\nvoid f(int a) {\n    if (a)\n    "
    tail = b"EnableIRQWithPriority(37, 2);\n    else g();\n}\n"
    (reason,) = escalations(port_files(tmp_path / "a", {"main.c": start + tail}))
    assert "braces" in reason
    braced = b"#include <fsl_common.h>\nvoid f(int a) {\n    if (a) { " + tail[:29] + b" }\n}\n"
    (port,) = port_files(tmp_path / "b", {"main.c": braced}).files
    assert b"{ virt_vct_prio(fvm_virt_of_irq(37), 2); hyp_irq_ena(37); }" in port.ported


# --- the data -----------------------------------------------------------------------------------

LIBRARIES = {library.name: library for library in all_libraries()}
DOING = [name for name, library in LIBRARIES.items() if library.own_names]


def test_every_file_of_data_is_read() -> None:
    folder = Path(__file__, "../../../porter/libraries").resolve()
    assert len(LIBRARIES) == len(list(folder.glob("*.json")))


@pytest.mark.parametrize("name", DOING)
def test_every_body_is_something_that_rules_judge(tmp_path: Path, name: str) -> None:
    """No row may name a function that is no site, or lose a word to a typing error."""
    library = LIBRARIES[name]
    header = library.headers[0].replace("*", "x")
    calls: dict[str, str] = {}
    for function, bodies in library.does.items():
        for number, body in enumerate(bodies):
            if body.is_macro:
                continue
            words = body.parameters or ()
            arguments = ", ".join(f"a{i}" if is_parameter(w) else w for i, w in enumerate(words))
            call = function if body.parameters is None else f"{function}({arguments})"
            calls[f"f_{function}_{number}"] = call
    text = f"#include <{header}>\n" + "".join(
        f"void {around}(int a0, int a1, int *a2) {{ {call}; }}\n" for around, call in calls.items()
    )
    result = port_files(tmp_path, {"main.c": text.encode()}, DOMAIN)
    verdicts = [verdict for port in result.files for verdict in port.verdicts]
    assert len(verdicts) == len(calls)
    unknown = [v for v in verdicts if "no rule knows" in v.reason or v.rule == "library-call"]
    assert unknown == []


@pytest.mark.parametrize("name", LIBRARIES)
def test_what_a_person_is_asked_says_what_to_do(name: str) -> None:
    library = LIBRARIES[name]
    assert all(len(why) > 20 and not why.endswith(".") for why in library.asks.values())
    assert not set(library.asks) & set(library.harmless)


def test_registers_in_bodies_are_found_without_any_header() -> None:
    assert with_addresses("SysTick->LOAD = n;") == "(*(volatile unsigned *)0xE000E014) = n;"
    assert with_addresses("NVIC->IP[n] = 1;") == "((volatile unsigned char *)0xE000E400)[n] = 1;"


def test_variables_that_are_called_like_a_function_are_none(tmp_path: Path) -> None:
    text = (
        b"#include <Arduino.h>\n#include <FreeRTOS.h>\n#include <task.h>\n"
        b"int f(int port) { unsigned interrupts = g(port); return interrupts & port; }\n"
    )
    assert port_files(tmp_path, {"main.c": text}).found == 0


@pytest.mark.parametrize(
    "assembler",
    [
        b"    .global cm_disable_interrupts\ncm_disable_interrupts:\n    bx lr\n",
        b"    AREA |.text|, CODE\n    EXPORT cm_disable_interrupts\ncm_disable_interrupts PROC\n"
        b"    bx lr\n    ENDP\n    END\n",
    ],
    ids=["GNU", "Arm"],
)
def test_what_an_assembler_file_defines_is_in_the_tree(tmp_path: Path, assembler: bytes) -> None:
    text = b"#include <libopencm3/cm3/cortex.h>\nvoid f(void)\n{\n    cm_disable_interrupts();\n}\n"
    result = port_files(tmp_path, {"main.c": text, "low.s": assembler})
    assert not [port for port in result.files if port.file.name == "main.c" and port.edits]


def test_a_tests_stand_in_is_not_the_projects_own(tmp_path: Path) -> None:
    """What the build doesn't take defines nothing: the program is linked with the library."""
    stub = b"void cm_disable_interrupts(void) {}\nvoid flash_unlock(void) {}\n"
    makefile = b"all: main.o\n%.o: %.c\n\tarm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -c -o $@ $<\n"
    main = b"#include <libopencm3/cm3/cortex.h>\nvoid flash_unlock(void);\n"
    main += b"int main(void) { cm_disable_interrupts(); flash_unlock(); for (;;) {} }\n"
    files = {"Makefile": makefile, "main.c": main, "test/stub.c": stub}
    result = port_files(tmp_path, files)
    (port,) = [it for it in result.files if it.file.name == "main.c"]
    assert b"virt_int_mask(VIRT_PRIMASK);" in port.ported
    assert [it.name for it in result.unseen.calls] == ["flash_unlock"]
    all_of_it = makefile.replace(b"main.o\n", b"main.o test/stub.o\n", 1)
    assert port_files(tmp_path, {**files, "Makefile": all_of_it}).unseen.calls == ()


@pytest.mark.parametrize("call", ["ROM_IntMasterDisable();", "MAP_IntMasterDisable();"])
def test_names_for_functions_of_a_rom_are_the_librarys(tmp_path: Path, call: str) -> None:
    header = (
        b"#define ROM_TABLE ((unsigned *)0x01000010)\n"
        b"#define ROM_INTS ((unsigned *)(ROM_TABLE[14]))\n"
        b"#define ROM_IntMasterDisable   \\\n        ((int (*)(void))ROM_INTS[2])\n"
        b"#define MAP_IntMasterDisable ROM_IntMasterDisable\n"
    )
    code = f'#include "driverlib/rom.h"\nvoid f(void) {{ {call} }}\n'.encode()
    text, _ = ported(tmp_path, header + code)
    assert "virt_int_mask(VIRT_PRIMASK);" in text


@pytest.mark.parametrize(
    ("header", "is_known"),
    [("task.h", True), ("../task.h", True), ("FreeRTOS-Kernel/include/task.h", True),
     ("rtos/FreeRTOS.h", True), ("grbl/task.h", False)],
)  # fmt: skip
def test_a_common_word_in_another_folder_is_no_library(
    tmp_path: Path, header: str, is_known: bool
) -> None:
    text = f'#include "{header}"\nvoid f(void) {{ portDISABLE_INTERRUPTS(); }}\n'.encode()
    _, result = ported(tmp_path, text)
    assert ("portDISABLE_INTERRUPTS" in {it.name for it in result.unseen.calls}) is not is_known


@pytest.mark.parametrize(
    ("call", "number"),
    [("nvic_enable_irq(NVIC_PENDSV_IRQ)", 14), ("nvic_disable_irq(NVIC_SYSTICK_IRQ)", 15),
     ("NVIC_EnableIRQ(SVCall_IRQn)", 11), ("NVIC_DisableIRQ(MemoryManagement_IRQn)", 4)],
)  # fmt: skip
def test_a_system_exception_is_one_without_its_header(
    tmp_path: Path, call: str, number: int
) -> None:
    text = OPENCM3 + f"void f(void) {{ {call}; }}\n".encode()
    after, result = ported(tmp_path, text)
    assert call in after
    assert [it.endswith(f"IRQ of system exception {number}") for it in escalations(result)] == [
        True
    ]


def test_a_device_of_a_name_alike_is_a_line(tmp_path: Path) -> None:
    """And a name that is defined is what it is defined as."""
    text = OPENCM3 + (
        b"#define NVIC_PENDSV_IRQ 37\n"
        b"void f(void) { nvic_enable_irq(NVIC_PENDSV_IRQ); nvic_enable_irq(NVIC_USART1_IRQ); }\n"
    )
    after, _ = ported(tmp_path, text)
    assert "{ hyp_irq_ena(NVIC_PENDSV_IRQ); hyp_irq_ena(NVIC_USART1_IRQ); }" in after


OPENS, CLOSES = b"HAL_NVIC_EnableIRQ(37);", b"HAL_NVIC_DisableIRQ(37);"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (b'#include "board.h"\nvoid f(void) { %s %s }\n' % (OPENS, CLOSES), 2),
        (b'#include "board.h"\nvoid f(void) { %s }\n' % OPENS, 0),
        (b"#include <math.h>\nvoid f(void) { %s %s }\n" % (OPENS, CLOSES), 0),
    ],
)
def test_a_missing_header_may_bring_the_library_whose_names_are_used(
    tmp_path: Path, text: bytes, lines: int
) -> None:
    result = port_files(tmp_path, {"main.c": text})
    assert b"".join(it.ported for it in result.files).count(b"hyp_irq_") == lines
    assert bool(result.unseen.calls) == (lines == 0)


def test_what_a_macro_is_given_that_stays_is_no_read(tmp_path: Path) -> None:
    text = b"#include <stm32l0xx.h>\nvoid f(int n) { for (SET_BIT(GPIOA->ODR, 2); n; n--) { } }\n"
    after, result = ported(tmp_path, text)
    assert escalations(result) and "SET_BIT(GPIOA->ODR, 2)" in after


def test_a_projects_own_names_are_no_librarys(tmp_path: Path) -> None:
    """Half of all home-made kernels have an irq.h."""
    header = b"unsigned irq_disable(void);\nvoid irq_enable(unsigned saved);\n"
    text = b'#include "irq.h"\nvoid f(void) { unsigned s = irq_disable(); irq_enable(s); }\n'
    result = port_files(tmp_path, {"irq.h": header, "main.c": text}, DOMAIN)
    assert all(not port.edits for port in result.files)


CLASSES = """\
#include "cmsis_os.h"
struct Duration { int n; };
namespace {
class Timer {
public:
    Timer() : n{0} { sleep(Duration{1}); }
    void sleep(Duration d);
    int n;
};
void Timer::sleep(Duration d) { n = d.n; while (n) sleep(Duration{0}); }
Timer timer;
}
namespace Time {
void sleep(Duration d) { timer.sleep(d); }
}
struct Longer : Timer { void wait() { sleep(Duration{3}); } };
"""


@pytest.mark.parametrize(
    "code",
    [
        "",
        "void f() { Time::sleep(Duration{2}); }",
        "using namespace Time;\nvoid f() { sleep(Duration{2}); }",
        "using Time::sleep;\nvoid f() { sleep(Duration{2}); }",
        "namespace Time { void twice() { sleep(Duration{2}); } }",
        "#define REST() Time::sleep(Duration{2})\nvoid f() { REST(); }",
        "namespace { void sleep(Duration, int) { } }\nvoid f() { sleep(Duration{2}, 1); }",
    ],
)
def test_functions_of_the_projects_classes_are_no_librarys(tmp_path: Path, code: str) -> None:
    result = port_files(tmp_path, {"t.cpp": f"{CLASSES}{code}\n".encode()}, None)
    assert escalations(result) == []


@pytest.mark.parametrize(
    "code",
    [
        "void f() { sleep(); }",
        "void f() { ::sleep(); }",
        "namespace Other { void f() { sleep(); } }",
        "struct Plain { void f() { sleep(); } };",
        "namespace Time { }\nusing namespace Time;\nvoid f() { sleep(); }",
    ],
)
def test_a_librarys_function_stays_one_beside_a_members(tmp_path: Path, code: str) -> None:
    files = {"t.cpp": CLASSES.encode(), "u.cpp": b'#include "cmsis_os.h"\n' + code.encode() + b"\n"}
    result = port_files(tmp_path, files, None)
    touched = {port.file.name for port in result.files if port.verdicts}
    assert touched == {"u.cpp"}
