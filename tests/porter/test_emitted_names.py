"""Whatever of the guest library the porter writes into a source, or recommends, exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.porter.example_domains import ROOT

NAME = re.compile(r"\b(?:hyp|virt)_[a-z]\w*")
CODE = frozenset({".c", ".h", ".S", ".json", ".toml", ".md", ".txt"})  # of rtos-patches
HEADERS = ("include", "arch/armv7m/include", "arch/riscv32/include")
KEYS = frozenset({"virt_id"})  # words that are none of the library's: a member of domain files


def declared() -> set[str]:
    """What the headers of the guest library declare: functions, macros, types, variables."""
    text = "\n".join(
        re.sub(r"/\*.*?\*/", " ", path.read_text("utf-8"), flags=re.S)
        for folder in HEADERS
        for path in sorted((ROOT / "fvm-runtime" / folder).rglob("*.h"))
    )
    name = rf"({NAME.pattern})"
    forms = (rf"{name}(?=\s*\()", rf"typedef\b[^;]*?\b{name}\b[^;]*;", rf"extern [^;(]*\b{name};",
             rf"struct {name}\s*\{{")  # fmt: skip
    return {found for form in forms for found in re.findall(form, text)}


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Strings of a module with their lines, documentation left out."""
    tree = ast.parse(path.read_text("utf-8"))
    documentation = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in documentation:
            if isinstance(node.value, str):
                yield node.lineno, node.value
            elif isinstance(node.value, bytes):
                yield node.lineno, node.value.decode("ascii", "replace")


def named() -> Iterator[tuple[str, str]]:
    """Names of the library with the places that write or recommend them."""
    for path in sorted((ROOT / "porter").rglob("*.py")):
        for line, text in strings(path):
            for name in NAME.findall(text):
                yield name, f"{path.relative_to(ROOT)}:{line}"
    for folder in ("porter", "rtos-patches"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in CODE:
                for name in NAME.findall(path.read_text("utf-8")):
                    yield name, str(path.relative_to(ROOT))


def test_it_is_declared_in_the_guest_headers() -> None:
    known = declared()
    assert {"hyp_irq_ena", "virt_int_mask", "virt_handler"} <= known
    found = [(name, place) for name, place in named() if name not in KEYS]
    assert len({name for name, _ in found}) > 20, "the porter's names aren't found"
    # A name that the porter puts together: `virt_int_` and an end.
    missing = [
        f"{place}: {name}"
        for name, place in found
        if name not in known
        and not (name.endswith("_") and any(whole.startswith(name) for whole in known))
    ]
    assert missing == []


@pytest.mark.parametrize("call", ["hyp_putc", "hyp_reboot", "virt_cycles"])
def test_it_is_in_the_library_too(call: str) -> None:
    """Declared and never defined ends the user's build all the same."""
    folders = ("guest", "shared", "arch/armv7m/guest", "arch/cortexm/guest")
    text = "\n".join(
        path.read_text("utf-8")
        for folder in folders
        for path in sorted((ROOT / "fvm-runtime" / folder).glob("*.[cS]"))
    )
    assert re.search(rf"\b{call}\b", text)
