"""Templates of the page: everything is escaped, an undefined name is an error."""

from __future__ import annotations

from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from composer.description.units import show_size

_environment = Environment(
    loader=PackageLoader("composer.report", "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    autoescape=True,
)
_environment.filters["hex"] = lambda value: f"0x{value:08x}"
_environment.filters["size"] = show_size


def render(template: str, **values: Any) -> str:
    """The text of a template."""
    return _environment.get_template(template).render(**values)
