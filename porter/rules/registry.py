"""All rules, in the order in which they look at a file."""

from __future__ import annotations

from porter.rules.definition import Definition
from porter.rules.mask_intrinsic import MaskIntrinsic
from porter.rules.nvic_call import NvicCall
from porter.rules.rule import Rule
from porter.rules.unknown import Unknown
from porter.rules.wait import Wait

RULES: tuple[Rule, ...] = (
    Definition(),
    MaskIntrinsic(),
    Wait(),
    NvicCall(),
    Unknown(),
)
