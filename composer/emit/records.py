"""The JSON files that other parts read: one a domain, and one of the whole system."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from composer.description.model import section_name
from composer.emit.boot_state import boot_registers
from composer.layout.allocate import Placed
from composer.plan import SVC_NUMBER, DomainPlan, Plan, Vector
from composer.sources import Sources


def domain_record(plan: Plan, domain: DomainPlan, out: Path) -> dict[str, Any]:
    """DIR/<name>.domain.json: input of the porter and the scanner."""
    source = domain.source
    vm = source.vm if source else None
    return {
        "schema": 1,
        "system": plan.system.name,
        "name": domain.name,
        "kind": domain.kind,
        "arch": plan.chip.core.arch,
        "chip": plan.chip.name,
        "priority_bits": plan.chip.priority_bits,
        "clock_hz": plan.cpu_hz,
        "kernel_tick_hz": plan.system.kernel.tick_hz,
        "tick_hz": vm.tick_hz if vm else None,
        "priority": vm.priority if vm else None,
        "catchup": vm.catchup if vm else None,
        "watchdog_ms": vm.watchdog_us // 1000 if vm else None,
        "fpu": domain.fpu,
        "writes_log": domain in plan.writers,
        "cpu_flags": list(plan.chip.core.machine_flags(domain.fpu)),
        "wfi": domain.index == 0,  # the hypervisor: its idle thread puts the core to sleep
        "semihosting": False,  # there is no debugger on the chip
        "svc": [SVC_NUMBER],
        "strict": source is not None and source.strict,
        "vectors": [_vector(plan, vector) for vector in domain.vectors],
        "events": [
            {
                "name": e.name,
                "id": e.number,
                "direction": "receive" if e.receiver == domain.index else "send",
            }
            for e in plan.events
            if domain.index in (e.sender, e.receiver)
        ],
        "grants": [
            {"name": g.name, "kind": g.kind, "base": g.base, "size": g.size, "access": g.access}
            for g in domain.grants
        ],
        "pins": [
            {"port": p.port, "pin": p.number} for p in (source.pins if source else ()) if p.runtime
        ],
        "own_pins": [{"port": p.port, "pin": p.number} for p in (source.pins if source else ())],
        "registers": [asdict(register) for register in boot_registers(plan)],
        "splits_of": [source.project.split] if source and source.project.split else [],
        "project": _project(domain, out),
        "sources": _sources(domain.sources),
        "includes": _includes(domain.sources),
        "defines": list(source.project.defines) if source else [],
        "replaced": _replaced(domain.sources),
        "beside": _beside(domain.sources, out),
        "acknowledged": [
            {"rule": a.rule, "file": a.file, "text": a.text, "reason": a.reason}
            for a in (source.acknowledged if source else ())
        ],
        "startup": list(domain.sources.startup) if domain.sources else [],
        "entry": source.project.entry if source else "main",
    }


def system_record(plan: Plan, out: Path) -> dict[str, Any]:
    """DIR/system.json: input of build, link and run."""
    board, waivers = plan.board, plan.system.waivers
    kernel = {
        "name": "kernel",
        "elf": "kernel/kernel.elf",
        "flash": _place(plan.kernel_flash),
        "ram": _place(plan.kernel_ram),
    }
    return {
        "schema": 1,
        "name": plan.system.name,
        "description": os.path.relpath(plan.system.file.resolve(), out),
        "waivers": None if waivers is None else os.path.relpath(waivers.resolve(), out),
        "chip": plan.chip.name,
        "compiler": f"{plan.chip.core.tool_prefix}gcc",
        "board": board.name if board else None,
        "qemu": {"machine": board.machine, "serial": list(board.serial)} if board else None,
        "cpu_hz": plan.cpu_hz,
        "kernel_tick_hz": plan.system.kernel.tick_hz,
        "console": plan.system.kernel.console,
        "protection": plan.system.kernel.protection,
        "flash": {"base": plan.flash.base, "size": plan.flash.size},
        "ram": {"base": plan.ram.base, "size": plan.ram.size},
        "kernel": kernel,
        "domains": [
            {
                "index": d.index,
                "name": d.name,
                "kind": d.kind,
                "elf": f"{d.name}/{d.name}.elf",
                "policy": f"{d.name}.domain.json",
                "flash": _place(d.flash),
                "ram": _place(d.ram),
                "devices": [g.name for g in d.grants if g.kind == "device"],
                "project": _project(d, out),
                "sections": _sections(d, out),
            }
            for d in plan.domains
        ],
        "shared": [
            {
                "name": s.name,
                **_place(s.place),
                "users": {plan.domains[i].name: access for i, access in s.access.items()},
            }
            for s in plan.shared
        ],
    }


def _place(placed: Placed) -> dict[str, int]:
    return {"base": placed.base, "size": placed.granted, "asked": placed.size}


def _vector(plan: Plan, vector: Vector) -> dict[str, Any]:
    record: dict[str, Any] = {
        "virt_id": vector.virt_id,
        "name": vector.name,
        "kind": vector.kind,
        "handler": vector.handler,
    }
    if vector.kind == "irq":
        record["irq"] = vector.number
        record["mask"] = "transparent" if vector.transparent else "maskable"
        record["split"] = _split(plan, vector)
    if vector.kind == "event":
        record["event"] = vector.number
    return record


def _split(plan: Plan, vector: Vector) -> dict[str, Any] | None:
    split = vector.split
    if split is None:
        return None
    frame, device = split.frame, plan.chip.devices[split.device]
    return {
        "process": split.process,
        "device": device.name,
        "base": device.base,
        "size": device.size,
        "section": section_name(vector.name),
        "frame": frame
        and {"register": frame.register, "ends": list(frame.ends), "longest": frame.longest},
        "counts": [{"name": c.name, "register": c.register, "bits": c.bits} for c in split.counts],
        "policy": split.policy,
    }


def _project(domain: DomainPlan, out: Path) -> dict[str, str | None]:
    sources = domain.sources
    if sources is None or sources.original is None or sources.ported is None:
        return {"original": None, "ported": None}
    return {
        "original": os.path.relpath(sources.original, out),
        "ported": os.path.relpath(sources.ported, out),
    }


def _sections(domain: DomainPlan, out: Path) -> dict[str, Any] | None:
    """The VM whose mid-sections a process runs, and the files that `fvmkit split` writes."""
    if domain.sources is None or domain.source is None or not domain.sources.sections:
        return None
    return {
        "of": domain.source.project.split,
        "files": [os.path.relpath(file, out) for file in domain.sources.sections],
    }


def _sources(sources: Sources | None) -> list[str]:
    """The legacy files that the image is built from, relative to the project."""
    ported = sources.ported if sources else None
    if sources is None or ported is None:
        return []
    return [file.relative_to(ported).as_posix() for file in sources.built if ported in file.parents]


def _includes(sources: Sources | None) -> list[str]:
    """Folders of headers, relative to the project."""
    ported = sources.ported if sources else None
    if sources is None or ported is None:
        return []
    inside = (it for it in sources.includes if it == ported or ported in it.parents)
    return [it.relative_to(ported).as_posix() for it in inside]


def _beside(sources: Sources | None, out: Path) -> list[str]:
    """Files next to the description that replace some of the project's, relative to `out`."""
    ported = sources.ported if sources else None
    if sources is None or ported is None:
        return []
    outside = (it for it in sources.built if ported not in it.parents)
    return [os.path.relpath(it, out) for it in outside if it not in sources.sections]


def _replaced(sources: Sources | None) -> list[dict[str, str]]:
    return [{"file": file, "by": by} for file, by in (sources.replaced if sources else ())]
