"""Splits a shape: its project on disk, the domain with a plan, and what comes out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from porter.interrupt_split.result import HandlerSplit
from porter.port import port_project, split_project
from porter.project.domain import Count, Domain, Frame, Split, Vector
from porter.result import PortResult
from tests.porter.helpers import DOMAIN
from tests.porter.interrupt_split.shapes import BASES, Shape

IRQ = 40


def domain_for(
    device: str,
    frame: Frame | None = None,
    counts: tuple[Count, ...] = (),
    policy: str | None = None,
) -> Domain:
    """A machine of which one line is split."""
    section = f"{device.lower()}_mid"
    split = Split("fast", device, BASES[device], 0x400, section, frame, counts, policy)
    vector = Vector(3, "irq", device, f"{device}_IRQHandler", IRQ, True, split)
    return replace(DOMAIN, vectors=(*DOMAIN.vectors[:3], vector))


def write_project(folder: Path, shape: Shape) -> Path:
    """The shape as a project."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"main.c": shape.text, **shape.files}.items():
        (folder / name).write_text(text)
    return folder


def split_shape(folder: Path, shape: Shape, domain: Domain | None = None) -> HandlerSplit:
    """What becomes of its handler."""
    found = split_project(write_project(folder, shape), domain or domain_for(shape.device))
    return found[0]


def port_shape(folder: Path, shape: Shape, domain: Domain | None = None) -> PortResult:
    """Its port."""
    return port_project(write_project(folder, shape), domain or domain_for(shape.device))
