"""Standard control and status registers: numbers, names, and who may reach them.

A number tells that itself: bits 11 and 10 both set make it read-only, bits 9 and 8 are the lowest
privilege (The RISC-V Instruction Set Manual, volume II, 20211203, table 2.1; names: tables 2.2 to
2.6, and 20190608 for the N extension).
"""

from __future__ import annotations

FLOATING_POINT = range(0x001, 0x004)
COUNTERS = frozenset({*range(0xC00, 0xC20), *range(0xC80, 0xCA0)})
USER_INTERRUPTS = frozenset({0x000, 0x004, 0x005, *range(0x040, 0x045)})
OTHER_EXTENSIONS = frozenset({0x008, 0x009, 0x00A, 0x00F, 0x011, 0x015, 0x017, 0xC20, 0xC21, 0xC22})
"""Of the vector, stack, entropy and table-jump extensions, which RV32IMAFC is without."""

_LEVELS = "user", "supervisor", "hypervisor", "machine"

_NAMES = {
    0x000: "ustatus", 0x001: "fflags", 0x002: "frm", 0x003: "fcsr", 0x004: "uie", 0x005: "utvec",
    0x008: "vstart", 0x009: "vxsat", 0x00A: "vxrm", 0x00F: "vcsr", 0x011: "ssp", 0x015: "seed",
    0x017: "jvt", 0x040: "uscratch", 0x041: "uepc", 0x042: "ucause", 0x043: "utval", 0x044: "uip",
    0x100: "sstatus", 0x102: "sedeleg", 0x103: "sideleg", 0x104: "sie", 0x105: "stvec",
    0x106: "scounteren", 0x10A: "senvcfg", 0x140: "sscratch", 0x141: "sepc", 0x142: "scause",
    0x143: "stval", 0x144: "sip", 0x14D: "stimecmp", 0x15D: "stimecmph", 0x180: "satp",
    0x300: "mstatus", 0x301: "misa", 0x302: "medeleg", 0x303: "mideleg", 0x304: "mie",
    0x305: "mtvec", 0x306: "mcounteren", 0x30A: "menvcfg", 0x310: "mstatush", 0x31A: "menvcfgh",
    0x320: "mcountinhibit", 0x340: "mscratch", 0x341: "mepc", 0x342: "mcause", 0x343: "mtval",
    0x344: "mip", 0x34A: "mtinst", 0x34B: "mtval2", 0x740: "mnscratch", 0x741: "mnepc",
    0x742: "mncause", 0x744: "mnstatus", 0x747: "mseccfg", 0x757: "mseccfgh", 0x7A0: "tselect",
    0x7A1: "tdata1", 0x7A2: "tdata2", 0x7A3: "tdata3", 0x7A4: "tinfo", 0x7A5: "tcontrol",
    0x7A8: "mcontext", 0x7B0: "dcsr", 0x7B1: "dpc", 0x7B2: "dscratch0", 0x7B3: "dscratch1",
    0xB00: "mcycle", 0xB02: "minstret", 0xB80: "mcycleh", 0xB82: "minstreth",
    0xC00: "cycle", 0xC01: "time", 0xC02: "instret", 0xC20: "vl", 0xC21: "vtype", 0xC22: "vlenb",
    0xC80: "cycleh", 0xC81: "timeh", 0xC82: "instreth",
    0xF11: "mvendorid", 0xF12: "marchid", 0xF13: "mimpid", 0xF14: "mhartid", 0xF15: "mconfigptr",
    **{0x3A0 + n: f"pmpcfg{n}" for n in range(16)},
    **{0x3B0 + n: f"pmpaddr{n}" for n in range(64)},
    **{0x320 + n: f"mhpmevent{n}" for n in range(3, 32)},
    **{0xB00 + n: f"mhpmcounter{n}" for n in range(3, 32)},
    **{0xB80 + n: f"mhpmcounter{n}h" for n in range(3, 32)},
    **{0xC00 + n: f"hpmcounter{n}" for n in range(3, 32)},
    **{0xC80 + n: f"hpmcounter{n}h" for n in range(3, 32)},
}  # fmt: skip


def register_name(number: int) -> str:
    """The standard's name, else the number as an assembler takes it."""
    return _NAMES.get(number, f"0x{number:03x}")


def lowest_level(number: int) -> str:
    """`user`, `supervisor`, `hypervisor` or `machine`."""
    return _LEVELS[number >> 8 & 3]


def is_read_only(number: int) -> bool:
    """Whether a write traps in every mode."""
    return number >> 10 == 3
