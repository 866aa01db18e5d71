"""Every arm of an #if in a handler is transcribed, under the condition that chooses it."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from porter.context_switch.together import possible
from porter.context_switch.variants import variants
from tests.porter.context_switch.trees import M3, M4F, RUNTIME, Tree, fixture

HANDLER = """\
#include "os_config.h"
    .syntax unified
    .thumb
    .text
    .global PendSV_Handler
    .type PendSV_Handler, %function
PendSV_Handler:
#ifdef OS_TRACE
    push    {{r4, lr}}
    bl      trace
    pop     {{r4, lr}}
#endif
    mrs     r0, psp
#if {fpu}
    tst     lr, #0x10
    it      eq
    vstmdbeq r0!, {{s16-s31}}
    stmdb   r0!, {{r4-r11, lr}}
#else
    stmdb   r0!, {{r4-r11}}
#endif
    ldr     r1, =current
    ldr     r2, [r1]
    str     r0, [r2]
    ldr     r0, =ready
    ldr     r2, [r0]
    str     r2, [r1]
    ldr     r0, [r2]
#if {fpu}
    ldmia   r0!, {{r4-r11, lr}}
    tst     lr, #0x10
    it      eq
    vldmiaeq r0!, {{s16-s31}}
#else
    ldmia   r0!, {{r4-r11}}
#endif
    msr     psp, r0
    bx      lr
"""


def project(folder: Path, config: str, fpu: str, cpu: tuple[str, ...] = M4F) -> Tree:
    tree = fixture(folder, HANDLER.format(fpu=fpu), cpu, "switch.S")
    header = folder / "os_config.h"
    header.write_text(config)
    prototypes = folder / "os.h"
    prototypes.write_text("void trace(void);\n")
    return replace(tree, files=(*tree.files, header, prototypes))


def ported_text(tree: Tree) -> str:
    """What is left of the assembler file."""
    tree.apply([port for port in tree.port() if port.file == tree.files[0]])
    return tree.files[0].read_text()


def compiled(tree: Tree, folder: Path, *defines: str) -> str:
    """What the compiler sees of the companion in one configuration."""
    ports = tree.port()
    (new,) = [port for port in ports if port.file.suffix == ".c"]
    target = folder / "compiled.c"
    target.write_bytes(new.replacement)
    includes = [f"-I{path}" for path in (folder, *RUNTIME)]
    command = ["arm-none-eabi-gcc", *tree.options.cpu_flags, *includes, *defines]
    subprocess.run([*command, "-Werror", "-fsyntax-only", str(target)], check=True)
    text = subprocess.run([*command, "-E", "-P", str(target)], capture_output=True, text=True)
    return text.stdout[text.stdout.index("void PendSV_Handler(void)") :]


def test_each_configuration_gets_its_own_c(tmp_path: Path) -> None:
    tree = project(tmp_path, "", "defined(OS_FPU)")
    plain = compiled(tree, tmp_path)
    assert "Fpu.S16" not in plain and "Reg.LR" not in plain and "trace" not in plain
    fpu = compiled(tree, tmp_path, "-DOS_FPU", "-DOS_TRACE")
    assert fpu.count("Fpu.S16") >= 2 and "Reg.LR" in fpu and "trace()" in fpu


def test_the_configuration_header_decides_in_c_too(tmp_path: Path) -> None:
    tree = project(tmp_path, "#define OS_FPU 1\n", "OS_FPU == 1")
    assert "Fpu.S16" in compiled(tree, tmp_path)


def test_lines_that_all_arms_share_stand_once(tmp_path: Path) -> None:
    (new,) = [
        port for port in project(tmp_path, "", "defined(OS_FPU)").port() if port.file.suffix == ".c"
    ]
    text = new.replacement.decode()
    assert text.count("USR_REG->Reg.SP = (uint32_t)sp;") == 1
    assert text.count("#if") == text.count("#endif") > 0


def test_an_arm_that_this_core_has_no_instructions_for_is_an_error_there(tmp_path: Path) -> None:
    (new,) = [
        port
        for port in project(tmp_path, "", "defined(OS_FPU)", M3).port()
        if port.file.suffix == ".c"
    ]
    assert "#error can't be assembled with the options of this machine" in new.replacement.decode()


def test_a_macro_of_another_compiler_is_escalated(tmp_path: Path) -> None:
    ports = project(tmp_path, "", "defined(__ARMVFP__)").port()
    (handler,) = [port for port in ports if port.name == "PendSV_Handler"]
    assert handler.status == "escalated" and "__ARMVFP__" in handler.reason


def test_an_arm_that_begins_with_a_comment_is_read(tmp_path: Path) -> None:
    tree = project(tmp_path, "", "defined(__ARMVFP__)")
    text = tree.files[0].read_text()
    tree.files[0].write_text(text.replace("(__ARMVFP__)\n", "(__ARMVFP__)\n    // FPU state\n"))
    (handler,) = [port for port in tree.port() if port.name == "PendSV_Handler"]
    assert handler.status == "escalated" and "__ARMVFP__" in handler.reason


@pytest.mark.parametrize("defines", ["", "#define OS_FPU 1\n"])
def test_a_function_whose_body_is_arms_begins_at_its_label(defines: str, tmp_path: Path) -> None:
    tree = project(tmp_path, defines, "1")
    head, _, body = HANDLER.format(fpu="1").partition("PendSV_Handler:\n")
    other = body.replace("tst     lr, #0x10", "nop").replace("it      eq", "nop")
    small = "\n".join(line for line in other.splitlines() if "{s16" not in line)
    whole = f"{head}PendSV_Handler:\n#if defined(OS_FPU)\n{body}#else\n{small}\n#endif\n"
    tree.files[0].write_text(whole)
    text = compiled(tree, tmp_path)
    assert ("Fpu.S16" in text) == bool(defines)
    assert "PendSV_Handler:\n" not in ported_text(tree)


def test_a_condition_on_what_only_quiets_a_compiler_doesnt_matter(tmp_path: Path) -> None:
    text = """\
