"""The architecture an Arm program was built for, from its build attributes.

pyelftools loops for ever on lengths that lie, hence these few lines with a bound on every step
(Addenda to, and Errata in, the ABI for the Arm Architecture, section 3).
"""

from __future__ import annotations

_FILE_SCOPE = 1
_TAG_CPU_ARCH = 6
_TAG_CPU_ARCH_PROFILE = 7
_TAG_COMPATIBILITY = 32
_TEXT_TAGS = (4, 5)
_PROFILES = frozenset(b"AMRS")

_V7 = 10
_M_PROFILE_NAMES = {
    11: "armv6m",
    12: "armv6m",
    13: "armv7em",
    16: "armv8m.base",
    17: "armv8m.main",
    21: "armv8.1m.main",
}
_OTHER_NAMES = dict(enumerate(
    ("pre-v4", "armv4", "armv4t", "armv5t", "armv5te", "armv5tej", "armv6", "armv6kz", "armv6t2",
     "armv6k")
)) | {14: "armv8a", 15: "armv8r"}  # fmt: skip


def arm_architecture(section: bytes) -> str | None:
    """Name such as `armv7em` or `armv7a`; None if the section says nothing that can be read."""
    tags = _numeric_tags(file_scope(section, b"aeabi"))
    cpu = tags.get(_TAG_CPU_ARCH)
    if cpu is None:
        return None
    if cpu == _V7:
        profile = tags.get(_TAG_CPU_ARCH_PROFILE, ord("A"))
        return "armv7" + (chr(profile).lower() if profile in _PROFILES else "?")
    return _M_PROFILE_NAMES.get(cpu) or _OTHER_NAMES.get(cpu)


def file_scope(section: bytes, owner: bytes) -> bytes:
    """The tags for the whole file in the subsection of that vendor, such as `aeabi`."""
    if section[:1] != b"A":
        return b""
    position = 1
    while position + 4 <= len(section):
        length = int.from_bytes(section[position : position + 4], "little")
        body = section[position + 4 : position + length]
        vendor, _, rest = body.partition(b"\0")
        if vendor == owner and rest[:1] == bytes([_FILE_SCOPE]):
            size = int.from_bytes(rest[1:5], "little")
            return rest[5:size]
        if length < 4:
            break
        position += length
    return b""


def _numeric_tags(data: bytes) -> dict[int, int]:
    tags: dict[int, int] = {}
    position = 0
    while position < len(data):
        tag, position = uleb128(data, position)
        if position == len(data):
            break
        is_text = tag in _TEXT_TAGS or (tag > _TAG_COMPATIBILITY and tag % 2 == 1)
        if not is_text:
            tags[tag], position = uleb128(data, position)
        if is_text or tag == _TAG_COMPATIBILITY:
            end = data.find(b"\0", position)
            position = len(data) if end < 0 else end + 1
    return tags


def uleb128(data: bytes, position: int) -> tuple[int, int]:
    """Value (of 32 bits) and the position behind it; the end of data ends a number."""
    value = shift = 0
    while position < len(data):
        byte = data[position]
        position += 1
        if shift < 32:
            value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    return value, position
