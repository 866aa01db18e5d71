"""Every compressed instruction of RV32 as the 32-bit instruction that it stands for.

Source: The RISC-V Instruction Set Manual, volume I (20191213), chapter 16. Without double precision
the encodings of C.FLD, C.FSD and their stack forms are free; WCH puts loads and stores of bytes and
halfwords there (XW). They are expanded to these: on a core without XW they are illegal.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[Any]
"""Unsigned numbers of 32 bits, one a row."""

_LOAD, _LOAD_FP, _STORE, _STORE_FP = 0x03, 0x07, 0x23, 0x27
_IMMEDIATE, _REGISTERS, _LUI = 0x13, 0x33, 0x37
_BRANCH, _JALR, _JAL, _EBREAK = 0x63, 0x67, 0x6F, 0x00100073
_ZERO, _LINK, _STACK = 0, 1, 2
_SIZES = {"byte": 0, "half": 1, "word": 2}
_UNSIGNED = 4
_ADD, _SHIFT_LEFT, _XOR, _SHIFT_RIGHT, _OR, _AND = 0, 1, 4, 5, 6, 7
_SUBTRACT = _ARITHMETIC = 0x20 << 25

_W = (6, 2), (10, 3), (11, 4), (12, 5), (5, 6)
_BYTE = (12, 0), (5, 1), (6, 2), (10, 3), (11, 4)
_HALF = (5, 1), (6, 2), (10, 3), (11, 4), (12, 5)
_SP_LOAD = (4, 2), (5, 3), (6, 4), (12, 5), (2, 6), (3, 7)
_SP_STORE = (9, 2), (10, 3), (11, 4), (12, 5), (7, 6), (8, 7)
_SP_BYTE = (7, 0), (8, 1), (9, 2), (10, 3)
_SP_HALF = (8, 1), (9, 2), (10, 3), (7, 4)
_SP_NEAR = (6, 2), (5, 3), (11, 4), (12, 5), (7, 6), (8, 7), (9, 8), (10, 9)
_SP_FAR = (6, 4), (2, 5), (5, 6), (3, 7), (4, 8), (12, 9)
_JUMP = (3, 1), (4, 2), (5, 3), (11, 4), (2, 5), (7, 6), (6, 7), (9, 8), (10, 9), (8, 10), (12, 11)
_NEAR = (3, 1), (4, 2), (10, 3), (11, 4), (2, 5), (5, 6), (6, 7), (12, 8)


@cache
def expanded() -> Words:
    """By halfword, the 32-bit instruction; 0 where there is none or the halfword begins a wide one.

    Zero is no instruction itself, so it stands for one that the core refuses.
    """
    half = np.arange(0x10000, dtype=np.uint32)
    table = np.zeros(0x10000, dtype=np.uint32)
    for quadrant, forms in enumerate((_quadrant0, _quadrant1, _quadrant2)):
        for function, words in forms(half).items():
            chosen = (half & 3 == quadrant) & (half >> 13 == function)
            table[chosen] = words[chosen]
    return table


def instruction_words(
    first: npt.NDArray[np.uint16], second: npt.NDArray[np.uint16]
) -> npt.NDArray[np.uint32]:
    """Instructions as 32-bit words, compressed ones expanded; 0 is none."""
    words: npt.NDArray[np.uint32] = second.astype(np.uint32) << np.uint32(16) | first
    words &= _whole().take(first, mode="clip")
    words |= expanded().take(first, mode="clip")
    return words


@cache
def _whole() -> npt.NDArray[np.uint32]:
    """By halfword, all ones where it begins an instruction of 32 bits, else none."""
    half = np.arange(0x10000, dtype=np.uint32)
    is_whole = (half & 3 == 3) & (half & 0x1F != 0x1F)
    masks: npt.NDArray[np.uint32] = np.where(is_whole, np.uint32(0xFFFFFFFF), np.uint32(0))
    return masks


def _quadrant0(half: Words) -> dict[int, Words]:
    low, base = half >> 2 & 7 | 8, half >> 7 & 7 | 8
    near, word = _bits(half, *_SP_NEAR), _bits(half, *_W)
    return {
        0: np.where(near == 0, 0, _immediate(_IMMEDIATE, low, _STACK, near, _ADD)),
        1: _immediate(_LOAD, low, base, _bits(half, *_BYTE), _SIZES["byte"] | _UNSIGNED),
        2: _immediate(_LOAD, low, base, word, _SIZES["word"]),
        3: _immediate(_LOAD_FP, low, base, word, _SIZES["word"]),
        4: _near_stack(half, low),
        5: _store(_STORE, low, base, _bits(half, *_BYTE), _SIZES["byte"]),
        6: _store(_STORE, low, base, word, _SIZES["word"]),
        7: _store(_STORE_FP, low, base, word, _SIZES["word"]),
    }


def _near_stack(half: Words, low: Words) -> Words:
    """The four forms of XW that address by the stack pointer."""
    byte, two = _bits(half, *_SP_BYTE), _bits(half, *_SP_HALF)
    forms = (
        _immediate(_LOAD, low, _STACK, byte, _SIZES["byte"] | _UNSIGNED),
        _immediate(_LOAD, low, _STACK, two, _SIZES["half"] | _UNSIGNED),
        _store(_STORE, low, _STACK, byte, _SIZES["byte"]),
        _store(_STORE, low, _STACK, two, _SIZES["half"]),
    )
    return np.where(half >> 11 & 3 == 0, np.choose(half >> 5 & 3, forms), 0).astype(np.uint32)


def _quadrant1(half: Words) -> dict[int, Words]:
    target, low = half >> 7 & 31, half >> 7 & 7 | 8
    number = _signed(half >> 2 & 31 | (half >> 12 & 1) << 5, 6)
    far = _signed(_bits(half, *_SP_FAR), 10)
    jump, near = _signed(_bits(half, *_JUMP), 12), _signed(_bits(half, *_NEAR), 9)
    upper = _LUI | target << 7 | number << 12
    wide = np.where(target == _STACK, _immediate(_IMMEDIATE, target, target, far, _ADD), upper)
    return {
        0: _immediate(_IMMEDIATE, target, target, number, _ADD),
        1: _jump(_LINK, jump),
        2: _immediate(_IMMEDIATE, target, _ZERO, number, _ADD),
        3: np.where(number == 0, 0, wide),
        4: _arithmetic(half, low, number),
        5: _jump(_ZERO, jump),
        6: _branch(low, near, function=0),
        7: _branch(low, near, function=1),
    }


def _arithmetic(half: Words, low: Words, number: Words) -> Words:
    right, shift, kind = half >> 2 & 7 | 8, number & 31, half >> 10 & 3
    same, wide = half >> 5 & 3, half >> 12 & 1
    function = np.choose(same, (_ADD, _XOR, _OR, _AND)).astype(np.uint32)
    two = _registers(low, low, right, function) | np.where(same == 0, _SUBTRACT, 0)
    shifted = _immediate(_IMMEDIATE, low, low, shift, _SHIFT_RIGHT)
    chosen = np.choose(
        kind,
        (
            np.where(wide != 0, 0, shifted),
            np.where(wide != 0, 0, shifted | _ARITHMETIC),
            _immediate(_IMMEDIATE, low, low, number, _AND),
            np.where(wide != 0, 0, two),
        ),
    )
    return np.asarray(chosen, dtype=np.uint32)


def _quadrant2(half: Words) -> dict[int, Words]:
    target, right, links = half >> 7 & 31, half >> 2 & 31, half >> 12 & 1
    low, base = half >> 2 & 7 | 8, half >> 7 & 7 | 8
    load, store = _bits(half, *_SP_LOAD), _bits(half, *_SP_STORE)
    half_place = _bits(half, *_HALF)
    added = _registers(target, np.where(links != 0, target, _ZERO), right, _ADD)
    jumped = np.where(target != 0, _immediate(_JALR, links, target, 0 * half, 0), links * _EBREAK)
    return {
        0: _immediate(_IMMEDIATE, target, target, right, _SHIFT_LEFT),
        1: _immediate(_LOAD, low, base, half_place, _SIZES["half"] | _UNSIGNED),
        2: np.where(target == 0, 0, _immediate(_LOAD, target, _STACK, load, _SIZES["word"])),
        3: _immediate(_LOAD_FP, target, _STACK, load, _SIZES["word"]),
        4: np.where(right != 0, added, jumped),
        5: _store(_STORE, low, base, half_place, _SIZES["half"]),
        6: _store(_STORE, right, _STACK, store, _SIZES["word"]),
        7: _store(_STORE_FP, right, _STACK, store, _SIZES["word"]),
    }


def _immediate(
    opcode: int, target: Words, base: Words | int, number: Words, function: int
) -> Words:
    words = opcode | target << 7 | function << 12 | np.uint32(base) << 15 | (number & 0xFFF) << 20
    return np.asarray(words, dtype=np.uint32)


def _registers(target: Words, left: Words, right: Words, function: Words | int) -> Words:
    words = _REGISTERS | target << 7 | np.uint32(function) << 12 | left << 15 | right << 20
    return np.asarray(words, dtype=np.uint32)


def _store(opcode: int, stored: Words, base: Words | int, number: Words, size: int) -> Words:
    low, high = (number & 31) << 7, (number >> 5) << 25
    words = opcode | low | size << 12 | np.uint32(base) << 15 | stored << 20 | high
    return np.asarray(words, dtype=np.uint32)


def _jump(link: int, number: Words) -> Words:
    parts = _bits(number, (20, 31), *((n, n + 20) for n in range(1, 11)), (11, 20))
    return (_JAL | link << 7 | parts | number & 0xFF000).astype(np.uint32)


def _branch(left: Words, number: Words, function: int) -> Words:
    parts = _bits(
        number, (12, 31), *((n, n + 20) for n in range(5, 11)),
        *((n, n + 7) for n in range(1, 5)), (11, 7),
    )  # fmt: skip
    return (_BRANCH | function << 12 | left << 15 | parts).astype(np.uint32)


def _bits(value: Words, *places: tuple[int, int]) -> Words:
    """Bits of an encoding put where they belong: (from, to) each."""
    result = np.zeros_like(value)
    for source, target in places:
        result |= (value >> np.uint32(source) & np.uint32(1)) << np.uint32(target)
    return result


def _signed(value: Words, width: int) -> Words:
    """A two's complement number of so many bits, in 32."""
    sign = np.uint32(1 << (width - 1))
    return np.asarray((value ^ sign) - sign, dtype=np.uint32)
