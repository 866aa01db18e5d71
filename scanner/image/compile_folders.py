"""The folders that units were compiled in: DW_AT_comp_dir (DWARF 5, section 3.1.1).

Only the first entry of each unit is read. A line program of version 5 has the folder itself, but
assemblers write older ones for units of that version.
"""

from __future__ import annotations

from scanner.image.debug_entries import DebugSections, Unit
from scanner.image.dwarf import EndOfDataError

_LINES, _FOLDER = 0x10, 0x1B


def compile_folders(sections: DebugSections) -> dict[int, bytes]:
    """By the place of a unit's line program in its section, the folder it was compiled in."""
    folders: dict[int, bytes] = {}
    for begin, end in sections.units():
        try:
            found = Unit(sections, begin, end).root()
        except EndOfDataError:
            continue  # a unit that lies about itself: the next may be sound
        lines, folder = found.get(_LINES), found.get(_FOLDER)
        if isinstance(lines, int) and isinstance(folder, bytes):
            folders[lines] = folder
    return folders
