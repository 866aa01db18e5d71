"""What an expression stands for, as far as it is known without running the program."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.source.c_types import CType


@dataclass(frozen=True)
class Number:
    """A known integer and its type: `size` in bytes. The same value of two types is the same."""

    value: int
    is_unsigned: bool = field(default=False, compare=False)
    size: int = field(default=4, compare=False)


@dataclass(frozen=True)
class Initial:
    """The number that a variable begins with, where not all that may write it can be seen.

    As an address it tells of an access, which must not be overlooked; nobody knows its value.
    """

    value: int


@dataclass(frozen=True)
class Pointer:
    """A pointer: `address` None when only its type is known. `span` > 0: an index isn't known,
    it may be anywhere in [address, address + span); not `exact`: not even the object is known.
    `part`: within a struct of which the layout isn't known; `fields`: pointers in the object, by
    member, and the addresses that they hold."""

    address: int | None
    type: CType
    span: int = 0
    exact: bool = True
    part: bool = False
    fields: tuple[tuple[bytes, int], ...] = ()


@dataclass(frozen=True)
class Place:
    """An object in memory, as an lvalue. `owner` and `member` name the struct and its field.
    `part`: some bits of what is at the address, or in a struct of which the layout isn't known."""

    address: int | None
    type: CType
    owner: bytes = b""
    member: bytes = b""
    span: int = 0
    exact: bool = True
    part: bool = False


Value = Number | Initial | Pointer | Place
"""None stands for a value that is not known."""
