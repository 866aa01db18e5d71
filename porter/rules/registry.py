"""Who decides, in which order: on the sites of a file, on what was decided, on the project."""

from __future__ import annotations

from porter.interrupt_split.verdict import judge_splits
from porter.judging.asm_devices import judge_asm_devices
from porter.judging.docket import Judge
from porter.judging.handler_loops import judge_handler_loops
from porter.judging.linker_symbols import judge_linker_symbols
from porter.judging.made_by_macro import judge_made
from porter.judging.own_types import judge_own_types
from porter.judging.ram_functions import judge_ram_functions
from porter.judging.spent_macros import judge_spent_macros
from porter.judging.start_up import judge_start_up
from porter.judging.thresholds import judge_thresholds
from porter.judging.tick_sources import judge_ticks
from porter.judging.unneeded_reads import judge_unneeded_reads
from porter.judging.vectors import judge_vectors
from porter.judging.watchdogs import judge_watchdogs
from porter.rules.address import Address
from porter.rules.ambiguous import Ambiguous
from porter.rules.asm_statement import AsmStatementRule
from porter.rules.boot_table import BootTable
from porter.rules.breakpoint import Breakpoint
from porter.rules.context_switch import NotTranscribed, Transcribed
from porter.rules.core_clock import CoreClock
from porter.rules.cycles import Cycles
from porter.rules.definition import Definition
from porter.rules.dropped import Dropped
from porter.rules.foreign_device import ForeignDevice
from porter.rules.handler_wait import HandlerWait
from porter.rules.hidden_operand import HiddenOperand
from porter.rules.icsr import Icsr
from porter.rules.interrupt_attribute import InterruptAttribute
from porter.rules.kernel_register import KernelRegister
from porter.rules.leap import Leap
from porter.rules.library_call import LibraryCall
from porter.rules.lost_in_macro import LostInMacro
from porter.rules.mask_intrinsic import MaskIntrinsic
from porter.rules.mask_state import MaskState
from porter.rules.memory_address import MemoryAddress
from porter.rules.naked_body import NakedBody, judge_naked
from porter.rules.never_runs import NeverRuns
from porter.rules.no_counterpart import NoCounterpart
from porter.rules.not_compiled import NotCompiled
from porter.rules.nvic_call import NvicCall
from porter.rules.nvic_register import NvicRegister
from porter.rules.parameters import Parameters
from porter.rules.pin_bit import PinBit
from porter.rules.pins import Pins
from porter.rules.polled_timer import PolledTimer, judge_polled
from porter.rules.priority_grouping import PriorityGrouping
from porter.rules.recipe_condition import RecipeCondition
from porter.rules.recipe_function import RecipeFunction
from porter.rules.reset import Reset
from porter.rules.riscv_block import RiscvBlock
from porter.rules.rule import Revision, Rule
from porter.rules.set_up_macro import SetUpMacro
from porter.rules.set_vector import SetVector
from porter.rules.split_statement import SplitStatement
from porter.rules.supervisor_prototype import SupervisorPrototype
from porter.rules.switched_off import SwitchedOff
from porter.rules.system_call import SystemCall
from porter.rules.tick_config import TickConfig
from porter.rules.tick_register import TickRegister
from porter.rules.timeout import Timeout
from porter.rules.undefined_block import UndefinedBlock
from porter.rules.unknown import Unknown
from porter.rules.unlinked import Unlinked
from porter.rules.unused import Unused
from porter.rules.wait import Wait
from porter.rules.watchdog import Watchdog

RULES: tuple[Rule, ...] = (
    SwitchedOff(),
    Transcribed(),
    RecipeCondition(),
    RecipeFunction(),
    SupervisorPrototype(),
    Definition(),
    Dropped(),
    UndefinedBlock(),
    Ambiguous(),
    ForeignDevice(),
    MemoryAddress(),
    MaskState(),
    MaskIntrinsic(),
    Wait(),
    SystemCall(),
    SetVector(),
    NvicCall(),
    TickConfig(),
    CoreClock(),
    Icsr(),
    Reset(),
    PolledTimer(),
    TickRegister(),
    Cycles(),
    Pins(),
    PinBit(),
    Watchdog(),
    SetUpMacro(),
    PriorityGrouping(),
    KernelRegister(),
    BootTable(),
    NvicRegister(),
    Timeout(),
    Breakpoint(),
    Leap(),
    HiddenOperand(),
    AsmStatementRule(),
    InterruptAttribute(),
    NoCounterpart(),
    LibraryCall(),
    NotCompiled(),
    Unused(),
    RiscvBlock(),
    Parameters(),
    Address(),
    Unknown(),
)
"""The first one that understands a site decides; the last one takes what is left."""

REVISIONS: tuple[Revision, ...] = (
    LostInMacro(),
    SplitStatement(),
    NakedBody(),
    HandlerWait(),
    NotTranscribed(),
    NeverRuns(),
    Unlinked(),
)
"""They look at a file when every site of it has a verdict."""

JUDGES: tuple[Judge, ...] = (
    judge_start_up,
    judge_asm_devices,
    judge_linker_symbols,
    judge_made,
    judge_naked,
    judge_own_types,
    judge_ram_functions,
    judge_vectors,
    judge_thresholds,
    judge_handler_loops,
    judge_ticks,
    judge_polled,
    judge_watchdogs,
    judge_unneeded_reads,
    judge_spent_macros,
    judge_splits,
)
"""They look at all files together, in the end."""
