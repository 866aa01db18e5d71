"""Does the image hold what the manifest and the description say it was made from?"""

from __future__ import annotations

from collections.abc import Iterator

from composer.verify.manifest import PartEntry, StoredSegment
from composer.verify.subject import Subject, sha256
from scanner.image.elf import load_elf


def check_manifest(subject: Subject) -> Iterator[str]:
    """The manifest belongs to this image, and to this description."""
    manifest, expected = subject.manifest, subject.expected
    for what, said, is_so in (
        ("system", manifest.system, subject.system.name),
        ("chip", manifest.chip, subject.system.chip),
    ):
        if said != is_so:
            yield f"the manifest's {what} is '{said}', the description's '{is_so}'"
    base = expected.kernel_area("flash").start
    if manifest.base != base:
        yield f"the manifest's base is 0x{manifest.base:08x}, the flash starts at 0x{base:08x}"
    names = tuple(part.name for part in manifest.parts)
    if names != subject.part_names:
        described = ", ".join(subject.part_names)
        yield f"the parts are {', '.join(names)}; the description has {described}"
    for part in manifest.parts:
        if part.name in expected.names:
            domain = expected.domains[expected.names.index(part.name)]
            kind = "vm" if domain.vm else "process"
            if part.kind != kind:
                yield f"'{part.name}' is a {part.kind} in the manifest, a {kind} in the description"
    if (entry := subject.loaded.entry) is not None and entry != manifest.entry:
        yield f"the image starts at 0x{entry:08x}, the manifest says 0x{manifest.entry:08x}"


def check_hashes(subject: Subject) -> Iterator[str]:
    """Digests of the file and of each part's bytes in it."""
    files = [
        entry
        for name, entry in subject.manifest.files.items()
        if name.endswith(subject.image.suffix)
    ]
    digest = sha256(subject.content)
    if not any(entry.sha256 == digest and entry.size == len(subject.content) for entry in files):
        yield f"{subject.image.name} isn't the {subject.image.suffix} file of the manifest"
    for part in subject.manifest.parts:
        for segment in part.segments:
            if segment.size == 0:
                continue
            data = subject.memory.find(segment.load, segment.size)
            if data is None:
                yield (
                    f"'{part.name}': the image lacks bytes of the {segment.size}"
                    f" at 0x{segment.load:08x}"
                )
            elif sha256(data) != segment.sha256:
                yield (
                    f"'{part.name}': the {segment.size} bytes at 0x{segment.load:08x} are not those"
                    " of the manifest"
                )


def check_description(subject: Subject) -> Iterator[str]:
    """The kernel holds the digest of the description that it was composed from."""
    if subject.tables.description != subject.description_sha256:
        yield (
            "the image was composed from another description than this one: compose, build and"
            " link again"
        )


def part_elf(subject: Subject, name: str) -> bytes | None:
    """The ELF that a part came from, None when it isn't where the manifest says."""
    part = subject.part(name)
    try:
        path = subject.manifest.folder / part.elf
        return path.read_bytes() if path.is_file() else None
    except (OSError, ValueError):
        return None


def missing_elves(subject: Subject) -> tuple[PartEntry, ...]:
    """Parts whose ELF can't be had; a manifest without parts names none."""
    return tuple(p for p in subject.manifest.parts if part_elf(subject, p.name) is None)


def check_parts(subject: Subject) -> Iterator[str]:
    """The ELFs of the parts, as far as they are there, are those of the manifest and the image."""
    for part in subject.manifest.parts:
        content = part_elf(subject, part.name)
        if content is None:
            continue
        if sha256(content) != part.sha256:
            yield f"'{part.name}': {part.elf} changed since the image was linked"
        elif _segments(content) != part.segments:
            yield f"'{part.name}': {part.elf} has other segments than the manifest says"
        elif not stored_in(subject, content):
            yield f"'{part.name}': the image doesn't hold the bytes of {part.elf}"


def _segments(elf: bytes) -> tuple[StoredSegment, ...]:
    """What link records of an ELF: otherwise that of another part could stand in for it."""
    return tuple(
        StoredSegment(s.load_address, s.address, len(s.data), s.memory_size, sha256(bytes(s.data)))
        for s in load_elf(elf).segments
    )


def stored_in(subject: Subject, elf: bytes) -> bool:
    """Whether every byte that an ELF loads is in the image at its load address."""
    loaded = load_elf(elf)
    stored = [segment for segment in loaded.segments if segment.data]
    return bool(stored) and all(
        subject.memory.find(segment.load_address, len(segment.data)) == bytes(segment.data)
        for segment in stored
    )
