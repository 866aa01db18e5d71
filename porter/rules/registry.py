"""All rules, in the order in which they look at a file; the last one takes what is left."""

from __future__ import annotations

from porter.rules.address import Address
from porter.rules.ambiguous import Ambiguous
from porter.rules.asm_statement import AsmStatementRule
from porter.rules.boot_table import BootTable
from porter.rules.core_clock import CoreClock
from porter.rules.cycles import Cycles
from porter.rules.definition import Definition
from porter.rules.foreign_device import ForeignDevice
from porter.rules.hidden_operand import HiddenOperand
from porter.rules.icsr import Icsr
from porter.rules.interrupt_attribute import InterruptAttribute
from porter.rules.kernel_register import KernelRegister
from porter.rules.mask_intrinsic import MaskIntrinsic
from porter.rules.mask_state import MaskState
from porter.rules.no_counterpart import NoCounterpart
from porter.rules.not_compiled import NotCompiled
from porter.rules.nvic_call import NvicCall
from porter.rules.nvic_register import NvicRegister
from porter.rules.parameters import Parameters
from porter.rules.pins import Pins
from porter.rules.recipe_condition import RecipeCondition
from porter.rules.recipe_function import RecipeFunction
from porter.rules.reset import Reset
from porter.rules.riscv_block import RiscvBlock
from porter.rules.rule import Rule
from porter.rules.set_up_macro import SetUpMacro
from porter.rules.system_call import SystemCall
from porter.rules.tick_config import TickConfig
from porter.rules.tick_register import TickRegister
from porter.rules.timeout import Timeout
from porter.rules.undefined_block import UndefinedBlock
from porter.rules.unknown import Unknown
from porter.rules.unused import Unused
from porter.rules.wait import Wait
from porter.rules.watchdog import Watchdog

RULES: tuple[Rule, ...] = (
    RecipeCondition(),
    RecipeFunction(),
    Definition(),
    UndefinedBlock(),
    Ambiguous(),
    ForeignDevice(),
    MaskState(),
    MaskIntrinsic(),
    Wait(),
    SystemCall(),
    NvicCall(),
    TickConfig(),
    CoreClock(),
    Icsr(),
    Reset(),
    TickRegister(),
    Cycles(),
    Pins(),
    Watchdog(),
    SetUpMacro(),
    KernelRegister(),
    BootTable(),
    NvicRegister(),
    Timeout(),
    HiddenOperand(),
    AsmStatementRule(),
    InterruptAttribute(),
    NoCounterpart(),
    NotCompiled(),
    Unused(),
    RiscvBlock(),
    Parameters(),
    Address(),
)

LAST_RULE: Rule = Unknown()
