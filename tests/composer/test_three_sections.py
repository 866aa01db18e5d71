"""`<split>`: what it stands for, and the rules that it must keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from composer.build import build
from composer.description.parse import parse
from composer.emit.generate import generate
from composer.resolve import resolve
from porter.output.generated import write_all
from scanner.report.errors import FvmError
from tests.composer import systems

PROCESS = """<process name="middle" flash="4K" ram="2K">
    <project split="one"/>
    <thread name="usart1_mid" priority="20" stack="512"/>
  </process>
  <vm name="one" """
SPLIT = '<irq name="USART1" handler="USART1_IRQHandler"><split process="middle" ring="512"/></irq>'
CHANGES = (
    ('<vm name="one" ', PROCESS),
    ('<irq name="USART1" handler="USART1_IRQHandler"/>', SPLIT),
)

# (replaced text, its replacement, parts of the message)
BREACHES = [
    ('<split process="middle"', '<split process="x"', ["no process 'x'", "beater, middle"]),
    ('<split process="middle"', '<split process="beater"',
     ["'beater' isn't built from"]),
    ('<project split="one"/>', '<project split="tow"/>', ["no such VM", "one, two"]),
    ('<project split="one"/>', '<project builtin="heartbeat"/>',
     ["isn't built from mid-sections of 'one'", '<project split="one"/>']),
    ('name="usart1_mid"', 'name="usart2_mid"',
     ["no thread for the mid-section of USART1", '<thread name="usart1_mid"']),
    ('ring="512"', 'ring="512" device="USART3"', ["'USART3' isn't granted to 'one'"]),
    ('ring="512"', 'ring="100"', ["ring of 100 B", "at least 128"]),
    ('ring="512"/>', 'ring="512"><count name="a" register="SR" bits="0"/></split>', ["no bits"]),
    ('ring="512"/>', 'ring="512">' + '<count name="a" register="SR" bits="1"/>' * 5 + "</split>",
     ["at most 4"]),
    ('ring="512"/>', 'ring="512"><frame register="DR" ends="13" longest="0"/></split>',
     ["longest frame is 0 records", "choose longest from 1 on"]),
    ('ring="512"/>', 'ring="512"><frame register="DR" ends="13" longest="1000"/></split>',
     ["longest frame is 1000 records", "at most 56 wait"]),
    ('ring="512"/>', 'ring="512"><policy function="sieve"/></split>',
     ["'middle' has no source for the policy 'sieve'", "<source>"]),
    ('ring="512"/>', 'ring="512"><frame register="DR" ends="13,10"/></split>',
     ["'ends' of <frame> is '13,10'", "one blank between them"]),
    ('ring="512"/>', 'ring="512"><frame register="DR" ends="CR"/></split>', ["ends"]),
    ('<irq name="USART2"', '<irq name="USART1"', ["USART1", "claimed by"]),
]  # fmt: skip


def split_text(*changes: tuple[str, str]) -> str:
    text = systems.TINY
    for old, new in (*CHANGES, *changes):
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def test_a_process_without_any_section_is_refused(tmp_path: Path) -> None:
    whole = ('<split process="middle" ring="512"/>', "")
    with pytest.raises(FvmError, match="no <irq> of 'one' is split to 'middle'"):
        systems.plan_of(tmp_path, text=split_text(whole))


@pytest.mark.parametrize(("old", "new", "parts"), BREACHES)
def test_a_breach_is_one_error_at_its_place(
    tmp_path: Path, old: str, new: str, parts: list[str]
) -> None:
    with pytest.raises(FvmError) as caught:
        systems.plan_of(tmp_path, text=split_text((old, new)))
    message = str(caught.value)
    assert message.startswith(str(tmp_path / "system.xml:"))
    for part in parts:
        assert part in message


def test_the_line_is_the_process_s_and_the_vector_the_vm_s(tmp_path: Path) -> None:
    texts = generate(systems.plan_of(tmp_path, text=split_text()), tmp_path)
    tables = texts["kernel/fvm_tables.c"]
    assert "[37] = {.kind = FVM_ROUTE_SIGNAL, .target = 5, .virt_id = 3, .bottom = 0}" in tables
    assert "line_arch_close(37);\n    signal_send(5);" in texts["kernel/fvm_stubs.c"]
    assert "own_line_stub line_37, fvm_stub_37" in texts["kernel/fvm_lines.inc"]
    header = texts["middle/fvm_domain.h"]
    for name in ("CAP_USART1 ", "CAP_USART1_DONE ", "CAP_USART1_POST ", "SHM_USART1_RING "):
        assert f"#define FVM_{name}" in header
    assert "extern struct fvm_split fvm_split_USART1;" in texts["one/fvm_domain.h"]
    startup = texts["one/fvm_startup.c"]
    assert "hyp_vct_phys" not in startup
    assert "expect(hyp_vct_evt(FVM_EVT_USART1_POST, FVM_VIRT_USART1));" in startup
    assert startup.index("fvm_split_attach") < startup.index("expect(hyp_vct_lck())")


def test_events_of_a_split_take_no_vector(tmp_path: Path) -> None:
    plan = systems.plan_of(tmp_path, text=split_text())
    one = next(d for d in plan.domains if d.name == "one")
    assert [v.name for v in one.vectors] == ["SWITCH", "TICK", "SVC", "USART1", "to-one"]


def test_both_sides_get_the_device_and_the_ring_and_nobody_else(tmp_path: Path) -> None:
    plan = systems.plan_of(tmp_path, text=split_text())
    owners = {
        name: [d.name for d in plan.domains if name in [g.name for g in d.grants]]
        for name in ("USART1", "USART1_RING")
    }
    assert owners == {"USART1": ["middle", "one"], "USART1_RING": ["middle", "one"]}


def test_the_porter_is_told_the_plan(tmp_path: Path) -> None:
    counted = 'ring="512"><count name="overrun" register="SR" bits="0x8"/></split>'
    text = split_text(('ring="512"/>', counted))
    texts = generate(systems.plan_of(tmp_path, text=text), tmp_path)
    assert '"section": "usart1_mid"' in texts["one.domain.json"]
    assert '"name": "overrun"' in texts["one.domain.json"]
    assert "split/one/usart1_mid.c" in texts["middle/Makefile"]


def test_build_says_how_to_write_a_section_that_is_missing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    plan = resolve(parse(systems.write(tmp_path, text=split_text())), out)
    write_all(out, generate(plan, out))
    with pytest.raises(FvmError) as caught:
        build(out, lambda _line: None)
    assert f"no file {out}/split/one/usart1_mid.c" in str(caught.value)
    command = f"fvmkit split {tmp_path}/one --domain {out}/one.domain.json --out {out}/split/one"
    assert command in str(caught.value)
