"""The road from two legacy projects to one image, by the commands that a user types."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from lxml import etree
from report import Report

EXAMPLE = Path("examples/two-legacy-mcus")
DESCRIPTION = EXAMPLE / "system.xml"
BUILD = Path("build/demo")
LEGACY = BUILD / "legacy"
REFUSED = BUILD / "refused"
CONTROL = BUILD / "control"
PROJECTS = ("motor-controller", "sensor-node")
SECTIONS = ("motor-serial", "sensor-serial")
PARTS = ("kernel", "hypervisor", "heartbeat", *SECTIONS, *PROJECTS)
CHANGED = BUILD / "changed"
FVMKIT = Path(sys.executable).with_name("fvmkit")
SHOWN_LINES = 12  # of a command's output; all of it is in the log
WIDTH = 150  # of a shown line
LOG = BUILD / "demo.log"


class Broken(Exception):
    """A step failed in a way that makes the next ones pointless."""


def command(report: Report, *words: str | Path, status: int = 0, shown: int = SHOWN_LINES) -> str:
    """Run a fvmkit command; Broken when its exit status is another than expected."""
    text = shlex.join(map(str, words))
    report.line(f"$ fvmkit {text}")
    done = subprocess.run([FVMKIT, *words], capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    lines = output.splitlines()
    with LOG.open("a") as log:
        log.write(f"$ fvmkit {text}\n{output}(exit status {done.returncode})\n\n")
    if done.returncode != status:
        end = "\n".join(lines[-shown:])
        raise Broken(f"exit status {done.returncode}, not {status} (see {LOG}):\n{end}")
    for line in lines[:shown]:
        for word in words:
            line = line.removeprefix(f"{word}: ")  # the file that was named above
        report.line(f"  {line if len(line) <= WIDTH else line[: WIDTH - 3] + '...'}")
    if len(lines) > shown > 0:
        report.line(f"  ... {len(lines) - shown} more lines in {LOG}")
    return output


def build_legacy(report: Report) -> None:
    """The firmwares as they are today, built by their own Makefiles."""
    for name in PROJECTS:
        folder = LEGACY / name
        shutil.copytree(EXAMPLE / name, folder, ignore=shutil.ignore_patterns("build"))
        report.line(f"$ make -C {folder}")
        done = subprocess.run(
            ["make", "-C", folder, "-j2"], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise Broken(done.stderr)


def legacy_elf(name: str) -> Path:
    """What build_legacy made."""
    return LEGACY / name / "build" / f"{name}.elf"


def port(report: Report) -> None:
    """Both projects: the diff for a person to read, and a ported copy in build/demo/ported."""
    for name in PROJECTS:
        policy = BUILD / f"{name}.domain.json"
        diff = BUILD / f"{name}.diff"
        command(report, "port", EXAMPLE / name, "--domain", policy, "-o", diff, shown=0)
        command(
            report, "port", EXAMPLE / name, "--domain", policy, "--out", BUILD / "ported" / name
        )
        lines = diff.read_text("latin-1").splitlines()
        files = sum(line.startswith("+++ ") for line in lines)
        added, removed = (
            sum(line.startswith(sign) for line in lines) - files for sign in ("+", "-")
        )
        report.check(f"{diff}: {files} files, {added} lines added, {removed} removed", files > 0)


def split(report: Report) -> None:
    """What of the console interrupts must not wait for a VM moves into a process each."""
    for name in PROJECTS:
        policy = BUILD / f"{name}.domain.json"
        output = command(report, "split", EXAMPLE / name, "--domain", policy, shown=22)
        report.check(
            f"no control register of {name}'s port has two writers",
            "middle: none" in output,
            output,
        )
        command(
            report,
            *("split", EXAMPLE / name, "--domain", policy, "--out", BUILD / "split" / name),
            shown=0,
        )


def scan(report: Report) -> None:
    """The scanner's word on the firmwares before and after."""
    for name in PROJECTS:
        policy = BUILD / f"{name}.domain.json"
        output = command(report, "scan", legacy_elf(name), "--policy", policy, status=1, shown=4)
        report.check(f"{name} as it was: rejected", "reject" in output, output)
    for name in PROJECTS:
        policy = BUILD / f"{name}.domain.json"
        elf = BUILD / name / f"{name}.elf"
        output = command(report, "scan", elf, "--policy", policy, shown=4)
        report.check(f"{name} as ported: accepted", True)


