"""The formats in which a whole call is one document; each is a module, loaded when it is used."""

from __future__ import annotations

import importlib

from scanner.report.run import Run

DOCUMENTS = ("json", "sarif", "html", "github", "markdown")


def document(form: str, run: Run) -> str:
    """The text of the report in one of DOCUMENTS."""
    text: str = importlib.import_module(f"scanner.report.{form}").render(run)
    return text
