"""Broken text: no crash, no silent skip, nothing changed outside the edits."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from porter.file_port import account
from porter.judging.verdict import Status
from porter.output.unified_diff import unified_diff
from porter.source.c_lexer import lex
from scanner.report.errors import InternalError
from tests.porter.example_domains import EXAMPLE
from tests.porter.helpers import escalations, port_files, port_text

SHAPES = sorted((Path(__file__).parent / "cplusplus").glob("*.cpp"))

PIECES = [
    b"__disable_irq();", b"asm volatile(", b'"cpsid i\\n"', b");", b"{", b"}", b"(", b")", b";",
    b"#if A\n", b"\n#else\n", b"\n#endif\n", b"\n#define M(x) ", b"\\\n", b"void f(void)", b"int x",
    b"SCB->VTOR = ", b"SysTick->CTRL", b" |= 7", b"RCC->CR", b" & ", b"while (", b"if (", b"else ",
    b"do ", b"return ", b"0xE000ED04", b"*(volatile unsigned *)", b"GPIOA->BSRR = 1 << 5;", b"/*",
    b"*/", b"//", b"'", b'"', b"\r\n", b"\xff", b"x = ", b"x", b",", b"->", b"NVIC_EnableIRQ(37)",
    b"__set_PRIMASK(x)", b"x = __get_PRIMASK();", b"IWDG->KR = 0xAAAA;", b"__attribute__((naked))",
]  # fmt: skip


@settings(
    max_examples=75, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=40))
@example(pieces=[b"asm volatile(", b"__disable_irq();", b");"])
def test_any_text_is_accounted_for(pieces: list[bytes], tmp_path: Path) -> None:
    text = b"".join(pieces)
    ported, port = port_text(tmp_path, text)
    for verdict in port.verdicts:
        assert verdict.reason
        assert 0 <= verdict.site.start < verdict.site.end <= len(text)
    tokens = [token.text for token in lex(text).tokens]
    before = [b"", *tokens]
    if any(t == b"__disable_irq" and p != b"->" for p, t in zip(before, tokens, strict=False)):
        assert any(verdict.site.what == "__disable_irq" for verdict in port.verdicts)
    if port.edits:
        assert unified_diff(port.file, port.edits) or ported == text
        again, _ = port_text(tmp_path, ported)
        if all(verdict.status is Status.REWRITTEN for verdict in port.verdicts):
            assert again == ported


@pytest.mark.parametrize("digits", ["0123456789ABCDEF", "0123456789", "00000000009"])
def test_digits_in_an_assembler_file_need_be_no_number(digits: str, tmp_path: Path) -> None:
    text = f'    .text\nb:  .ascii "{digits}"\nf:  cpsid i\n    bx lr\n'
    assert escalations(port_files(tmp_path, {"a.s": text.encode()}))


@pytest.mark.parametrize("name", ["sensor-node/src/main.c", "motor-controller/src/gpio.c"])
@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_mutilated_file_does_not_stop_the_port(
    name: str, data: st.DataObject, tmp_path: Path
) -> None:
    text = bytearray((EXAMPLE / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 30))
        text[place : place + length] = data.draw(
            st.sampled_from([b"", b"{", b"}", b"(", b"\n#if 1\n"])
        )
    result = port_files(tmp_path, {"main.c": bytes(text)})
    assert result.files_read == 1


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_mutilated_file_of_cplusplus_doesnt_either(data: st.DataObject, tmp_path: Path) -> None:
    text = bytearray(data.draw(st.sampled_from(SHAPES)).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 30))
        text[place : place + length] = data.draw(
            st.sampled_from([b"", b"{", b"}", b"(", b"<", b"::", b"\n#if 1\n"])
        )
    result = port_files(tmp_path, {"main.cpp": bytes(text)})
    assert result.files_read == 1


def test_a_type_that_the_grammar_missed_is_none(tmp_path: Path) -> None:
    table = b"\t{37, 4, &IN04, 1},\n\t{38, 9, &IN09, 1},\n"
    text = table + b"void f(void) { *(volatile unsigned *)0xE0001004 = 1; }\n"
    assert escalations(port_files(tmp_path, {"main.cpp": text}))


@settings(max_examples=200, deadline=None)
@given(data=st.binary(max_size=300))
def test_the_lexer_takes_any_bytes(data: bytes) -> None:
    lexed = lex(data)
    for token in lexed.tokens:
        assert data[token.start : token.end] == token.text
    starts = [token.start for token in lexed.tokens]
    assert starts == sorted(starts)


def test_deep_nesting_and_huge_macros_end(tmp_path: Path) -> None:
    text = (
        b"#define A0 __disable_irq()\n"
        + b"".join(b"#define A%d A%d A%d A%d\n" % (n, n - 1, n - 1, n - 1) for n in range(1, 40))
        + b"void f(void) { A39; " + b"(" * 400 + b"1" + b")" * 400 + b"; " + b"{" * 300 + b"}" * 300
        + b"}\n"
    )  # fmt: skip
    ported, _ = port_text(tmp_path, text)
    assert b"#define A0 virt_int_mask(VIRT_PRIMASK)" in ported


def test_a_site_without_a_verdict_is_an_internal_error(tmp_path: Path) -> None:
    _, port = port_text(tmp_path, b"void f(void) { __disable_irq(); }\n")
    with pytest.raises(InternalError) as error:
        account([verdict.site for verdict in port.verdicts], {})
    assert error.value.exit_code == 3
