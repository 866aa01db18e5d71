"""A transcribed handler stands in one file with C that has types of its own for the same words, and
a compiler that inlines that C may take objects of two types for two."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from porter.context_switch.accept import with_runtime
from porter.context_switch.assemble import flags
from tests.porter.context_switch.trees import M4F, fixture

SWITCH = """#include <stdint.h>
struct task { uint32_t *sp; uint32_t *initial; float share; int16_t late; uint8_t again; };
struct task *task, tasks[8];
static void choose(void)
{
    struct task *it = &tasks[2];
    if (it->again) {
        it->again = 0;
        it->share = 1.0f;
        it->late = 7;
        it->sp = it->initial; /* forget what was saved */
    }
}
__attribute__((naked, used)) void PendSV_Handler(void)
{
    __asm volatile(
        "mrs r0, psp\\n"
        "stmdb r0!, {r4-r11, lr}\\n"
        "ldr r4, =task\\n"
        "ldr r2, [r4]\\n"
        "str r0, [r2]\\n"
        "ldr r3, [r2, #8]\\n"
        "str r3, [r0, #-4]\\n"
        "ldrsh r3, [r2, #12]\\n"
        "str r3, [r0, #-8]\\n"
        "bl choose\\n"
        "ldr r2, [r4]\\n"
        "ldr r3, [r2, #8]\\n"
        "ldrsh r12, [r2, #12]\\n"
        "ldr r0, [r2]\\n"
        "str r3, [r0, #-4]\\n"
        "str r12, [r0, #-8]\\n"
        "ldmia r0!, {r4-r11, lr}\\n"
        "msr psp, r0\\n"
        "bx lr\\n"
        ".ltorg\\n");
}
"""


@pytest.mark.parametrize("level", ["-O1", "-O2", "-O3"])
def test_what_inlined_c_writes_is_seen(level: str, tmp_path: Path) -> None:
    """With or without knowledge of types a compiler makes the same of the port."""
    tree = fixture(tmp_path, SWITCH, M4F)
    ports = tree.port()
    assert {port.status for port in ports} == {"rewritten"}
    tree.apply(ports)
    (source,) = tree.files
    options = with_runtime(tree.options)
    command = [options.compiler, *flags(source, options), level, "-S", "-o", "-", str(source)]
    command += ["-fno-schedule-insns2", "-fno-shrink-wrap"]  # the order of what is the same
    texts = {
        subprocess.run([*command, it], check=True, capture_output=True).stdout
        for it in ("-fstrict-aliasing", "-fno-strict-aliasing")
    }
    assert len(texts) == 1
