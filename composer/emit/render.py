"""Templates: an undefined name is an error, never an empty string."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from composer.plan import c_name

_environment = Environment(
    loader=PackageLoader("composer.emit", "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,
)
_environment.filters["c_name"] = c_name
_environment.filters["hex"] = lambda value: f"0x{value:08X}u"


def render(template: str, **values: Any) -> str:
    """The text of a template."""
    return _environment.get_template(template).render(**values)
