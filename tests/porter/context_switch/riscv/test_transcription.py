"""Trap handlers of RV32 become C over USR_REG that is proved against them."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from porter.context_switch.result import SwitchPort
from tests.porter.context_switch.riscv.trees import freertos, naked, own
from tests.porter.context_switch.trees import ROOT, Tree

RUNTIME = ROOT / "fvm-runtime"
TRAP = """\
    fvm_word *sp = (fvm_word *)(USR_REG->Reg.X2 - 0x7C);
    sp[1] = USR_REG->Reg.X1;
    USR_STORE(sp + 2, X5, X31);
    sp[29] = xCriticalNesting;
    sp[30] = USR_REG->Reg.MSTATUS;
    *(fvm_word *)pxCurrentTCB = (uint32_t)sp;
    if ((int32_t)virt_cause() >= (int32_t)0) {
        x11 = USR_REG->Reg.PC + 4;
        *sp = x11;
        if (virt_cause() != 0xB) {
            freertos_risc_v_application_exception_handler();
        } else {
            vTaskSwitchContext();
        }
    } else {
        *sp = USR_REG->Reg.PC;
        if (virt_cause() != 0x80000007u) {
            freertos_risc_v_application_interrupt_handler();
        } else {
"""
RESUME = """\
    sp = (fvm_word *)*(fvm_word *)pxCurrentTCB;
    USR_REG->Reg.PC = *sp;
    USR_REG->Reg.MSTATUS = sp[30];
    uint32_t x5 = sp[29];
    *(fvm_word *)pxCriticalNesting = x5;
    USR_REG->Reg.X1 = sp[1];
    USR_LOAD(sp + 2, X5, X31);
    USR_REG->Reg.X2 = (uint32_t)(sp + 31);
}
"""
NAKED = """\
#include <stdint.h>
void *volatile running;
void choose(void);

void __attribute__((naked)) soft_trap(void)
{
    __asm volatile(
        "csrrw t6, mscratch, t6\\n"
        "sw s0, 0(t6)\\n"
        "sw s1, 4(t6)\\n"
        "csrr s0, mepc\\n"
        "addi s0, s0, 4\\n"
        "lw s1, running\\n"
        "sw s0, 0(s1)\\n"
        "csrw mepc, s0\\n"
        "lw s0, 0(t6)\\n"
        "lw s1, 4(t6)\\n"
        "csrrw t6, mscratch, t6\\n"
        "mret\\n");
}
"""


def code(text: str) -> str:
    """C without comments and empty lines."""
    lines = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL).splitlines()
    return "\n".join(line.rstrip() for line in lines if line.strip()) + "\n"


def rewritten(tree: Tree) -> tuple[list[SwitchPort], str]:
    """What is said of the functions, and the C that stands for them."""
    ports = tree.port()
    assert {port.status for port in ports} == {"rewritten"}, [port.reason for port in ports]
    (companion,) = [port for port in ports if port.file.name.endswith("_fvm.c")]
    return ports, code(companion.replacement.decode())


def rest(tree: Tree, ports: list[SwitchPort]) -> str:
    """What is left of the assembler file."""
    data = tree.files[0].read_bytes()
    edits = [port for port in ports if port.file == tree.files[0]]
    for edit in sorted(edits, key=lambda edit: -edit.start):
        data = data[: edit.start] + edit.replacement + data[edit.end :]
    return data.decode()


def compiled(tree: Tree, ports: list[SwitchPort], folder: Path) -> str:
    """Disassembly of the companion, compiled as a project would, without a warning."""
    (companion,) = [port for port in ports if port.file.name.endswith("_fvm.c")]
    source = folder / companion.file.name
    source.write_bytes(companion.replacement)
    includes = [RUNTIME / "include", RUNTIME / "arch" / "riscv32" / "include"]
    command = [tree.options.compiler, *tree.options.cpu_flags, "-O2", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{include}" for include in includes]
    done = subprocess.run(
        [*command, "-c", str(source), "-o", str(folder / "port.o")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    listing = ["riscv64-unknown-elf-objdump", "-d", str(folder / "port.o")]
    return subprocess.run(listing, capture_output=True, text=True, check=True).stdout


@dataclass(frozen=True)
class Ported:
    """FreeRTOS' port layer after porting."""

    tree: Tree
    ports: list[SwitchPort]
    text: str

    @property
    def functions(self) -> dict[str, SwitchPort]:
        """What is said of each function."""
        return {port.name: port for port in self.ports if port.file.suffix == ".S"}


@pytest.fixture(scope="module")
def ported(tmp_path_factory: pytest.TempPathFactory) -> Ported:
    tree = freertos(tmp_path_factory.mktemp("freertos"))
    return Ported(tree, *rewritten(tree))


def test_every_function_of_freertos_is_proved(ported: Ported) -> None:
    found = ported.functions
    assert found["freertos_risc_v_trap_handler"].role == "switch"
    assert found["xPortStartFirstTask"].role == "start"
    assert found["pxPortInitialiseStack"].role == "other"
    assert len(found) == 8
    for port in found.values():
        assert port.proof is not None and port.proof.runs.states >= 500
    trap = found["freertos_risc_v_trap_handler"].proof
    assert trap is not None
    assert trap.runs.conditions == 4 and trap.paths == 5


def test_the_trap_handler_reads_like_its_source(ported: Ported) -> None:
    text = ported.text
    handler = text[text.index("void freertos_risc_v_trap_handler(void)") :]
    assert TRAP in handler
    assert RESUME in handler


def test_the_first_task_is_resumed_in_vct(ported: Ported) -> None:
    text = ported.text
    assert "    virt_vct_call(xPortStartFirstTask_first);\n" in text
    # `ret` goes on under MIE, a resume under MPIE.
    assert "USR_REG->Reg.MSTATUS = (x5 & 0xFFFFFF7Fu) | ((x5 & 8) << 4);" in text


def test_a_weak_function_stays_weak(ported: Ported) -> None:
    name = "freertos_risc_v_application_interrupt_handler"
    assert f"__attribute__((weak)) void {name}(void)" in ported.text


def test_no_privileged_instruction_is_left(ported: Ported, tmp_path: Path) -> None:
    listing = compiled(ported.tree, ported.ports, tmp_path)
    assert "<freertos_risc_v_trap_handler>:" in listing
    assert not {"csrr", "csrw", "csrs", "csrc", "mret", "ecall"} & set(listing.split())
    text = re.sub(r"/\*.*?\*/", "", rest(ported.tree, ported.ports), flags=re.DOTALL)
    assert not re.search(r"\b(?:mret|csr\w+)\b|RESTORE_CONTEXT", text)


def test_floats_are_saved_under_the_originals_condition(tmp_path: Path) -> None:
    ports, text = rewritten(own(tmp_path, "fpu_on_stack"))
    (port,) = [port for port in ports if port.role == "switch"]
    assert port.proof is not None and port.proof.runs.conditions == 3
    for line in ("if (x28 == 0x6000) {", "USR_FSTORE(sp, F0, F31);", "USR_FLOAD(sp, F0, F31);"):
        assert line in text


@pytest.mark.parametrize(
    ("asm", "reason"),
    [
        ('"csrr %0, mstatus" : "=r"(m)', "which asks for mstatus, 'if (m & 8)"),
        ('"csrr %0, 0x300" : "=r"(m)', "which asks for mstatus, 'if (m & 8)"),
        ('"csrrci %0, 768, 0" : "=r"(m)', "which asks for mstatus, 'if (m & 8)"),
        ('"csrr %0, %1" : "=r"(m) : "i"(0x300)', "a control register that an operand names"),
    ],
)
def test_what_asks_whether_a_trap_holds_interrupts_off_is_told(
    tmp_path: Path, asm: str, reason: str
) -> None:
    tree = own(tmp_path, "fpu_on_stack")
    read = f"unsigned m; __asm volatile({asm});"
    (tmp_path / "choose.c").write_text(f"void choose(void) {{ {read} if (m & 8) for (;;); }}\n")
    ports = replace(tree, files=(*tree.files, tmp_path / "choose.c")).port()
    (port,) = [port for port in ports if port.role == "switch"]
    assert port.status == "escalated"
    assert "choose()" in port.reason and reason in port.reason


def test_mscratch_is_a_variable(tmp_path: Path) -> None:
    tree = own(tmp_path / "tree", "context_in_mscratch")
    ports, text = rewritten(tree)
    assert {port.role for port in ports if port.file.suffix == ".S"} == {"switch", "start"}
    assert "virt_mscratch = USR_REG->Reg.X5;" in text
    assert "csr" not in compiled(tree, ports, tmp_path)


def test_a_start_says_who_serves_traps(tmp_path: Path) -> None:
    text = rewritten(own(tmp_path, "context_in_mscratch"))[1]
    first = text[text.index("void first_task_first(void)") :]
    assert first.index("virt_trap_set((uint32_t)trap_entry);") < first.index("USR_LOAD(")


def test_a_loop_for_the_debugger_stays_one(tmp_path: Path) -> None:
    text = rewritten(own(tmp_path, "context_in_mscratch"))[1]
    assert "        return;\n    }\n    for (;;);\n}\n" in text


def test_a_loop_that_calls_the_debugger_stays_one(tmp_path: Path) -> None:
    """Somewhere else a breakpoint is an instruction that means nothing here."""
    source = own(tmp_path, "context_in_mscratch").files[0].read_text()
    assert source.count("csrr    t2, mtval\n    j       stuck") == 1
    text = source.replace("csrr    t2, mtval", "ebreak")
    changed = own(tmp_path, "context_in_mscratch", text)
    assert '    for (;;) __asm volatile("ebreak");\n' in rewritten(changed)[1]
    text = re.sub(r"(stuck:).*?j       stuck", r"\1 ebreak\n    mret", source, flags=re.DOTALL)
    said = {port.name: port for port in own(tmp_path, "context_in_mscratch", text).port()}
    assert "instruction 'ebreak' is not known" in said["trap_entry"].reason


def test_masks_keep_what_they_found(tmp_path: Path) -> None:
    ports = own(tmp_path, "masks").port()
    said = {port.name: port for port in ports if port.file.suffix == ".S"}
    for name in ("irq_save", "irq_restore", "irq_open", "irq_set", "irq_exchange", "with_masks"):
        assert said[name].proof is not None, said[name].reason


def test_bits_that_c_has_open_or_close_what_they_say(tmp_path: Path) -> None:
    text = rewritten(own(tmp_path, "masks"))[1]
    assert "    uint32_t mstatus_now = virt_mstatus();\n" in text
    assert "    virt_int_restore(VIRT_PRIMASK, (~(mstatus_now | bits) >> 3) & 1);\n" in text


def test_a_comment_behind_a_label_is_no_directive(tmp_path: Path) -> None:
    text = own(tmp_path, "masks").files[0].read_text()
    changed = re.sub(r"^(irq_save:.*\n)", r"\1# Save and close\n", text, flags=re.MULTILINE)
    assert changed != text
    said = {port.name: port for port in own(tmp_path, "masks", changed).port()}
    assert said["irq_save"].proof is not None, said["irq_save"].reason


def test_a_supervisor_call_that_says_nothing_is_one_of_the_guest(tmp_path: Path) -> None:
    tree = own(tmp_path, "masks")
    assert "    virt_vct_trig(FVM_VIRT_SVC);\n" in rewritten(tree)[1]
    text = tree.files[0].read_text().replace("    ecall", "    li      a7, 5\n    ecall")
    said = {port.name: port for port in own(tmp_path, "masks", text).port()}
    assert said["os_yield"].status == "escalated"
    assert "may read a0-a7" in said["os_yield"].reason
    assert "supervisor_call.c" in said["os_yield"].reason


def test_a_switch_by_a_call_runs_in_vct_with_its_arguments(tmp_path: Path) -> None:
    tree = own(tmp_path, "switch_by_call")
    ports, text = rewritten(tree)
    said = {port.name: port for port in ports}
    for name in ("switch_tasks", "start_tasks", "resume"):
        proof = said[name].proof
        assert said[name].role == "start" and proof is not None
    assert "uint32_t x10 = virt_vct_call(switch_tasks_first, (uint32_t)old_stack, " in text
    assert "    virt_vct_call(start_tasks_first, (uint32_t)stack);\n" in text
    compiled(tree, ports, tmp_path)


def test_a_place_to_go_on_at_stays_where_it_is(tmp_path: Path) -> None:
    tree = own(tmp_path, "switch_by_call")
    left = rest(tree, rewritten(tree)[0])
    assert "    .global resumed\nresumed:\n    li      a0, 0\n    ret\n" in left
    assert "addi    sp, sp, -60" not in left


def test_a_table_of_jumps_stays_and_its_handlers_are_c(tmp_path: Path) -> None:
    tree = own(tmp_path / "tree", "vectored")
    ports, text = rewritten(tree)
    said = {port.name: port for port in ports}
    assert "vectors" not in said and said["on_timer"].role == "switch"
    assert "(uint32_t)&vectors | 1;" in text and "virt_trap_set(x5);" in text
    assert "csr" not in compiled(tree, ports, tmp_path)
    assert rest(tree, ports).count("j       on_exception") == 7


VECTORS_WITHOUT_TYPES = """\
    .text
    .balign 64
    .option norvc
    .global vectors
vectors:
    j exception
    j tick
    j also_tick
exception:
    csrr t0, mepc
    addi t0, t0, 4
    csrw mepc, t0
    mret
tick:
also_tick:
    csrr t0, mepc
    la t1, ticks
    lw t2, 0(t1)
    addi t2, t2, 1
    sw t2, 0(t1)
    mret
{more}"""


def test_what_a_table_leads_to_needs_no_type(tmp_path: Path) -> None:
    tree = own(tmp_path / "tree", "vectored", VECTORS_WITHOUT_TYPES.format(more=""))
    ports, text = rewritten(tree)
    said = {port.name: port for port in ports}
    assert said["exception"].proof is not None and said["tick"].proof is not None
    assert "vectors" not in said and "ticks = " in text
    left = rest(tree, ports)
    assert all(f"    j {name}\n" in left for name in ("exception", "tick", "also_tick"))
    assert "void also_tick(void)" in text and "csr" not in compiled(tree, ports, tmp_path)


def test_code_that_nothing_leads_to_is_no_part_of_a_handler(tmp_path: Path) -> None:
    more = "elsewhere:\n    csrw mepc, zero\n    mret\n"
    tree = own(tmp_path, "vectored", VECTORS_WITHOUT_TYPES.format(more=more))
    said = {port.name: port for port in tree.port()}
    assert said["exception"].status == "rewritten" and said["tick"].status == "escalated"
    assert "elsewhere, line 23" in said["tick"].reason


def test_a_counted_loop_becomes_its_rounds(tmp_path: Path) -> None:
    ports, text = rewritten(own(tmp_path, "vectored"))
    assert [text.count(f"counters)[{index}]") for index in (1, 2, 3)] == [1, 1, 1]
    assert all(port.proof is not None for port in ports if port.role == "switch")


def test_the_embedded_base_has_sixteen_registers(tmp_path: Path) -> None:
    tree = own(tmp_path, "vectored")
    flags = ("-march=rv32emac", "-misa-spec=2.2", "-mabi=ilp32e", "-ffreestanding")
    ports, text = rewritten(replace(tree, options=replace(tree.options, cpu_flags=flags)))
    assert "X5, X15);" in text and "X16" not in text
    assert all(port.proof is not None for port in ports if port.role == "switch")


def test_a_section_may_leave_its_flags_to_the_linker_script(tmp_path: Path) -> None:
    text = own(tmp_path, "masks").files[0].read_text().replace(".text", ".section .fast_code")
    said = {port.name: port for port in own(tmp_path, "masks", text).port()}
    assert said["irq_save"].proof is not None


@pytest.mark.parametrize("closing", ["csrc mie, a5", "csrci mie, 8", "csrw mie, zero"])
def test_closed_lines_may_be_a_lock(tmp_path: Path, closing: str) -> None:
    text = """\
    .text
    .global lines_off
lines_off:
    li a5, 0x80
    CLOSING
    ret
    .global lines_on
lines_on:
    li a5, 0x80
    csrs mie, a5
    ret
""".replace("CLOSING", closing)
    tree = own(tmp_path, "masks", text)
    (tmp_path / "masks.h").write_text("void lines_off(void);\nvoid lines_on(void);\n")
    found = {port.name: port for port in tree.port()}
    assert found["lines_off"].status == "escalated"
    assert "virt_int_mask" in found["lines_off"].reason
    assert found["lines_on"].proof is not None


def test_a_file_without_functions_needs_nothing(tmp_path: Path) -> None:
    assert own(tmp_path, "masks", ".macro back\n    mret\n.endm\n").port() == []


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("wfi", "hyp_vct_wait"),
        ("csrc mie, t1", "'csrc mie, t1': a guest has no mie"),
        ("csrr t1, mtval", "a guest has no mtval"),
        ("csrw mcycle, t1", "a guest has no mcycle: others count with it, too"),
        (
            "rdinstret t1",
            "a guest has no instret: it would count what others run, too; read mcycle",
        ),
        ("rdtime t1", "a guest has no time: read mcycle, which becomes virt_cycles()"),
        ("csrw 0x804, t1", "a guest has no CSR 0x804, which is the vendor's"),
        ("fadd.s f0, f0, f1", "instruction 'fadd.s f0, f0, f1' is not known"),
        ("jalr t1", "calls or jumps to what has no name here"),
        (
            "beqz sp, 9f\n    tail away\n9:",
            "'tail away' leaves the handler for away(), which returns to what ra holds",
        ),
        (".4byte 0x00013027", "registers of single precision"),
        ("li t1, 0x02000000\n    sw zero, 0(t1)", "accesses the device at 0x02000000"),
        ("1: bnez t1, 1b", "has a loop"),
    ],
)
def test_what_has_no_meaning_is_refused(tmp_path: Path, line: str, reason: str) -> None:
    tree = own(tmp_path, "fpu_on_stack")
    text = tree.files[0].read_text().replace("lla     sp,", f"{line}\n    lla     sp,")
    (port,) = own(tmp_path, "fpu_on_stack", text).port()
    assert port.status == "escalated"
    assert reason in port.reason


