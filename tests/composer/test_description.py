"""A description with a mistake gives one line that says where it is and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from composer.description.parse import parse
from scanner.report.errors import FvmError, MissingError
from tests.composer import systems

# (replaced text, its replacement, line:column of the error, a part of the message)
MISTAKES = [
    ('flash="32K"', 'flash="32Q"', "9:18", "'32Q'; write bytes, or a number with K or M"),
    ('flash="32K"', 'flash="-1"', "9:18", "'-1'; write bytes"),
    ('watchdog="500ms"', 'watchdog="500"', "9:50", "with us, ms or s"),
    ('tick="100Hz"', 'tick="100"', "17:39", "with Hz, kHz or MHz"),
    ('tick="100Hz"', 'tick="0.5Hz"', "17:39", "a whole number of the unit"),
    ('fpu="yes"', 'fpu="oui"', "9:40", "write one of yes, no"),
    ('fpu="yes"', 'pfu="yes"', "9:40", "no attribute 'pfu'"),
    ('priority="10"', 'priority="10" watchdog="1s"', "5:40",
     "<process> has no attribute 'watchdog'; it belongs to <vm>"),
    ('name="two" ', "", "17:3", "<vm> has no 'name'; add name="),
    ('name="two" ', 'name="Two" ', "17:7", "use at most 23 of a-z"),
    ('<tick handler="SysTick_Handler"/>', '<tik handler="x"/>', "11:5", "allowed: <project>"),
    ('<tick handler="SysTick_Handler"/>', '<tick handler="a b"/>', "11:11", "C function"),
    ('<shared name="link" size="1000">', "<shared>", "24:3", "<shared> has no 'name'"),
    ('m="8"', 'm="eight"', "4:11", "write a whole number"),
    ("<source>*.c</source></project>\n    <tick", "<source>a:b</source></project>\n    <tick",
     "10:35", "'a:b'; write a path"),
    ('<?xml version="1.0"?>', '<?xml version="1.0" encoding="KLINGON"?>', "1:1", "KLINGON"),
    ('<?xml version="1.0"?>', '<?xml version="1.0" encoding="gb2312"?>', "1:1", "as UTF-8"),
    ('path="one"', 'path="one" standard="c99; touch x"', "10:25", "as in c11"),
    ('path="one"', 'path="one" cflags="$(shell touch x)"', "10:25", "without quotes"),
    ('path="one"', 'path="one" cflags="-O1 `touch x`"', "10:25", "without quotes"),
    ('path="one"', 'path="one" ldflags="-lm &amp;&amp; touch x"', "10:25", "without quotes"),
    ("</system>", "text</system>", "2:1", "<system> contains text"),
    ("</system>", "</sytem>", "28:3", "not well-formed XML: mismatched tag"),
    ('<?xml version="1.0"?>', "<!DOCTYPE system>", "1:1", "document type declaration"),
    ('<kernel console="USART6"/>', "", "2:1", "<system> has no <kernel>"),
    ('<kernel console="USART6"/>', '<kernel console="USART6"/><kernel console="USART6"/>', "3:29",
     "a second <kernel>"),
    ('priority="10"', "", "5:3", "neither 'priority' nor a <thread>"),
    ("</system>", "<a>" * 300 + "</a>" * 300 + "</system>", "28", "nested too deeply"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "place", "message"), MISTAKES)
def test_mistakes_are_named_where_they_are(
    tmp_path: Path, old: str, new: str, place: str, message: str
) -> None:
    path = systems.write(tmp_path, (old, new))
    with pytest.raises(FvmError) as caught:
        parse(path)
    assert str(caught.value).startswith(f"{path}:{place}")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 1


def test_entities_are_never_expanded(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    path = tmp_path / "system.xml"
    path.write_text(
        f'<!DOCTYPE system [<!ENTITY e SYSTEM "file://{tmp_path}/secret">]>\n'
        '<system name="a" chip="&e;"/>'
    )
    with pytest.raises(FvmError, match="document type declaration is not allowed") as caught:
        parse(path)
    assert "secret" not in caught.value.message


def test_a_missing_description_is_exit_2(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="can't open the description") as caught:
        parse(tmp_path / "none.xml")
    assert caught.value.exit_code == 2


def test_the_schema_gives_the_defaults(tmp_path: Path) -> None:
    system = parse(systems.write(tmp_path))
    assert system.kernel.tick_hz == 1000
    assert system.kernel.slice_us == 5000
    assert system.kernel.flash == 24 * 1024
    assert system.kernel.protection
    assert system.vms[0].vm is not None
    assert system.vms[0].vm.catchup == 10
    assert system.vms[0].vm.usr_stack == 1024


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_no_damage_to_a_description_escapes_as_another_error(
    tmp_path: Path, data: st.DataObject
) -> None:
    raw = bytearray(systems.TINY.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(raw) - 1))
        end = start + data.draw(st.integers(0, 30))
        raw[start:end] = data.draw(st.binary(max_size=8))
    path = tmp_path / "system.xml"
    path.write_bytes(raw)
    try:
        parse(path)
    except FvmError as error:
        assert "\n" not in str(error)
