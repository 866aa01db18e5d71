"""Projects of IDEs: what their project files build, with which options, is what is ported."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from porter.judging.verdict import Status
from porter.output.port_report import assumptions
from porter.port import port_project
from porter.project.build import read_build
from porter.project.source_tree import PORT_RECORD
from porter.whole_project import build_of
from tests.porter.helpers import DOMAIN

KEIL = """\
<Project><Targets><Target><TargetOption>
<TargetCommonOption><Cpu>IROM(0x08000000,0x80000) CPUTYPE("{core}") FPU2</Cpu></TargetCommonOption>
<TargetArmAds><ArmAdsMisc><RvdsVP>{fpu}</RvdsVP></ArmAdsMisc><Cads><VariousControls>
<Define>BOARD=2, USE_DRIVER</Define><IncludePath>..\\INC;..\\drivers\\inc</IncludePath>
</VariousControls></Cads></TargetArmAds></TargetOption><Groups>
<Group><Files>
<File><FileType>1</FileType><FilePath>..\\SRC\\Main.c</FilePath></File>
<File><FileType>5</FileType><FilePath>..\\inc\\board.h</FilePath></File>
<File><FileType>1</FileType><FilePath>..\\src\\spare.c</FilePath>
<FileOption><CommonProperty><IncludeInBuild>0</IncludeInBuild></CommonProperty></FileOption></File>
</Files></Group>
<Group><GroupOption><CommonProperty><IncludeInBuild>0</IncludeInBuild></CommonProperty></GroupOption>
<Files><File><FileType>1</FileType><FilePath>..\\src\\old.c</FilePath></File></Files></Group>
</Groups></Target></Targets></Project>
"""
IAR = """\
<?xml version="1.0" encoding="iso-8859-1"?>
<project><configuration><name>Debug</name><settings><name>General</name><data>
<option><name>OGChipSelectEditMenu</name><state>{chip}\tST {chip}</state></option>
<option><name>FPU2</name><version>0</version><state>{fpu}</state></option></data></settings>
<settings><name>ICCARM</name><data>
<option><name>CCDefines</name><state>BOARD=2</state><state>USE_DRIVER</state></option>
<option><name>CCIncludePath2</name><state>$PROJ_DIR$\\..\\inc</state>
<state>$PROJ_DIR$\\..\\drivers\\inc</state></option></data></settings></configuration>
<group><name>app</name><group><name>deep</name>
<file><name>$PROJ_DIR$\\..\\src\\main.c</name></file></group>
<file><name>$PROJ_DIR$\\..\\inc\\board.h</name></file>
<file><name>$PROJ_DIR$\\..\\src\\spare.c</name>
<excluded><configuration>Debug</configuration></excluded></file></group>
<group><name>old</name><excluded><configuration>Debug</configuration></excluded>
<file><name>$PROJ_DIR$\\..\\src\\old.c</name></file></group></project>
"""
ECLIPSE = """\
<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<?fileVersion 4.0.0?><cproject><storageModule moduleId="org.eclipse.cdt.core.settings">
<cconfiguration><storageModule moduleId="cdtBuildSystem" version="4.0.0">
<configuration name="Debug"><folderInfo><toolChain superClass="x.toolchain.exe.debug">
<option superClass="com.st.stm32cube.ide.mcu.gnu.managedbuild.option.target_mcu" value="{chip}x"/>
<option superClass="x.option.floatabi" value="x.option.floatabi.value.{abi}"/>
<tool superClass="x.tool.assembler"/><tool superClass="x.tool.c.compiler">
<option valueType="definedSymbols"><listOptionValue value="BOARD=2"/>
<listOptionValue value="USE_DRIVER"/></option>
<option valueType="includePath"><listOptionValue value="../inc"/>
<listOptionValue value="&quot;${{workspace_loc:/${{ProjName}}/drivers/inc}}&quot;"/></option>
</tool></toolChain></folderInfo><sourceEntries>
<entry excluding="spare.c|old*" flags="VALUE_WORKSPACE_PATH" kind="sourcePath" name="src"/>
<entry kind="sourcePath" name="/"/><entry kind="sourcePath" name="../.."/>
</sourceEntries></configuration></storageModule></cconfiguration></storageModule></cproject>
"""
MASK = '#include "board.h"\nvoid {name}(void) {{ __asm volatile ("cpsid i"); }}\n'


def project(folder: Path, place: str, text: str) -> Path:
    for name in ("src/main.c", "src/spare.c", "src/old.c", "elsewhere/other.c"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(MASK.format(name=file.stem))
    for name in ("inc/board.h", "drivers/inc/driver.h"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder / place).parent.mkdir(exist_ok=True)
    (folder / place).write_text(text)
    return folder


M4F = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
M4 = ("-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft")
M3 = ("-mcpu=cortex-m3", "-mthumb", "-mfloat-abi=soft")


@pytest.mark.parametrize(
    ("place", "text", "flags"),
    [
        ("MDK-ARM/one.uvprojx", KEIL.format(core="Cortex-M4", fpu=2), M4F),
        ("MDK-ARM/one.uvproj", KEIL.format(core="Cortex-M4", fpu=1), M4),
        ("EWARM/one.ewp", IAR.format(chip="STM32F407VG", fpu=4), M4F),
        ("EWARM/one.ewp", IAR.format(chip="STM32F103C8", fpu=0), M3),
        (".cproject", ECLIPSE.format(chip="STM32F446RET", abi="hard"), M4F),
        (".cproject", ECLIPSE.format(chip="STM32F103C8T", abi="soft"), M3),
    ],
)
def test_what_the_project_file_builds_is_ported(
    place: str, text: str, flags: tuple[str, ...], tmp_path: Path
) -> None:
    root = project(tmp_path, place, text)
    build = read_build(root, [])
    assert build.is_known and not build.is_guess
    assert list(build.units) == [root / "src/main.c"]
    assert build.options.cpu_flags == flags
    assert build.options.defines == ("BOARD=2", "USE_DRIVER")
    assert build.options.include_dirs == (root / "inc", root / "drivers/inc")
    result = port_project(root)
    (port,) = result.files
    assert (port.file.name, port.verdicts[0].status) == ("src/main.c", Status.REWRITTEN)
    assert result.unread and port.file.name not in result.unread


@pytest.mark.parametrize(
    ("place", "text", "folders"),
    [
        ("one.uvprojx", KEIL.format(core="Cortex-M4", fpu=1), ["cmsis/Include"]),
        ("one.ewp", IAR.format(chip="STM32F407VG", fpu=0), ["cmsis/Include"]),
        (".cproject", ECLIPSE.format(chip="STM32F446RET", abi="soft"), []),
    ],
)
def test_headers_of_cmsis_are_found_that_the_ide_would_have_given(
    place: str, text: str, folders: list[str], tmp_path: Path
) -> None:
    """Keil's and IAR's give their own without being asked; a project has a copy for others."""
    root = project(tmp_path, f"ide/{place}", text)
    for name in ("cmsis/Include/core_cm4.h", "cmsis/Core/other/core_cm4.h"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text("")
    found = read_build(root, []).options.include_dirs
    assert [it for it in found if "cmsis" in it.parts] == [root / name for name in folders]


def _keil(text: str, compiler: str = "") -> str:
    """A project with more settings of the C compiler, and which one it is."""
    one = KEIL.format(core="Cortex-M4", fpu=2).replace("<Cads>", f"<Cads>{text}")
    return one.replace("<Target>", f"<Target>{compiler}")


def _iar(level: int, strategy: int) -> str:
    options = (
        f"<option><name>CCOptLevel</name><state>{level}</state></option>"
        f"<option><name>CCOptStrategy</name><version>0</version><state>{strategy}</state></option>"
    )
    text = IAR.format(chip="STM32F407VG", fpu=4)
    return text.replace("<option><name>CCDefines", f"{options}<option><name>CCDefines")


def _eclipse(options: str, kind: str = "x") -> str:
    text = ECLIPSE.format(chip="STM32F446RET", abi="hard")
    tool = f'<tool superClass="{kind}.tool.c.compiler">'
    return text.replace('<tool superClass="x.tool.c.compiler">', tool + options)


_ST = "com.st.stm32cube.ide.mcu.gnu.managedbuild"
_LEVEL = '<option superClass="{0}.c.compiler.option.optimization.level" value="{0}.{1}"/>'
_OTHER = '<option superClass="x.misc.other" value="-c -fmessage-length=0 -fshort-wchar"/>'
_FLAGS = (
    f'<option superClass="{_ST}.compiler.option.otherflags" valueType="stringList">'
    '<listOptionValue value="-fno-strict-aliasing"/></option>'
)
_AC6 = "<uAC6>1</uAC6>"


@pytest.mark.parametrize(
    ("place", "text", "optimize", "language"),
    [
        ("MDK-ARM/one.uvprojx", _keil("<Optim>1</Optim>"), "-O0", ()),
        ("MDK-ARM/one.uvprojx", _keil("<Optim>0</Optim><PlainCh>1</PlainCh>"), "-O2",
         ("-fsigned-char",)),
        ("MDK-ARM/one.uvprojx", _keil("<Optim>4</Optim><EnumInt>1</EnumInt>"), "-O3",
         ("-fno-short-enums",)),
        ("MDK-ARM/one.uvprojx", _keil("<Optim>7</Optim><vShortEn>1</vShortEn>", _AC6), "-Oz", ()),
        ("MDK-ARM/one.uvprojx", _keil("<Optim>2</Optim><vShortWch>1</vShortWch>", _AC6), "-O1",
         ("-fno-short-enums", "-fshort-wchar")),
        ("MDK-ARM/one.uvprojx", _keil("<Optim>x</Optim>"), "", ()),
        ("EWARM/one.ewp", _iar(0, 1), "-O0", ()),
        ("EWARM/one.ewp", _iar(3, 1), "-Os", ()),
        ("EWARM/one.ewp", _iar(3, 2), "-O3", ()),
        (".cproject", _eclipse(_LEVEL.format("gnu", "none") + _OTHER), "-O0", ("-fshort-wchar",)),
        (".cproject", _eclipse(_LEVEL.format(_ST, "value.os") + _FLAGS, _ST), "-Os",
         ("-fno-strict-aliasing",)),
        (".cproject", _eclipse("", _ST), "-O0", ()),
        (".cproject", _eclipse(""), "", ()),
    ],
)  # fmt: skip
def test_the_level_and_the_meaning_that_a_project_file_chooses(
    place: str, text: str, optimize: str, language: tuple[str, ...], tmp_path: Path
) -> None:
    options = read_build(project(tmp_path, place, text), []).options
    assert (options.optimize, options.language) == (optimize, language)


def test_a_makefile_that_breaks_off_says_nothing_beside_a_whole_project_file(
    tmp_path: Path,
) -> None:
    """Such as STM32CubeIDE's in Debug/, of a computer with other paths."""
    root = project(tmp_path, ".cproject", _eclipse("", _ST))
    (root / "Debug").mkdir()
    (root / "Debug" / "makefile").write_text("all: a.elf\na.elf: C:/x.ld D:/y.ld: z.ld\n")
    build = read_build(root, [])
    assert build.stopped == "" and list(build.units) == [root / "src/main.c"]


