"""Every rule with what there is to say of it, for `fvmkit explain` and for reports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from scanner.arch.registry import ARCHITECTURES, architecture
from scanner.rules.file_rules import FILE_RULES, FileRule
from scanner.rules.model import AddressRule, InstructionRule


@dataclass(frozen=True)
class Entry:
    """One rule on the cores that share it; `cores` is empty for rules on the file as a whole."""

    rule: str
    cores: tuple[str, ...]
    why: str
    hardware: str
    fix: str
    manual: str


@cache
def catalogue() -> dict[str, tuple[Entry, ...]]:
    """Entries by rule id, rules on files first. An id may mean different things on two families."""
    cores: dict[InstructionRule | AddressRule, list[str]] = {}
    for name in ARCHITECTURES:
        core = architecture(name)
        rules: tuple[InstructionRule | AddressRule, ...] = (*core.rules, *core.address_rules)
        for rule in rules:
            cores.setdefault(rule, []).append(name)
    found: dict[str, tuple[Entry, ...]] = {}
    for file_rule in FILE_RULES.values():
        found[file_rule.id] = (_entry(file_rule, ()),)
    for rule, names in cores.items():
        found[rule.id] = (*found.get(rule.id, ()), _entry(rule, tuple(names)))
    return found


def _entry(rule: FileRule | InstructionRule | AddressRule, cores: tuple[str, ...]) -> Entry:
    return Entry(rule.id, cores, rule.why, rule.hardware, rule.fix, rule.manual)
