"""Handler shapes: what is split, what goes between the sections, what a person must look at."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from porter.interrupt_split.result import HandlerSplit
from porter.judging.verdict import Status
from porter.output.unified_diff import unified_diff
from porter.port import port_project
from porter.source.edit import apply_edits
from tests.porter.helpers import escalations
from tests.porter.interrupt_split.shapes import ESCALATED, SPLIT, Shape
from tests.porter.interrupt_split.splitting import domain_for, port_shape, split_shape


def _id(shape: Shape) -> str:
    return shape.name


def _bottom(split: HandlerSplit) -> str:
    assert split.function is not None
    return apply_edits(split.function.text.file.data, split.edits).decode()


@pytest.mark.parametrize("shape", SPLIT, ids=_id)
def test_split_handler(shape: Shape, tmp_path: Path) -> None:
    split = split_shape(tmp_path, shape)
    assert split.escalated == []
    assert split.mid is not None and split.writers is not None
    assert tuple(field.name for field in split.fields) == shape.record
    assert split.writers.middle == shape.writes
    assert not set(split.writers.middle) & set(split.writers.vm)
    for text in shape.bottom:
        assert text in _bottom(split)
    for text in shape.middle:
        assert text in split.mid.code()
    code = split.mid.code()
    assert not any(word in code for word in ("for (", "while (", "goto"))


@pytest.mark.parametrize("shape", SPLIT[::6], ids=_id)
def test_ported_handler_needs_no_second_port_and_its_diff_applies(
    shape: Shape, tmp_path: Path
) -> None:
    folder = tmp_path / "p"
    ported = port_shape(folder, shape)
    diff = b"".join(unified_diff(port.file, port.edits) for port in ported.files)
    (tmp_path / "x.diff").write_bytes(diff)
    command = ["git", "apply", "--unsafe-paths", f"--directory={folder}", str(tmp_path / "x.diff")]
    subprocess.run(command, cwd="/", check=True)
    for port in ported.files:
        assert (folder / port.file.name).read_bytes() == port.ported
    again = port_project(folder, domain_for(shape.device))
    assert not any(port.edits for port in again.files)
    assert not any("interrupt-split" in text for text in escalations(again))


@pytest.mark.parametrize("shape", ESCALATED, ids=_id)
def test_escalated_handler_stays_whole(shape: Shape, tmp_path: Path) -> None:
    split = split_shape(tmp_path, shape)
    assert split.mid is None and not split.edits
    reasons = "\n".join(split.escalated)
    assert shape.escalates in reasons
    assert all(": " in reason for reason in split.escalated)
    assert reasons.startswith(("main.c:", "fast.s:", "fast.h:"))


def test_port_escalates_what_cannot_be_split_and_leaves_its_text(tmp_path: Path) -> None:
    shape = next(shape for shape in ESCALATED if shape.name == "guard in the VM's memory")
    result = port_shape(tmp_path, shape)
    [port] = result.files
    [verdict] = [v for v in port.verdicts if v.rule == "interrupt-split"]
    assert verdict.status is Status.ESCALATED
    assert "depends on flags" in verdict.reason
    assert not port.edits


def test_lines_end_as_they_did(tmp_path: Path) -> None:
    shape = SPLIT[0]
    result = port_project(_with_crlf(tmp_path, shape), domain_for(shape.device))
    [port] = [port for port in result.files if port.edits]
    assert b"_bottom(" in port.ported
    assert port.ported.count(b"\n") == port.ported.count(b"\r\n")


def _with_crlf(folder: Path, shape: Shape) -> Path:
    (folder / "main.c").write_bytes(shape.text.replace("\n", "\r\n").encode())
    return folder


def test_an_arm_that_is_not_compiled_is_no_part_of_the_handler(tmp_path: Path) -> None:
    body = (
        "    uint32_t sr = USART1->SR;\n#ifdef POLLED\n    sr = flags;\n#endif\n"
        "    if (sr & USART_SR_RXNE) put(USART1->DR);\n"
    )
    shape = Shape("arms", "void USART1_IRQHandler(void)\n{\n" + body + "}\n")
    unknown = split_shape(tmp_path / "a", shape)
    assert "how the project is compiled isn't known" in unknown.escalated[0]
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "Makefile").write_text(
        "all:\n\tarm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -c main.c -o main.o\n"
    )
    known = split_shape(tmp_path / "b", shape)
    assert known.escalated == []
    assert [field.name for field in known.fields] == ["SR", "DR"]