@pytest.mark.parametrize("line", ["csrr t1, mcycle", "rdcycle t1"])
def test_a_handler_may_count_cycles(tmp_path: Path, line: str) -> None:
    """As run-time statistics do."""
    text = own(tmp_path, "fpu_on_stack").files[0].read_text()
    counting = f"{line}\n    la t0, counted\n    sw t1, (t0)\n    lla     sp,"
    tree = own(tmp_path, "fpu_on_stack", text.replace("lla     sp,", counting))
    ports, source = rewritten(tree)
    assert "= virt_cycles();\n" in source and "counted" in source
    assert "csrr" not in compiled(tree, ports, tmp_path)


def test_another_assemblers_dialect_is_refused(tmp_path: Path) -> None:
    (port,) = own(tmp_path, "masks", "    PUBLIC back\nback:\n    mret\n    END\n").port()
    assert port.status == "escalated" and "not IAR's" in port.reason


def test_a_processor_of_64_bits_is_refused(tmp_path: Path) -> None:
    tree = own(tmp_path, "context_in_mscratch")
    wide = replace(tree.options, cpu_flags=("-march=rv64imac", "-misa-spec=2.2", "-mabi=lp64"))
    (port,) = replace(tree, options=wide).port()
    assert port.status == "escalated"
    assert "64 bits" in port.reason


