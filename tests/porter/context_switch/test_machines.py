"""Each machine is known by its compiler, by its objects and to the proof, as the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.assemble import assemble, machine_of
from porter.context_switch.codes import code_of
from porter.context_switch.cortex_m import CORTEX_M
from porter.context_switch.machine import Machine
from porter.context_switch.machines import MACHINES
from porter.context_switch.proof.targets import target_of
from porter.context_switch.riscv.machine import RV32
from porter.project.compile_options import CompileOptions
from tests.porter.context_switch.riscv.trees import GCC, IMAC
from tests.porter.context_switch.trees import M3

COMPILED = {
    CORTEX_M: CompileOptions((), (), M3, "arm-none-eabi-gcc"),
    RV32: CompileOptions((), (), IMAC, GCC),
}
ABSENT = {
    CORTEX_M: CompileOptions((), (), M3, "absent-gcc"),
    RV32: CompileOptions((), (), IMAC, "absent-gcc"),
}


@pytest.mark.parametrize("machine", MACHINES, ids=lambda it: it.elf)
def test_compiler_object_and_proof_name_the_same_machine(tmp_path: Path, machine: Machine) -> None:
    source = tmp_path / "plain.c"
    source.write_text("int one(void) { return 1; }\n")
    options = COMPILED[machine]
    assembly = assemble(source, options)
    assert machine_of(options) is machine
    assert assembly.object.machine is machine
    assert target_of(assembly.object.raw).elf == machine.elf
    (function,) = assembly.object.functions
    code = code_of(assembly, function)
    assert code.texts() and code.checks and not code.needs_port()


@pytest.mark.parametrize("machine", MACHINES, ids=lambda it: it.elf)
def test_options_name_the_machine_where_the_compiler_cannot_be_asked(machine: Machine) -> None:
    assert machine_of(ABSENT[machine]) is machine