@pytest.mark.parametrize(
    ("location", "is_found"),
    [
        ("PARENT-1-PROJECT_LOC/boot/source", True),
        ("/home/who/work/repository/boot/source", True),  # of another computer
        ("/home/who/source", False),
    ],
)
def test_a_folder_that_is_linked_is_built(location: str, is_found: bool, tmp_path: Path) -> None:
    root = project(tmp_path / "repository" / "fw", ".cproject", _eclipse("", _ST))
    boot = tmp_path / "repository" / "boot" / "source" / "boot.c"
    boot.parent.mkdir(parents=True)
    boot.write_text(MASK.format(name="boot"))
    (root / ".project").write_text(
        "<projectDescription><linkedResources><link><name>source</name><type>2</type>"
        f"<location>{location}</location></link></linkedResources></projectDescription>"
    )
    build = read_build(root.parent, [])
    assert (boot in build.units) == is_found == build.complete


def test_what_keil_takes_from_packs_is_compiled_too(tmp_path: Path) -> None:
    rte = "".join(
        f'<file category="{kind}"><instance index="0"{removed}>{name}</instance><targetInfos>'
        f'<targetInfo name="{target}"/></targetInfos></file>'
        for kind, name, target, removed in (
            ("source", "..\\SRC\\Spare.c", "Target 1", ""),
            ("source", "..\\src\\old.c", "Target 2", ""),
            ("source", "..\\elsewhere\\other.c", "Target 1", ' removed="1"'),
            ("header", "..\\elsewhere\\RTE_Device.h", "Target 1", ""),
        )
    )
    text = KEIL.format(core="Cortex-M4", fpu=2).replace(
        "<Target><", "<Target><TargetName>Target 1</TargetName><"
    )
    text = text.replace("</Project>", f"<RTE><files>{rte}</files></RTE></Project>")
    root = project(tmp_path, "MDK-ARM/one.uvprojx", text)
    build = read_build(root, [])
    assert list(build.units) == [root / "src/main.c", root / "src/spare.c"]
    assert build.options.defines == ("BOARD=2", "USE_DRIVER", "_RTE_")
    assert root / "elsewhere" in build.options.include_dirs