def test_a_register_that_nobody_restores_is_refused(tmp_path: Path) -> None:
    tree = own(tmp_path, "fpu_on_stack")
    text = tree.files[0].read_text()
    head, tail = text.rsplit("25, 26, 27, 28, 29, 30, 31", 1)
    (port,) = own(tmp_path, "fpu_on_stack", f"{head}25, 26, 27, 28, 30, 31{tail}").port()
    assert port.status == "escalated"
    assert "destroyed" in port.reason


@pytest.mark.parametrize("port_of", ["pxCurrentTCB", "somebody"])
def test_a_timer_behind_a_constant_pointer_is_the_kernels(port_of: str, tmp_path: Path) -> None:
    """FreeRTOS V10.2's handler writes it; the recipe lets the pointer lead elsewhere."""
    original = own(tmp_path, "context_in_mscratch").files[0].read_text()
    write = "    lw t3, pullMachineTimerCompareRegister\n    sw t1, 0(t3)\n"
    text = original.replace("    la      sp, interrupt", write + "    la      sp, interrupt")
    tree = own(tmp_path, "context_in_mscratch", text)
    (tmp_path / "port.c").write_text(
        "#include <stdint.h>\n#define configCLINT_BASE_ADDRESS 0x02000000\n"
        f"extern void *{port_of};\n"
        "volatile uint64_t * const pullMachineTimerCompareRegister = ( volatile uint64_t * const ) "
        "( configCLINT_BASE_ADDRESS + 0x4000 );\nvoid vPortSetupTimerInterrupt( void ) { }\n"
    )
    tree = replace(tree, files=(*tree.files, tmp_path / "port.c"))
    (found,) = [it for it in tree.port() if it.name == "trap_entry"]
    assert (found.status == "rewritten") == (port_of == "pxCurrentTCB"), found.reason
    assert port_of == "pxCurrentTCB" or "0x02004000" in found.reason