extern int psp;
__attribute__((naked)) unsigned mask(void)
{
    __asm volatile("mrs r0, primask; cpsid i; bx lr");
#if !defined(__ARMCC_VERSION) && (__ARMCC_VERSION >= 6010050)
    return 0; /* never reached */
#endif
}
"""
    ports = {port.name: port for port in fixture(tmp_path / "a", text).port()}
    assert ports["mask"].status == "rewritten", ports["mask"].reason
    hidden = text.replace("return 0;", '__asm volatile("nop");')
    ports = {port.name: port for port in fixture(tmp_path / "b", hidden).port()}
    assert ports["mask"].status == "escalated"


@pytest.mark.parametrize(
    ("conditions", "choices"),
    [
        (["defined(A)", "!defined(A) && !defined(B)"], {(0, 1), (1, 0), (1, 1)}),
        (["defined(A)", "(N != 0)"], {(0, 0), (0, 1), (1, 0), (1, 1)}),
        (["N == 1", "(N == 1) || defined(A)"], {(0, 0), (1, 0), (1, 1)}),
        (["ON(A)", "ON(A)"], {(0, 0), (1, 1)}),
    ],
)
def test_only_arms_that_can_be_together_are_looked_at(
    conditions: list[str], choices: set[tuple[int, ...]]
) -> None:
    assert set(possible([(condition,) for condition in conditions])) == choices


def test_a_condition_that_begins_with_a_negation_is_no_negation(tmp_path: Path) -> None:
    """S16-S31 where there is neither an A nor a B."""
    text = """
#include <stdint.h>
uint32_t *task;
void choose(void);
__attribute__((naked)) void PendSV_Handler(void)
{
    __asm volatile(
        "mrs r0, psp\\n"
#ifdef A
        "stmdb r0!, {r4-r11}\\n"
#else
        "stmdb r0!, {r4-r11, lr}\\n"
#endif
#if !defined(A) && !defined(B)
        "vstmdb r0!, {s16-s31}\\n"
#endif
        "ldr r1, =task\\n ldr r2, [r1]\\n str r0, [r2]\\n push {r1, lr}\\n bl choose\\n"
        "pop {r1, lr}\\n ldr r2, [r1]\\n ldr r0, [r2]\\n"
#if !defined(A) && !defined(B)
        "vldmia r0!, {s16-s31}\\n"
#endif
#ifdef A
        "ldmia r0!, {r4-r11}\\n"
#else
        "ldmia r0!, {r4-r11, lr}\\n"
#endif
        "msr psp, r0\\n bx lr\\n .ltorg");
}
"""
    (handler,) = [port for port in fixture(tmp_path, text, M4F).port() if port.role == "switch"]
    assert "proved" in handler.reason
    lines = [line.split("/*")[0].strip() for line in handler.replacement.decode().splitlines()]
    for copy in ("USR_VSTMDB(sp);", "USR_VLDMIA(sp);"):
        (place,) = [number for number, line in enumerate(lines) if line == copy]
        assert lines[place - 1] == "#if !defined(A) && !defined(B)"


def test_five_options_of_an_rtos_are_not_too_many() -> None:
    lines = "".join(f"#ifdef OPTION_{n}\n    adds r3, #{n + 1}\n#endif\n" for n in range(5))
    text = f"counts:\n{lines}    bx lr\n".encode()
    found = variants(text, "switch.S", [(0, len(text))], lambda name: name.startswith("OPTION"))
    assert len(found) == 32 and len({it.data for it in found}) == 32
