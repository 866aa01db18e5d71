"""What to say about a folder that isn't built by make or with compile_commands.json."""

from __future__ import annotations

from pathlib import Path

from composer.init.facts import Decision
from porter.execution.survey import Survey
from scanner.report.errors import FvmError

_COMMANDS = "compile_commands.json in the project's folder or in its build/"
# Pattern, what it is, what to do.
_KINDS = (
    (("**/*.uvprojx", "**/*.uvproj"), "a Keil project", "export a Makefile (CubeMX can), or write"),
    (("**/*.ewp",), "an IAR project", "export a Makefile (CubeMX can), or write"),
    (("platformio.ini",), "a PlatformIO project", "run `pio run -t compiledb`, which writes"),
    (
        ("CMakeLists.txt",),
        "a CMake project",
        "configure it with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -B build, which writes",
    ),
    (
        (".cproject",),
        "an Eclipse or STM32CubeIDE project",
        "build it once with `bear`, which writes",
    ),
    (("meson.build",), "a Meson project", "run `meson setup build`, which writes"),
)


def build_system(folder: Path) -> tuple[str, str] | None:
    """What a folder is, and how it gets a list of its compiler calls."""
    for patterns, what, how in _KINDS:
        for pattern in patterns:
            if next(iter(folder.glob(pattern)), None) is not None:
                return what, f"{how} {_COMMANDS}"
    return None


def guessed(folder: Path) -> Decision:
    """What a person must know when the build was guessed."""
    known = build_system(folder)
    what = f"{known[0]}, which tells too little" if known else "nothing says how it is built"
    how = known[1] if known else f"write {_COMMANDS}"
    return Decision(
        f"{what}: every C file was taken, with every folder that has headers; {how}, then run init"
        " again"
    )


def explain(folder: Path, survey: Survey) -> FvmError:
    """Why nothing could be read of a project, and what to do."""
    known = build_system(folder)
    if survey.foreign:
        named = "" if survey.build.complete else " that make named before it stopped"
        return FvmError(
            f"all {len(survey.foreign)} files{named} are C++",
            file=folder,
            hint="init follows C alone: write the description by hand "
            "(docs/system-description.md); port and build take C++",
        )
    if survey.refused:
        path, words = next(iter(survey.refused.items()))
        hint = known[1] if known else f"correct the makefile, or write {_COMMANDS}"
        return FvmError(
            f"no C file can be preprocessed; {path.name}: {words}", file=folder, hint=hint
        )
    what = known[0] if known else "a folder without C sources"
    hint = known[1] if known else "name the folder that the Makefile lies in"
    return FvmError(f"{what}: nothing to read", file=folder, hint=hint)
