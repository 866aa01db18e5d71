"""What assembler has on the stack where it calls C may be an argument: a register of the task, or
what a handler has there."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.lift_state import NOTHING
from porter.context_switch.result import NotTranscribable
from tests.porter.context_switch.test_kept_registers import CALLS, project, refused

HEAD = "struct two { unsigned a, b; }; struct four { unsigned a, b, c, d; };\n"
FIVE = "unsigned x; void five(unsigned a, unsigned b, int *c, unsigned d, unsigned e) { x = e; }\n"
FOUR = "unsigned x; void five(unsigned a, unsigned b, int *c, unsigned d) { x = d; }\n"
CALL = "push {r8, lr}; bl five; pop {r8, pc}"
# What load() does, C, and whether it hands r8 over.
HANDED: dict[str, tuple[str, str, bool]] = {
    "pushed": (CALL, FIVE, True),
    "four arguments": (CALL, FOUR, False),
    "none": (CALL, "void five(void) { }\n", False),
    "stored": ("push {lr}; sub sp, #4; str r8, [sp]; bl five; add sp, #4; pop {pc}", FIVE, True),
    "behind the argument": ("push {r8, lr}; push {r0, r1}; bl five; pop {r0, r1}; pop {r8, pc}",
                            FIVE, False),
    "any number": (CALL, "void five(unsigned a, ...) { }\n", True),
    "64 bits": (CALL, "typedef unsigned long long big; void five(big a, char b, big c) { }\n",
                True),
    "small typedefs": (CALL, "typedef unsigned char u8; void five(u8 a, u8 b, u8 c, u8 d) { }\n",
                       False),
    "a structure": (CALL, f"{HEAD}void five(unsigned a, struct four b) {{ }}\n", True),
    "a pointer to one": (CALL, f"{HEAD}void five(struct four *a, struct four *b) {{ }}\n", False),
    "a result": (CALL, f"{HEAD}struct four five(int a, int b, int c, int d) {{ "
                 "return (struct four) { 0 }; }\n", True),
    "a pointer to functions": (
        "push {r8, lr}; ldr r3, [r0]; blx r3; pop {r8, pc}",
        f"{FIVE}void (*hook)(unsigned, unsigned, int *, unsigned, unsigned) = five;\n", True,
    ),
    "a pointer to others": (
        "push {r8, lr}; ldr r3, [r0]; blx r3; pop {r8, pc}",
        f"{FIVE}void other(void) {{ }}\nvoid (*hook)(void) = other;\n", False,
    ),
    "a jump": ("str r8, [sp, #-4]!; b five", FIVE, True),
    "a callee's": ("push {r8, lr}; bl inner; pop {r8, pc}", FIVE, True),
    "what C passed": ("push {r4, lr}; ldr r4, [sp, #8]; pop {r4, pc}", FIVE, False),
}  # fmt: skip


@pytest.mark.parametrize("name", HANDED)
def test_a_kept_register_is_no_argument(name: str, tmp_path: Path) -> None:
    body, c, is_handed = HANDED[name]
    found = refused(project(tmp_path, {"load": body, "inner": "b five"}, c + CALLS))
    assert ("load() of callees.S, which reads r8" in found) is is_handed


@pytest.mark.parametrize(("kind", "is_handed"), [("int e", True), ("", False), ("Kind e", True)])
def test_cplusplus_takes_arguments_too(kind: str, is_handed: bool, tmp_path: Path) -> None:
    more = f", {kind}" if kind else ""
    (tmp_path / "five.cpp").write_text(
        f'extern "C" void five(int a, unsigned b, int *c, char &d{more}) {{ }}\n'
    )
    found = refused(project(tmp_path, {"load": CALL}, CALLS))
    assert ("which reads r8" in found) is is_handed


@pytest.mark.parametrize(
    ("asm", "is_handed"), [("push {r8}\\n bl five\\n pop {r8}", True), ("bl five", False)]
)
def test_so_it_is_in_asm_of_c(asm: str, is_handed: bool, tmp_path: Path) -> None:
    clobbers = '"r0", "r1", "r2", "r3", "r12", "lr", "memory"'
    c = f'{FIVE}void schedule(void) {{ __asm volatile("{asm}" ::: {clobbers}); }}\n'
    assert ("reads r8" in refused(project(tmp_path, {}, c))) is is_handed


# What a handler calls, and whether it looks at what that has on its stack.
ABOVE: dict[str, tuple[str, bool]] = {
    "a word": ("ldr r0, [sp]; ldr r1, =x; str r0, [r1]; bx lr; .ltorg", True),
    "its own": ("push {r4, lr}; ldr r4, [sp, #4]; movs r0, r4; pop {r4, pc}", False),
    "behind its own": ("push {r4, lr}; ldr r4, [sp, #8]; movs r0, r4; pop {r4, pc}", True),
    "changed": ("movs r0, #0; str r0, [sp]; bx lr", True),
    "handed on": ("movs r0, #0; mov r1, r0; mov r2, r0; mov r3, r0; b five", True),
    "handed on, its own": (
        "push {r0-r3, lr}; movs r0, #0; mov r1, r0; mov r2, r0; mov r3, r0; bl five;"
        "add sp, #16; pop {pc}", False,
    ),
    "a callee's": ("push {lr}; bl inner; pop {pc}", True),
}  # fmt: skip


@pytest.mark.parametrize("name", ABOVE)
def test_nothing_looks_at_the_handlers_stack(name: str, tmp_path: Path) -> None:
    body, looks = ABOVE[name]
    data = project(tmp_path, {"load": body, "inner": "ldr r0, [sp, #4]; bx lr"}, FIVE + CALLS)
    if looks:
        with pytest.raises(NotTranscribable, match="reads what its caller has on the stack"):
            data.private.refuse_callee("load", lambda _: NOTHING)
    else:
        data.private.refuse_callee("load", lambda _: NOTHING)
