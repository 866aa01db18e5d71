"""The proof on RV32 finds wrong transcriptions; its decoder reads what the assembler wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.context_switch.accept import with_runtime
from porter.context_switch.assemble import assemble, compile_object
from porter.context_switch.object_file import Function
from porter.context_switch.proof import Model, NotProved
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.riscv.compare import compare
from porter.context_switch.proof.riscv.decode import Code
from porter.context_switch.proof.riscv.equivalence import equivalent, explore
from porter.context_switch.riscv.decode import decode_all
from tests.porter.context_switch.campaign import campaign
from tests.porter.context_switch.mutants import Mutant
from tests.porter.context_switch.riscv.campaign import HANDLERS, Handler, riscv
from tests.porter.context_switch.riscv.trees import own
from tests.porter.context_switch.trees import Tree

pytestmark = pytest.mark.campaign

CALLS = (("tick", 0), ("choose", 0))
WRONG = {
    "USR_STORE(sp + 2, X3, X31);": "USR_STORE(sp + 2, X3, X30);",
    "sp[31] = USR_REG->Reg.PC;": "sp[31] = USR_REG->Reg.PC + 4;",
    "if (x28 == 0x6000)": "if (x28 != 0)",
    "USR_FSTORE(sp, F0, F31);": "USR_FSTORE(sp, F0, F30);",
    "x10 = x6[1];": "x10 = x6[2];",
    "USR_REG->Reg.MSTATUS = sp[32];": "",
    "USR_REG->Reg.X1 = *sp;": "USR_REG->Reg.X1 = sp[1];",
    "USR_REG->Reg.X2 = (uint32_t)(sp + 33);": "USR_REG->Reg.X2 = (uint32_t)(sp + 32);",
    "*(fvm_word *)running = (uint32_t)sp;": "",
    "sp[32] = USR_REG->Fpu.FCSR;": "",
}


class Subject:
    """A handler and its port, which can be spoiled."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._options = with_runtime(tree.options)
        self._original = assemble(tree.files[0], tree.options).object.raw
        (companion,) = [it for it in tree.port() if it.file.name.endswith("_fvm.c")]
        self.text = companion.replacement.decode()

    def images(self, text: str) -> tuple[Image, Image]:
        """The original and a port, linked."""
        source = self._tree.root / "spoiled.c"
        source.write_text(text)
        ported = compile_object(source, self._options, "-O2")
        command = (self._options.compiler, *self._options.cpu_flags)
        names = ("timer_trap", "timer_trap")
        return link_pair(self._original, ported, names, dict(CALLS), command)


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Subject:
    return Subject(own(tmp_path_factory.mktemp("fpu"), "fpu_on_stack"))


@pytest.mark.parametrize("right", WRONG)
def test_both_oracles_catch_a_wrong_statement(subject: Subject, right: str) -> None:
    assert subject.text.count(right) == 1
    original, ported = subject.images(subject.text.replace(right, WRONG[right]))
    model = Model("switch", CALLS)
    natives, ways = explore(original, model)
    with pytest.raises(NotProved, match="sp = 0x"):
        compare(original, ported, model, ways, 400, 100)
    with pytest.raises(NotProved, match=r"\(z3\), from x2 = 0x"):
        equivalent(natives, ported, model)


@pytest.mark.parametrize("handler", HANDLERS, ids=lambda handler: str(handler.name))
def test_the_solver_proves_no_mistake(handler: Handler) -> None:
    found = campaign(riscv(handler), 10, 7)
    assert len(found["emulator and solver"]) >= 3
    assert "emulator" not in found


def test_another_trap_handler_is_a_mistake(tmp_path: Path) -> None:
    """Both have a name in both images, at other addresses in each."""
    handler = next(it for it in HANDLERS if it.name == "first_task")
    spoiled = riscv(handler)(tmp_path)
    right = "virt_trap_set((uint32_t)trap_entry);"
    assert right in spoiled.body
    other = f"extern void {handler.name}(void);\n    " + right.replace("trap_entry", handler.name)
    wrong = Mutant("another", spoiled.body.replace(right, other))
    assert spoiled.verdict(wrong) == "emulator and solver"


def test_two_decoders_read_the_same(tmp_path: Path) -> None:
    """The transcriber's and the proof's, on every instruction of a handler."""
    tree = own(tmp_path, "fpu_on_stack")
    unit = assemble(tree.files[0], tree.options).object
    function: Function = next(it for it in unit.functions if it.name == "timer_trap")
    image = Image(((0, unit.data[function.section]),), 0, {}, 1)
    code = Code(image)
    checked = 0
    for address, one in decode_all(unit, function, ()).items():
        other = code.at(address)
        assert (one.size, one.address) == (other.size, other.address)
        if one.name in ("lw", "flw"):
            assert (one.rd, one.rs1, one.immediate) == (other.rd, other.rs1, other.offset)
            checked += 1
        elif one.name in ("sw", "fsw"):
            assert (one.rs2, one.rs1, one.immediate) == (other.second, other.rs1, other.offset)
            checked += 1
        elif one.name == "addi" and one.rs1:
            assert (one.rd, one.immediate & 0xFFFF_FFFF) == (other.rd, other.second)
            checked += 1
    assert checked > 100
