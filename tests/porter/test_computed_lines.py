"""NVIC registers by computed addresses: a line is known if all is right for every line."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.judging.verdict import Status
from tests.porter.helpers import escalations, port_files, port_text

_HEAD = b"""#include <stdint.h>
#define ISER ((volatile uint32_t *)0xE000E100)
#define ICER ((volatile uint32_t *)0xE000E180)
#define ISPR ((volatile uint32_t *)0xE000E200)
#define IPR ((volatile uint32_t *)0xE000E400)
#define IP8 ((volatile uint8_t *)0xE000E400)
typedef struct { int irq, prio; } Device;
extern const uint8_t irqs[3];
int next(void);
"""


def _ported(folder: Path, body: str) -> str:
    ported, port = port_text(folder, _HEAD + body.encode() + b"\n")
    assert not [it for it in port.verdicts if it.status is not Status.REWRITTEN]
    return ported.decode().splitlines()[-1]


@pytest.mark.parametrize(
    ("body", "becomes"),
    [
        ("uint8_t r = n / 32, b = n % 32; ISER[r] |= (1 << b);", "hyp_irq_ena(n);"),
        ("uint32_t m = 1u << (n & 31); *(ISER + (n >> 5)) = m;", "hyp_irq_ena(n);"),
        ("uint8_t r, b; r = n / 32; b = n - 32 * r; ICER[r] = 1u << b;", "hyp_irq_dis(n);"),
        ("*(volatile uint32_t *)(0xE000E100 + (n / 32) * 4) = 1 << (n % 32);", "hyp_irq_ena(n);"),
        ("ISER[(n - 16) >> 5] = 1 << ((n - 16) & 31);", "hyp_irq_ena(n - 16);"),
        ("ISER[irqs[n] / 32] = 1 << (irqs[n] % 32);", "hyp_irq_ena(irqs[n]);"),
        ("ISER[(uint32_t)d->irq >> 5UL] = (uint32_t)(1UL << (d->irq & 0x1FUL));",
         "hyp_irq_ena(d->irq);"),
        ("for (int i = 0; i < 40; i++) ICER[i / 32] = 1u << (i % 32);",
         "for (int i = 0; i < 40; i++) hyp_irq_dis(i);"),
        ("return ISPR[n >> 5] & (1u << (n & 31)) ? 1 : 0;",
         "return virt_vct_pending(fvm_virt_of_irq(n)) ? 1 : 0;"),
        ("IP8[d->irq] = d->prio << 4;", "virt_vct_prio(fvm_virt_of_irq(d->irq), d->prio);"),
        ("*(volatile uint8_t *)(0xE000E400 + n) = p << 4;",
         "virt_vct_prio(fvm_virt_of_irq(n), p);"),
        ("*(IP8 + n) = p;", "virt_vct_prio(fvm_virt_of_irq(n), p >> 4);"),
        ("IPR[n >> 2] = (IPR[n >> 2] & ~(0xFF << ((n & 3) * 8))) | (p << ((n & 3) * 8 + 4));",
         "virt_vct_prio(fvm_virt_of_irq(n), p);"),
        ("IPR[n / 4] &= ~(0xFFu << (8 * (n % 4))); IPR[n / 4] |= (p << 4) << (8 * (n % 4));",
         "virt_vct_prio(fvm_virt_of_irq(n), 0); virt_vct_prio(fvm_virt_of_irq(n), p);"),
        ("IPR[7] = (IPR[7] & ~0xFF) | (3 << 4);", "virt_vct_prio(fvm_virt_of_irq(28), 3);"),
    ],
)  # fmt: skip
def test_whatever_leads_to_the_line(tmp_path: Path, body: str, becomes: str) -> None:
    head = "int f(int n, int p, Device *d) { "
    line = _ported(tmp_path, f"{head}{body} }}")
    assert line.removeprefix(head).removeprefix("(void)p; (void)d; ").endswith(f"{becomes} }}")


@pytest.mark.parametrize(
    "body",
    [
        "ISER[n / 32] = 1 << (n % 16);",
        "ISER[n / 16] = 1 << (n % 32);",
        "ISER[n / 32] = 3 << (n % 32);",
        "ISER[n / 32] = 1 << (p % 32);",
        "int r = n / 32; n += 1; ISER[r] = 1 << (n % 32);",
        "int r = n / 32; r++; ISER[r] = 1 << (n % 32);",
        "int r = 0; if (n > 31) r = 1; ISER[r] = 1 << (n % 32);",
        "int r = line / 32; next(); ISER[r] = 1 << (line % 32);",
        "int r = d->irq / 32; d->irq++; ISER[r] = 1 << (d->irq % 32);",
        "int r = irqs[n] / 32; next(); ISER[r] = 1 << (irqs[n] % 32);",
        "int r = n / 32; g(&r); ISER[r] = 1 << (n % 32);",
        "uint8_t m = n * 2; ISER[m / 32] = 1 << (n % 32);",
        "ISER[next() / 32] = 1 << (next() % 32);",
        "IPR[n / 4] = p << (8 * (n % 4) + 4);",
        "IPR[n / 4] &= ~(0xFF << (4 * (n % 4)));",
        "IPR[n / 4] |= p << (8 * (n % 4) + 5);",
        "IPR[n / 4] &= ~(0xFF << (8 * (p % 4))); IPR[n / 4] |= 0x30 << (8 * (n % 4));",
    ],
)
def test_what_is_wrong_for_one_line_is_nobodys(tmp_path: Path, body: str) -> None:
    text = _HEAD + f"int line;\nvoid f(int n, int p, Device *d) {{ {body} }}\n".encode()
    ported, port = port_text(tmp_path, text)
    escalated = [it for it in port.verdicts if it.status is Status.ESCALATED]
    assert escalated
    assert body.rsplit("; ", 1)[-1].encode() in ported


_ADDS = """void prio(uint8_t n, uint32_t p)
{
    uint8_t word = n / 4, lane = n % 4;
    *(IPR + word) |= p << (8 * lane + 4);
}
"""


@pytest.mark.parametrize(
    ("calls", "is_known"),
    [
        ("prio(28, 3); prio(37, 5);", True),
        ("prio(28, 3); prio(28, 5);", False),  # 7 on the old chip
        ("prio(next(), 3);", False),
        ("for (int i = 0; i < 4; i++) prio(28, i);", False),
        ("prio(28, next());", False),
        ("prio(28, 3); if (next()) prio(next(), 5);", False),
    ],
)
def test_bits_are_added_to_a_priority_of_nought(tmp_path: Path, calls: str, is_known: bool) -> None:
    text = _HEAD + f"{_ADDS}int main(void) {{ {calls} }}\n".encode()
    ported, _ = port_text(tmp_path, text)
    assert (b"    virt_vct_prio(fvm_virt_of_irq(n), p);" in ported) == is_known


FILLED = """\
#include <string.h>
typedef struct { volatile unsigned ISER[8], R0[24], ICER[8]; } NVIC_Type;
#define NVIC ((NVIC_Type *)0xE000E100)
"""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("memset((void *)NVIC->ICER, 0xFF, sizeof(NVIC->ICER));", "hyp_irq_dis(line)"),
        ("memcpy((void *)&NVIC->ISER[0], (unsigned[]){1, 2}, 8);", "hyp_irq_ena(line)"),
        ("memset((void *)(&NVIC->ICER[0]), 0xFF, 32);", "hyp_irq_dis(line)"),
        ("memcpy(kept, (void *)NVIC->ISER, 8);", "the address of NVIC->ISER"),
    ],
)
def test_lines_that_a_function_of_the_library_fills(tmp_path: Path, code: str, told: str) -> None:
    text = FILLED + f"unsigned kept[8];\nvoid f(void) {{ {code} }}\n"
    (reason,) = escalations(port_files(tmp_path, {"main.c": text.encode()}))
    assert told in reason and ("() writes NVIC->" in reason) == ("hyp_" in told)


def test_a_priority_that_is_read_changed_and_written_is_no_probe(tmp_path: Path) -> None:
    """A probe writes a value of its own, and then back what it read."""
    head = b"#define IPR ((volatile unsigned *)0xE000E400)\n"
    body = b"unsigned r = IPR[n]; r &= ~0xFFu; r |= p; IPR[n] = r;"
    change = b"void f(unsigned n, unsigned p) { " + body + b" }\n"
    assert escalations(port_files(tmp_path / "change", {"main.c": head + change}))
    boost = b"void f(int n) { unsigned r = IPR[n]; IPR[n] = 0; g(); IPR[n] = r; }\n"
    assert escalations(port_files(tmp_path / "boost", {"main.c": head + boost}))
    body = b"unsigned r = IPR[0], m; IPR[0] = 255; m = IPR[0]; IPR[0] = r;"
    probe = b"unsigned f(void) { " + body + b" return 0; }\n"
    assert not escalations(port_files(tmp_path / "probe", {"main.c": head + probe}))
