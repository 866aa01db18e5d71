"""Words for Arm's instructions, taken apart as the unified assembler language says: the base, `s`
for the flags, a condition, and behind dots the types of operands and the width.

Whichever base is the longest is meant: `teq` isn't `t` if equal, `bls` is `b`, `muls` sets flags.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

CONDITIONS = ("eq", "ne", "cs", "hs", "cc", "lo", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt",
              "gt", "le")  # fmt: skip
CONDITIONAL = r"(?:" + "|".join((*CONDITIONS, "al")) + r")?(?:\.[nw])?"
"""What may stand behind a base, for patterns."""

_FLAGGED = """
    adc add and asr bic cpy eor lsl lsr mla mov mul mvn neg orn orr ror rrx rsb rsc sbc smlal
    smull sub umlal umull
"""
_PLAIN = """
    adr b bfc bfi bkpt bl blx blxns bx bxj bxns cbnz cbz cdp cdp2 clrex clz cmn cmp cps cpsid
    cpsie cpy csdb dbg dmb dsb esb fldmdbd fldmdbs fldmdbx fldmiad fldmias fldmiax fmrx fmstat
    fmxr fstmdbd fstmdbs fstmdbx fstmiad fstmias fstmiax hlt isb it lda ldab ldaex ldaexb ldaexh
    ldah ldc ldc2 ldc2l ldcl ldm ldmda ldmdb ldmea ldmed ldmfa ldmfd ldmia ldmib ldr ldrb ldrbt
    ldrd ldrex ldrexb ldrexd ldrexh ldrh ldrht ldrsb ldrsbt ldrsh ldrsht ldrt mcr mcr2 mcrr mcrr2
    mls movt movw mrc mrc2 mrrc mrrc2 mrs msr nop pkhbt pkhtb pld pldw pli pop pssbb push qadd
    qadd16 qadd8 qasx qdadd qdsub qsax qsub qsub16 qsub8 rbit rev rev16 revsh sadd16 sadd8 sasx
    sbfx sdiv sel setend sev sevl sg shadd16 shadd8 shasx shsax shsub16 shsub8 smc smlabb smlabt
    smlad smladx smlalbb smlalbt smlald smlaldx smlaltb smlaltt smlatb smlatt smlawb smlawt smlsd
    smlsdx smlsld smlsldx smmla smmlar smmls smmlsr smmul smmulr smuad smuadx smulbb smulbt smultb
    smultt smulwb smulwt smusd smusdx ssat ssat16 ssax ssbb ssub16 ssub8 stc stc2 stc2l stcl stl
    stlb stlex stlexb stlexh stlh stm stmda stmdb stmea stmed stmfa stmfd stmia stmib str strb
    strbt strd strex strexb strexd strexh strh strht strt svc swi swp swpb sxtab sxtab16 sxtah
    sxtb sxtb16 sxth tbb tbh teq tst tt tta ttat ttt uadd16 uadd8 uasx ubfx udf udiv uhadd16
    uhadd8 uhasx uhsax uhsub16 uhsub8 umaal uqadd16 uqadd8 uqasx uqsax uqsub16 uqsub8 usad8 usada8
    usat usat16 usax usub16 usub8 uxtab uxtab16 uxtah uxtb uxtb16 uxth vabs vadd vcmp vcmpe vcvt
    vcvta vcvtb vcvtm vcvtn vcvtp vcvtr vcvtt vdiv vfma vfms vfnma vfnms vldm vldmdb vldmia vldr
    vlldm vlstm vmla vmls vmov vmrs vmsr vmul vneg vnmla vnmls vnmul vpop vpush vrintr vrintx
    vrintz vscclrm vsqrt vstm vstmdb vstmia vstr vsub wfe wfi yield
"""
_SET_FLAGS = frozenset(_FLAGGED.split())
_OTHERS = frozenset(_PLAIN.split())
BASES = _SET_FLAGS | _OTHERS | {it + "s" for it in _SET_FLAGS}
"""Words without a condition."""
_ENDS = frozenset((*CONDITIONS, "al"))


class Mnemonic(NamedTuple):
    """`base`: without `s`; `condition`: "" for always."""

    base: str
    condition: str


@lru_cache(maxsize=1 << 12)
def split(word: str) -> Mnemonic:
    """The parts of a word in small letters. One that isn't Arm's is a base as a whole."""
    head = word.partition(".")[0]
    if (base := _base(head)) is not None:
        return Mnemonic(base, "")
    if head[-2:] in _ENDS and (base := _base(head[:-2])) is not None:
        return Mnemonic(base, "" if head.endswith("al") else head[-2:])
    return Mnemonic(word, "")


def _base(word: str) -> str | None:
    if word not in BASES:
        return None
    return word[:-1] if word not in _OTHERS and word not in _SET_FLAGS else word