def test_a_shift_that_keeps_the_sign_is_calculated_in_c(tmp_path: Path) -> None:
    shifts = '"lw s0, 4(s1)\\n"\n"srai s0, s0, 3\\n"\n"sra s0, s0, s1\\n"\n"sw s0, 8(s1)\\n"\n'
    at = '"sw s0, 0(s1)\\n"'
    ports = naked(tmp_path, NAKED.replace(at, f"{at}\n{shifts}")).port()
    (port,) = [port for port in ports if port.role == "switch"]
    assert "proved" in port.reason
    assert "(int32_t)" in port.replacement.decode()


def test_a_naked_function_becomes_c_in_place(tmp_path: Path) -> None:
    tree = naked(tmp_path, NAKED)
    ports = tree.port()
    (port,) = [port for port in ports if port.role == "switch"]
    assert port.proof is not None, port.reason
    tree.apply(ports)
    text = code(tree.files[0].read_text())
    assert "naked" not in text and "asm" not in text
    assert "USR_REG->Reg.PC = " in text


def test_a_common_entry_runs_on_into_an_exit_that_others_use(tmp_path: Path) -> None:
    """Its header has C for whoever isn't told that it is assembled, as builds tell."""
    tree = own(tmp_path, "common_exit")
    tree = replace(tree, options=replace(tree.options, defines=("__ASSEMBLY__",)))
    ports = tree.port()
    for name in ("trap_entry", "resume_context"):
        (port,) = [port for port in ports if port.name == name]
        assert port.status == "rewritten" and "proved" in port.reason
    tree.apply([port for port in ports if port.file == tree.files[0]])
    left = tree.files[0].read_text()
    assert left.count(".cfi_startproc") == left.count(".cfi_endproc")
    assert "tail    resume_context" in left and "csrr" not in left
    (new,) = [port for port in ports if port.file.suffix == ".c"]
    text = code(new.replacement.decode())
    assert "dispatch(virt_cause(), (void *)sp);" in text
    assert "virt_vct_call(resume_context_first, (uint32_t)registers);" in text


