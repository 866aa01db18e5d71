"""All generated files of a plan, by their names relative to the output folder."""

from __future__ import annotations

from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from composer.debug.scripts import gdb_scripts, launch_record
from composer.emit import domain, hypervisor, kernel, makefile, records
from composer.plan import HYPERVISOR, Plan
from porter.output.generated import Stamp, c_file, json_file, make_file, short_hash

_ADVICE = "Don't edit: change the description and run fvmkit compose."


def generate(plan: Plan, out: Path) -> dict[str, str]:
    """Relative name -> content. `out` is absolute; nothing is written."""
    stamp = Stamp(version("fvmkit"), _input_hash(plan), _ADVICE)
    c_texts = {
        "kernel/fvm_config.h": kernel.config_header(plan),
        "kernel/fvm_tables.c": kernel.tables(plan),
        "kernel/fvm_lines.inc": kernel.line_vectors(plan),
        "kernel/fvm_stubs.c": kernel.line_stubs(plan),
        "kernel/kernel.ld": kernel.linker_script(plan),
        f"{HYPERVISOR}/hyp_config.h": hypervisor.policy_header(plan),
        f"{HYPERVISOR}/hyp_config.c": hypervisor.policy_tables(plan),
    }
    make_texts = {
        "Makefile": makefile.all_makefile(plan),
        "kernel/Makefile": makefile.kernel_makefile(plan, out / "kernel"),
        **gdb_scripts(plan, out),
    }
    json_texts = {
        "system.json": records.system_record(plan, out),
        "debug/launch.json": launch_record(plan, out),
    }
    for part in plan.domains:
        c_texts[f"{part.name}/fvm_domain.h"] = domain.header(plan, part)
        c_texts[f"{part.name}/fvm_startup.c"] = domain.startup(plan, part)
        c_texts[f"{part.name}/{part.name}.ld"] = domain.linker_script(part)
        make_texts[f"{part.name}/Makefile"] = makefile.domain_makefile(plan, part, out / part.name)
        json_texts[f"{part.name}.domain.json"] = records.domain_record(plan, part, out)
    return {
        **{name: c_file(text, stamp) for name, text in c_texts.items()},
        **{name: make_file(text, stamp) for name, text in make_texts.items()},
        **{name: json_file(record, stamp) for name, record in json_texts.items()},
    }


def _input_hash(plan: Plan) -> str:
    """Over the description and what is known of the chip."""
    chip = (files("composer.chips") / "data" / f"{plan.chip.name}.json").read_bytes()
    return short_hash(plan.system.file.read_bytes() + b"\0" + chip)
