"""What a handler calls: functions that only return, as the proof itself chooses what they do to
memory, alike for original and port."""

from __future__ import annotations

from dataclasses import replace

from porter.context_switch.proof.image import STUBS, Image
from porter.context_switch.proof.walk import reachable


def callees_of(image: Image) -> set[str]:
    """Functions that are called, not branched to, from what the entry leads to."""
    elsewhere = {at: name for at, name in image.functions.items() if at >= STUBS}
    inner = replace(image, functions=elsewhere)
    calls = [it for it in reachable(inner, True, into_data=True).values() if it.name == "bl"]
    return {image.functions[it.target()] for it in calls if it.target() in image.functions}


def with_callees(image: Image, callees: set[str], ends: bytes) -> Image:
    """The image in which callees do nothing but return, by the two bytes of `ends`; what is only
    branched to is part of the handler."""
    functions = {at: name for at, name in image.functions.items() if at >= STUBS or name in callees}
    chunks = []
    for start, code in image.code:
        data = bytearray(code)
        for address in functions:
            if start <= address < start + len(data):
                data[address - start : address - start + 2] = ends
        chunks.append((start, bytes(data)))
    return replace(image, code=tuple(chunks), functions=functions)