def test_a_handler_may_take_a_stack_of_its_own_unless_it_is_on_it(tmp_path: Path) -> None:
    """The states of the proof know such a stack from the words that it takes."""
    taken = """
    la      t0, own_stack_top
    la      t1, own_stack
    blt     sp, t1, 1f
    ble     sp, t0, 2f
1:  mv      sp, t0
2:  addi    sp, sp, -8
    sw      ra, 4(sp)
    jal     x1, dispatch
    lw      ra, 4(sp)
"""
    text = own(tmp_path, "common_exit").files[0].read_text()
    assert text.count("    jal     x1, dispatch\n") == 1
    text = text.replace("    jal     x1, dispatch\n", taken)
    text += "    .bss\n    .balign 16\nown_stack:\n    .skip 1024\nown_stack_top:\n"
    text += "    .global own_stack, own_stack_top\n"
    tree = own(tmp_path, "common_exit", text)
    tree = replace(tree, options=replace(tree.options, defines=("__ASSEMBLY__",)))
    (port,) = [port for port in tree.port() if port.name == "trap_entry"]
    assert port.proof is not None, port.reason


def test_a_switch_by_a_call_may_take_as_many_arguments_as_vct_hands_on(tmp_path: Path) -> None:
    tree = own(tmp_path, "switch_by_call")
    header, source = tree.files[1], tree.files[0].read_text()
    plain = header.read_text()
    for count, status in ((7, "rewritten"), (8, "escalated")):
        more = "".join(f", uint32_t more{number}" for number in range(count - 1))
        changed = re.sub(r"(void start_tasks\(\w[^)]*)\)", rf"\1{more})", plain)
        assert changed != plain
        again = own(tmp_path / str(count), "switch_by_call", source)
        again.files[1].write_text(changed)
        said = {port.name: port for port in again.port()}
        assert said["start_tasks"].status == status, said["start_tasks"].reason
