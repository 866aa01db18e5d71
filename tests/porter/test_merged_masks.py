"""A read of the mask that becomes one operation with the mask after it: what goes, and when."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import port_text

_LOCK = b"#define LOCK() pm = __get_PRIMASK(); __disable_irq()"
_SAVE = b"#define LOCK() pm = virt_int_save(VIRT_PRIMASK);"


@pytest.mark.parametrize(
    "behind",
    [
        b"\n#define UNLOCK() shared++\nunsigned pm;\n",
        b"\r\n#define UNLOCK() shared++\r\nunsigned pm;\r\n",
        b"\nvoid o(void) { LOCK(); }\n",
        b"\n\n/* how many users */\nstatic int users = 3;\n",
        b" /* no\n   semicolon */\nunsigned pm;\n",
        b" // no semicolon\nunsigned pm;\n",
        b"\n",
        b"",
    ],
)
def test_a_macro_body_ends_without_a_semicolon(tmp_path: Path, behind: bytes) -> None:
    ported, _ = port_text(tmp_path, _LOCK + behind)
    before, merged, after = ported.partition(_SAVE)
    assert b"LOCK" not in before
    assert merged
    assert after.lstrip(b" ") == behind.lstrip(b" ")


def test_the_arm_behind_such_a_macro_stays(tmp_path: Path) -> None:
    rest = b"\n#else\n#define LOCK() (void)0\n#endif\nunsigned pm;\n"
    ported, _ = port_text(tmp_path, b"#if defined(__arm__)\n" + _LOCK + rest)
    assert _SAVE in ported
    assert ported.endswith(rest)


@pytest.mark.parametrize("indent", [b"", b"    "])
def test_the_last_line_of_a_macro_is_the_mask(tmp_path: Path, indent: bytes) -> None:
    text = (
        b"#define LOCK() pm = __get_PRIMASK(); \\\n" + indent + b"__disable_irq()\nunsigned pm;\n"
    )
    ported, _ = port_text(tmp_path, text)
    assert ported.endswith(_SAVE + b" \\\n" + indent + b"\nunsigned pm;\n")


def test_the_branch_of_an_if_at_the_end_of_a_macro(tmp_path: Path) -> None:
    text = b"#define WAIT() x = 1; if (x) __enable_fault_irq()\nunsigned x;\n"
    ported, _ = port_text(tmp_path, text)
    assert ported == b"#define WAIT() x = 1; \nunsigned x;\n"


@pytest.mark.parametrize(
    "lines",
    [
        b"    unsigned p = __get_PRIMASK();\n#ifdef LOCK_TOO\n    __disable_irq();\n#endif\n",
        b"    unsigned p;\n#ifdef ASK\n    p = __get_PRIMASK();\n#endif\n    __disable_irq();\n",
        b"    unsigned p =\n#ifdef ASK\n        __get_PRIMASK();\n#else\n        0;\n#endif\n"
        b"    __disable_irq();\n",
        b"    unsigned p = __get_PRIMASK();\n#ifdef A\n    shared++;\n#endif\n"
        b"    __disable_irq();\n",
    ],
)
def test_a_directive_between_read_and_mask(tmp_path: Path, lines: bytes) -> None:
    text = b"unsigned masked(void)\n{\n" + lines + b"    return p;\n}\n"
    ported, _ = port_text(tmp_path, text)
    query = lines.replace(b"__get_PRIMASK()", b"virt_int_query(VIRT_PRIMASK)")
    assert query.replace(b"__disable_irq()", b"virt_int_mask(VIRT_PRIMASK)") in ported


def test_read_and_mask_under_one_condition(tmp_path: Path) -> None:
    text = (
        b"unsigned f(void)\n{\n    unsigned p = 0;\n#ifdef LOCK\n    p = __get_PRIMASK();\n"
        b"    __disable_irq();\n#endif\n    return p;\n}\n"
    )
    ported, _ = port_text(tmp_path, text)
    assert b"#ifdef LOCK\n    p = virt_int_save(VIRT_PRIMASK);\n#endif\n" in ported