def test_a_project_of_eclipse_without_entries_has_all_below_its_folder(tmp_path: Path) -> None:
    text = ECLIPSE.format(chip="STM32F446RET", abi="hard")
    text = re.sub(r"<sourceEntries>.*</sourceEntries>", "", text, flags=re.S)
    root = project(tmp_path, ".cproject", text)
    files = ("src/main.c", "src/spare.c", "src/old.c", "elsewhere/other.c")
    assert set(read_build(root, []).units) == {root / name for name in files}
    empty = text.replace("</folderInfo>", "</folderInfo><sourceEntries/>")
    (root / ".cproject").write_text(empty)
    assert read_build(root, []).is_guess


def test_a_file_that_is_missing_leaves_the_others_in_doubt(tmp_path: Path) -> None:
    root = project(tmp_path, "p.uvprojx", KEIL.format(core="Cortex-M3", fpu=1))
    assert read_build(root, []).source == "guess", "none of its files is there"
    inner = project(tmp_path / "b", "mdk/p.uvprojx", KEIL.format(core="Cortex-M3", fpu=1))
    text = (inner / "mdk/p.uvprojx").read_text().replace("old.c", "lost.c", 1)
    (inner / "mdk/p.uvprojx").write_text(text.replace("<IncludeInBuild>0", "<IncludeInBuild>1"))
    build = read_build(inner, [])
    assert inner / "src/main.c" in build.units and not build.is_known