def refuse(report: Report) -> None:
    """A system with one unported firmware in it does not become an image."""
    for name in PARTS:
        (REFUSED / name).mkdir(parents=True)
        shutil.copy(BUILD / name / f"{name}.elf", REFUSED / name)
    for path in BUILD.glob("*.json"):
        shutil.copy(path, REFUSED)
    shutil.copy(legacy_elf("sensor-node"), REFUSED / "sensor-node" / "sensor-node.elf")
    output = command(report, "link", REFUSED, "-o", REFUSED / "image" / "system", status=1)
    report.check("an image with an unported part: refused", "rejected" in output, output)
    report.check("and nothing was written", not (REFUSED / "image").exists())


def verify(report: Report) -> None:
    """The last look before an image is flashed, by code that had no part in making it."""
    image = BUILD / "image" / "system"
    output = command(report, "verify", image.with_suffix(".hex"), "--system", DESCRIPTION, shown=30)
    report.check("the image may be flashed", "accept" in output, output)
    CHANGED.mkdir()
    for suffix in (".bin", ".json"):
        shutil.copy(image.with_suffix(suffix), CHANGED)
    changed = CHANGED / "system.bin"
    content = bytearray(changed.read_bytes())
    content[len(content) // 2] ^= 1
    changed.write_bytes(content)
    output = command(report, "verify", changed, "--system", DESCRIPTION, status=1, shown=4)
    report.check("the same image with one bit changed: refused", "reject" in output, output)


def control_system(report: Report) -> None:
    """The same system with memory protection off, from the same ported sources."""
    CONTROL.mkdir()
    description = etree.parse(str(DESCRIPTION))
    (kernel,) = description.iter("kernel")
    kernel.set("protection", "off")
    for project in description.iter("project"):
        if vm := project.get("split"):
            shutil.copytree(BUILD / "split" / vm, CONTROL / "out" / "split" / vm)
        if path := project.get("path"):
            project.set("path", str((EXAMPLE / path).resolve()))
            project.set("ported", str((BUILD / "ported" / path).resolve()))
        for replace in project.iter("replace"):
            replace.set("by", str((EXAMPLE / str(replace.attrib["by"])).resolve()))
    description.write(str(CONTROL / "system.xml"), encoding="UTF-8", xml_declaration=True)
    command(report, "compose", CONTROL / "system.xml", "--out", CONTROL / "out", shown=0)
    command(report, "build", CONTROL / "out", "--quiet", shown=0)
    command(report, "link", CONTROL / "out", shown=0)


def migrate(report: Report) -> None:
    """Everything up to the two images; leaves build/demo/image and build/demo/control."""
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    report.step("The two firmwares as they are today")
    build_legacy(report)
    report.step("Compose: who gets which memory, which device, which interrupt")
    command(report, "compose", DESCRIPTION, "--out", BUILD, shown=30)
    report.step("Port both projects")
    port(report)
    report.step("Split the console interrupts into three sections")
    split(report)
    report.step("Build, and compose again with the sizes of what was built")
    command(report, "build", BUILD, "--quiet")
    command(report, "compose", DESCRIPTION, "--out", BUILD, shown=0)
    command(report, "build", BUILD, "--quiet", shown=0)
    report.step("Scan: may these binaries share a chip?")
    scan(report)
    report.step("Link: one image")
    refuse(report)
    command(report, "link", BUILD)
    report.step("Verify the finished image")
    verify(report)
    report.step("The same system without protection, to see what the protection does")
    control_system(report)
