"""What may be thrown away, and what may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.porter.helpers import escalations, port_files, port_text

HEADER = b"""\
typedef struct { volatile unsigned CR, CFGR, ENR; } RCC_TypeDef;
typedef struct { volatile unsigned SR, DR; } USART_TypeDef;
#define RCC ((RCC_TypeDef *)0x40023800)
#define USART1 ((USART_TypeDef *)0x40011000)
#define CPUID (*(volatile unsigned *)0xE000ED00)
void assert(int);
void use(unsigned);
#define USE(x) use(x)
#define BOTH(x) (USE(x), 0)
"""


def body(folder: Path, text: str) -> tuple[str, list[str]]:
    """A function body, ported, without white space at the ends of lines; and what is open."""
    source = HEADER + b"static unsigned keep;\nvoid f(void)\n{\n" + text.encode() + b"}\n"
    result = port_files(folder, {"main.c": source})
    ported = result.files[0].ported.decode() if result.files else source.decode()
    return ported.split("void f(void)\n{\n")[1].rsplit("}", 1)[0], escalations(result)


@pytest.mark.parametrize(
    "text",
    [
        "    use(CPUID);\n",
        "    USE(CPUID); // as use(\n",
        "    keep = BOTH(RCC->CFGR); // as use(\n",
        "    keep = RCC->CFGR;\n    use(keep);\n",
        "    unsigned x = CPUID;\n    if (x == 3) {\n        use(1);\n    }\n",
        "    unsigned x = CPUID;\n    unsigned *p = &x;\n    use(*p);\n",
        "    unsigned x = CPUID;\n    while (x--) {\n        use(0);\n    }\n",
        "    unsigned x = CPUID;\n    for (;;) {\n        if (x)\n            break;\n    }\n",
        "    RCC->CR = USART1->DR;\n",
        "    RCC->CR = next();\n",
        "    if ((RCC->CR |= 1) != 0) {\n        use(1);\n    }\n",
        "    while ((RCC->CR & 2) == 0 || keep) {\n    }\n",
        "    while ((RCC->CR & 2) == 0) {\n        use(1);\n    }\n",
    ],
)
def test_what_matters_elsewhere_is_not_thrown_away(tmp_path: Path, text: str) -> None:
    ported, reasons = body(tmp_path, text)
    assert reasons
    for word in ("use(", "USART1->DR", "next()"):
        assert (word in text) <= (word in ported)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("    assert(CPUID != 3);\n    use(1);\n", "    use(1);\n"),
        (
            "    unsigned t = RCC->CR;\n    t |= 1;\n    RCC->CR = t;\n    t = USART1->SR;\n"
            "    use(t);\n",
            "    unsigned t;\n    t = USART1->SR;\n    use(t);\n",
        ),
        ("    if (keep)\n        RCC->CR = 1;\n    use(1);\n", "    use(1);\n"),
        (
            "    if (keep)\n        RCC->CR = 1;\n    else\n        use(1);\n",
            "    if (keep)\n        { }\n    else\n        use(1);\n",
        ),
        ("    while (!(RCC->CR & 2))\n        ;\n    use(1);\n", "    use(1);\n"),
        (
            "    unsigned n = 0, s;\n    do {\n        s = RCC->CR & 2;\n        n++;\n"
            "    } while (s == 0 && n != 9);\n    if (s) {\n        RCC->CFGR = 1;\n    }\n"
            "    use(1);\n",
            "    use(1);\n",
        ),
        (
            "    for (int i = 0; i < 9; i++) {\n        RCC->CR = i;\n        use(i);\n    }\n",
            "    for (int i = 0; i < 9; i++) {\n        use(i);\n    }\n",
        ),
    ],
)
def test_what_nothing_depends_on_goes(tmp_path: Path, text: str, after: str) -> None:
    ported, reasons = body(tmp_path, text)
    assert reasons == []
    assert ported == after


def test_a_static_goes_with_everything_that_used_it(tmp_path: Path) -> None:
    text = HEADER + (
        b"static unsigned id; /* of the core */\n\nvoid f(void)\n{\n    id = CPUID;\n    use(1);\n}"
        b"\n\nvoid g(void)\n{\n    assert(id == 3);\n    use(2);\n}\n"
    )
    ported, port = port_text(tmp_path, text)
    assert b" id" not in ported.split(b"void use(unsigned);")[1]
    assert all(verdict.status.value == "rewritten" for verdict in port.verdicts)


def test_a_static_that_a_macro_mentions_stays(tmp_path: Path) -> None:
    text = HEADER + (
        b"static unsigned id;\n#define IS_NEW() (id > 3)\nvoid f(void)\n{\n    id = CPUID;\n}\n"
    )
    assert escalations(port_files(tmp_path, {"main.c": text}))


def test_a_comment_that_heads_live_code_stays(tmp_path: Path) -> None:
    text = "    /* Set up, then go. */\n    RCC->CR = 1;\n    use(1);\n\n    /* Gone. */\n" \
        "    RCC->CR = 2; /* and this */\n\n    use(2);\n"  # fmt: skip
    ported, _ = body(tmp_path, text)
    assert ported == "    /* Set up, then go. */\n    use(1);\n\n    use(2);\n"


@pytest.mark.parametrize("last", ["default:", "case 3: /* the other */"])
def test_a_label_of_a_switch_keeps_a_statement(tmp_path: Path, last: str) -> None:
    head = b"#define ENR (*(volatile unsigned *)0x40023844)\n"
    body = f"    {last}\n        ENR |= 1;\n        ENR |= 2;\n    }}\n}}\n".encode()
    code = head + b"void f(int x)\n{\n    switch (x) {\n    case 2: g(); break;\n" + body
    ported, _ = port_text(tmp_path / "last", code)
    assert f"    {last}\n        ;\n    }}\n".encode() in ported
    arm = b"        ENR |= 2;\n#ifdef MORE\n    case 4: g();\n#endif\n"
    ported, _ = port_text(tmp_path / "arm", code.replace(b"        ENR |= 2;\n", arm))
    assert f"    {last}\n        ;\n#ifdef MORE\n".encode() in ported, "it may be the last"