@pytest.mark.parametrize(
    "text",
    [
        "", "<Project>", "no XML", "<project/>", "<cproject/>", "<Project><Targets/></Project>",
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><project>&b;</project>',
        "<!DOCTYPE a [<!ENTITY b '" + "x" * 9999 + "'>]><project>" + "&b;" * 9999 + "</project>",
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["a.uvprojx", "a.ewp", ".cproject"])
def test_what_is_no_project_file_is_passed_over(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert read_build(tmp_path, []).is_guess


@pytest.mark.parametrize(("second", "unread"), [("b", ()), ("a", ("b.c",))])
def test_what_another_project_file_compiles_is_ported_too(
    tmp_path: Path, second: str, unread: tuple[str, ...]
) -> None:
    """A folder of examples; the same project for another version of the IDE has nothing more."""
    for name, source in (("one", "a"), ("two", second)):
        text = KEIL.format(core="Cortex-M3", fpu=0).replace("..\\SRC\\Main.c", f"{source}.c")
        (tmp_path / f"{name}.uvprojx").write_text(text)
    for name in ("a", "b"):
        (tmp_path / f"{name}.c").write_text("void f(void) { __disable_irq(); }\n")
    result = port_project(tmp_path)
    assert {it.file.name for it in result.files} == {"a.c", "b.c"} - set(unread)
    assert {v.status for it in result.files for v in it.verdicts} == {Status.REWRITTEN}
    assert result.unread == unread


@pytest.mark.parametrize("wanted", ["a", "b"])
def test_of_several_programs_the_one_that_the_description_names_is_ported(
    tmp_path: Path, wanted: str
) -> None:
    """With its own options, whatever project file comes first; of assembler what is named."""
    for source in ("a", "b"):
        text = KEIL.format(core="Cortex-M3", fpu=0).replace("..\\SRC\\Main.c", f"main_{source}.c")
        place = tmp_path / "projects" / source / "ide" / f"{source}.uvprojx"
        place.parent.mkdir(parents=True)
        place.write_text(text.replace("BOARD=2", f"MINE={ord(source)}"))
        mask = f"#if MINE == {ord(source)}\nvoid f(void) {{ __disable_irq(); }}\n#endif\n"
        (place.parent / f"main_{source}.c").write_text(mask)
        (place.parent / "start.s").write_text("    .text\nReset_Handler:\n    cpsid i\n")
    folder = f"projects/{wanted}/ide"
    domain = replace(DOMAIN, sources=(f"{folder}/main_{wanted}.c",), startup=(f"{folder}/start.s",))
    result = port_project(tmp_path, domain)
    assert {it.file.name for it in result.files} == {*domain.sources, *domain.startup}
    (main,) = (it for it in result.files if it.file.name in domain.sources)
    assert [it.status for it in main.verdicts] == [Status.REWRITTEN]


def test_what_no_project_file_compiles_is_read_as_the_description_says(tmp_path: Path) -> None:
    """A repository of several programs: the description is of another one than its makefile."""
    text = KEIL.format(core="Cortex-M3", fpu=0).replace("..\\SRC\\Main.c", "one.c")
    (tmp_path / "one.uvprojx").write_text(text)
    (tmp_path / "one.c").write_text("void f(void) { __disable_irq(); }\n")
    for folder in ("app", "app/inc"):
        (tmp_path / folder).mkdir()
    (tmp_path / "app/inc/level.h").write_text("#define LEVEL 5\n")
    mask = '#include "level.h"\nvoid g(void) { __set_BASEPRI(LEVEL << SHIFT); }\n'
    (tmp_path / "app/main.c").write_text(mask)
    domain = replace(DOMAIN, sources=("app/main.c",), includes=("app/inc",), defines=("SHIFT=4",))
    result = port_project(tmp_path, domain)
    ((main,), built) = result.files, build_of(tmp_path, [], domain)
    assert (main.file.name, [v.status for v in main.verdicts]) == (
        "app/main.c",
        [Status.REWRITTEN],
    )
    assert (built.source, list(built.units)) == ("description", [tmp_path / "app/main.c"])
    assert built.options.include_dirs == (tmp_path / "app/inc",)
    assert port_project(tmp_path, replace(domain, defines=("SHIFT=0",))).files[0].verdicts != (
        main.verdicts
    ), "what the level is follows from it"


def test_project_files_of_examples_count_wherever_they_are(tmp_path: Path) -> None:
    """That of a library alone has no hardware in it."""
    place = tmp_path / "examples/one/board/mdk"
    place.mkdir(parents=True)
    for folder, source in ((tmp_path, "a.c"), (place, "../../../../b.c")):
        text = KEIL.format(core="Cortex-M3", fpu=1)
        text = re.sub(r"<FilePath>[^<]*Main\.c", f"<FilePath>{source}", text)
        text = re.sub(r"<File>(?:(?!</File>).)*(?:spare|old)\.c.*?</File>", "", text, flags=re.S)
        (folder / "p.uvprojx").write_text(text)
    for name in ("a", "b"):
        (tmp_path / f"{name}.c").write_text("void f(void) { __disable_irq(); }\n")
    found = {it.file.name: {v.status for v in it.verdicts} for it in port_project(tmp_path).files}
    assert found == {"a.c": {Status.REWRITTEN}, "b.c": {Status.REWRITTEN}}


ABSOLUTE = ("C:\\Users\\Ann\\Work\\board\\", "D:/board/", "/home/ann/board/")


@pytest.mark.parametrize("prefix", ABSOLUTE)
def test_folders_of_another_machine_are_found_by_how_they_end(prefix: str, tmp_path: Path) -> None:
    """The project's own, and one that stands deeper if it is the only one of its name."""
    text = KEIL.format(core="Cortex-M4", fpu=2)
    text = text.replace("..\\INC", f"{prefix}INC;{prefix}CMSIS/Core")
    text = text.replace("..\\drivers\\inc", f"{prefix}Drivers/Inc")
    root = project(tmp_path, "MDK-ARM/one.uvprojx", text)
    (root / "libraries/cmsis/core").mkdir(parents=True)
    build = read_build(root, [])
    wanted = root / "inc", root / "libraries/cmsis/core", root / "drivers/inc"
    assert build.options.include_dirs == wanted
    assert set(build.moved.values()) == set(wanted)
    said, *_ = assumptions(port_project(root))
    assert "end alike: " in said and "board/INC (inc)" in said and "\\" not in said


def test_a_file_of_another_machine_that_is_here_is_not_missing(tmp_path: Path) -> None:
    """An example that was copied with the vendor's drivers: nothing is in doubt for it."""
    text = KEIL.format(core="Cortex-M4", fpu=2).replace("..\\src\\old.c", "..\\..\\lib\\src\\l.c")
    text = text.replace("<IncludeInBuild>0", "<IncludeInBuild>1")
    root = project(tmp_path / "b", "mdk/p.uvprojx", text)
    (root / "src/spare.c").touch()
    (root / "lib/src").mkdir(parents=True)
    assert read_build(root, []).missing, "the control: its folder is there, and the file isn't"
    (root / "lib/src/l.c").touch()
    build = read_build(root, [])
    assert root / "lib/src/l.c" in build.units and not build.missing and build.is_known


def test_where_two_end_alike_none_is_taken(tmp_path: Path) -> None:
    text = KEIL.format(core="Cortex-M4", fpu=2).replace("..\\INC", "C:\\board\\CMSIS\\Core")
    root = project(tmp_path, "MDK-ARM/one.uvprojx", text)
    for name in ("a/cmsis/core", "b/cmsis/core", "core"):
        (root / name).mkdir(parents=True)
    build = read_build(root, [])
    assert build.moved == {} and root / "drivers/inc" in build.options.include_dirs
    (root / "b" / PORT_RECORD).write_text("{}")  # an earlier port's copy is no second one
    assert [*read_build(root, []).moved.values()] == [root / "a/cmsis/core"]


def test_compile_commands_of_another_machine_are_read(tmp_path: Path) -> None:
    root = project(tmp_path / "board", "other.txt", "")
    entry = {
        "directory": "C:/Users/Ann/board/build",
        "file": "C:/Users/Ann/board/src/main.c",
        "command": "C:/gcc/bin/arm-none-eabi-gcc.exe -mcpu=cortex-m4 -DBOARD=2 "
        "-IC:/Users/Ann/board/inc -c C:/Users/Ann/board/src/main.c -o main.o",
    }
    (root / "compile_commands.json").write_text(json.dumps([entry]))
    build = read_build(root, [])
    assert list(build.units) == [root / "src/main.c"]
    assert build.options.include_dirs == (root / "inc",)
