"""micro:bit's universal hex: one file with the programs of two boards, of which each takes its own
(Micro:bit Educational Foundation, Universal Hex Format Specification 0.4.0).

Tools that don't know the format take the ordinary data records and pass over the others, those
that do go by the sections. A section whose records say something else than it does is refused.
"""

from __future__ import annotations

from scanner.image.model import Problem, UntrustedError

START, END, PADDING, CUSTOM, OTHER = range(0x0A, 0x0F)
ARCH = "armv7em"
"""The core of the second board, an nRF52833: the one that can be a host."""

_DATA = 0
_FIRST, _SECOND = "micro:bit V1", "micro:bit V2"
_BOARDS = {0x9900: _FIRST, 0x9901: _FIRST, **dict.fromkeys(range(0x9903, 0x9907), _SECOND)}


class Sections:
    """Where in such a file the reader is; an ordinary one never enters a section."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._board: str | None = None

    @property
    def are_there(self) -> bool:
        """Whether it is a universal file at all."""
        return bool(self._seen)

    def takes(self, kind: int, content: bytes, number: int) -> bool:
        """Whether a record holds bytes of the program that is scanned."""
        if kind == START:
            self._begin(content, number)
        elif kind == END:
            self._board = None
        elif kind in (_DATA, CUSTOM):
            return self._is_wanted(kind, number)
        return False

    def problems(self) -> tuple[Problem, ...]:
        """What is said of the other program."""
        if _FIRST not in self._seen:
            return ()
        text = (
            f"what is for {_FIRST} (nRF51, Cortex-M0, without an unprivileged mode) is not judged"
        )
        return (Problem("no-host", text, rejects=_SECOND not in self._seen),)

    def _begin(self, content: bytes, number: int) -> None:
        board = _BOARDS.get(int.from_bytes(content[:2], "big")) if len(content) >= 2 else None
        if board is None:
            text = f"line {number}: a section of a universal hex for a board that isn't known"
            raise UntrustedError("hex-malformed", text)
        self._seen.add(board)
        self._board = board

    def _is_wanted(self, kind: int, number: int) -> bool:
        if self._seen or kind == CUSTOM:
            expected = {_FIRST: _DATA, _SECOND: CUSTOM}.get(self._board or "")
            if kind != expected:
                text = f"line {number}: data of kind {kind} in a section that has another"
                raise UntrustedError("hex-malformed", text if self._board else f"{text}, or none")
        return self._board != _FIRST
