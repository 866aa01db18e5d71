"""`fvmkit run`: VM consoles with their names in front, the kernel's log in words."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from composer.commands.run import show
from composer.image.link import link
from composer.simulate.running import Logged, start
from composer.simulate.screen import Screen
from scanner.report.errors import FvmError, MissingError
from tests.composer import tiny_system

FVMKIT = [sys.executable, "-m", "composer.cli"]
SECONDS = 120.0


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A linked tiny system whose kernel logs a fault of alpha."""
    folder = tiny_system.make(tmp_path_factory.mktemp("a b") / "my, out")
    pc = tiny_system.symbol(folder / "alpha" / "alpha.elf", "crash_cmd") + 2
    tiny_system.build_kernel(
        folder,
        "fvm: boot domains=2 mpu=on\r\n"
        "fvm: stat tick=1 domain=alpha ticks=1 dropped=0 restarts=0\r\n"
        f"fvm: fault domain=alpha cause=memory cfsr=0x82 address=0x20008000 pc=0x{pc:x} lr=none"
        ' thread=usr restarts=1 task="console"\r\n',
    )
    link(folder, folder / "image" / "system")
    return folder


def watch(
    folder: Path, *arguments: object, until: tuple[str, ...], text: str = ""
) -> tuple[int, str]:
    """Run an image until everything in `until` was printed, then end it as Ctrl-C does. `text` is
    typed when alpha is up: what comes earlier finds a UART that is still off.

    Returns the exit status and all that was printed, on both streams.
    """
    printed = folder.parent / "printed.txt"
    with printed.open("wb") as file:
        process = subprocess.Popen(
            [*FVMKIT, "run", *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert process.stdin is not None
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and process.poll() is None:
            found = printed.read_text()
            if not process.stdin.closed and (not text or "hello from alpha" in found):
                process.stdin.write(text.encode())
                process.stdin.close()
            if all(wanted in found for wanted in until):
                process.send_signal(signal.SIGINT)
                break
            time.sleep(0.05)
        else:
            process.kill()
        status = process.wait(SECONDS)
    return status, printed.read_text()


def test_every_line_says_whose_it_is(image: Path) -> None:
    status, out = watch(
        image,
        image,
        until=(
            "alpha  | hello from alpha\n",
            "beta   | hello from ?[31mbeta\n",
            "beta   | > \n",
            "kernel | fvm: boot domains=2 mpu=on\n",
            "kernel | alpha rebooted (1): write to 0x20008000 [beta RAM], crash_cmd main.c:5,"
            ' task "console"\n',
        ),
    )
    assert status == 0, out
    assert "stat" not in out


def test_verbose_shows_the_log_as_it_is(image: Path) -> None:
    status, out = watch(image, image, "--verbose", until=("fvm: stat tick=1", "cfsr=0x82"))
    assert status == 0, out


def test_no_qemu_is_left_behind_a_run_that_was_killed(image: Path) -> None:
    process = subprocess.Popen([*FVMKIT, "run", str(image)], stdout=subprocess.DEVNULL)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    deadline = time.monotonic() + SECONDS
    while not (qemu := children.read_text().split()) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait(SECONDS)
    assert qemu
    while any(runs(number) for number in qemu) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(runs(number) for number in qemu)


# Its child asks to be ended with a parent that is no more.
ORPHAN = """
import os, time
from composer.simulate.machine import end_with
parent = os.getpid()
if os.fork():
    os._exit(0)
while os.getppid() == parent:
    time.sleep(0.01)
{}
os.write(1, b"alive")
"""


@pytest.mark.parametrize(("asks", "left"), [("end_with(parent)", b""), ("", b"alive")])
def test_who_is_killed_before_qemu_starts_leaves_none_behind(asks: str, left: bytes) -> None:
    said = subprocess.run([sys.executable, "-c", ORPHAN.format(asks)], stdout=subprocess.PIPE)
    assert said.stdout == left


def runs(process: str) -> bool:
    """Whether there is such a process, and it isn't just not yet waited for."""
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_any_file_of_the_image_will_do_and_typed_lines_reach_their_vm(image: Path) -> None:
    status, out = watch(
        image,
        image / "image" / "system.hex",
        text="alpha: abc\nnobody: x\n",
        until=("alpha  | ABC", "type NAME: text"),
    )
    assert status == 0, out


def test_a_console_in_a_file(image: Path, tmp_path: Path) -> None:
    log = tmp_path / "a, b.txt"
    _, out = watch(image, image, "--serial", f"alpha=file:{log}", until=("beta   | >", "task"))
    assert log.read_bytes() == b"hello from alpha\r\n"
    assert "hello from alpha" not in out


def test_a_console_on_a_terminal_is_named(image: Path) -> None:
    status, out = watch(image, image, "--serial", "alpha=pty", until=("/dev/pts/", "alpha"))
    assert status == 0, out


def test_a_timeout_is_a_normal_end(image: Path) -> None:
    done = subprocess.run(
        [*FVMKIT, "run", str(image), "--timeout", "0.5"],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0


def test_a_console_on_a_socket(image: Path, tmp_path: Path) -> None:
    path = tmp_path / "alpha.sock"
    with start(image, [f"alpha=unix:{path}"], []), socket.socket(socket.AF_UNIX) as client:
        deadline = time.monotonic() + SECONDS
        while client.connect_ex(str(path)) and time.monotonic() < deadline:
            time.sleep(0.05)
        client.settimeout(0.5)
        answer = b""
        while not answer.endswith(b"Q") and time.monotonic() < deadline:
            client.sendall(b"q")  # dropped until the VM has set up its UART
            with suppress(TimeoutError):
                answer += client.recv(100)  # behind the greeting, where that came in time
        assert answer.endswith(b"Q")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_ctrl_c_ends_qemu_too(image: Path, number: signal.Signals) -> None:
    mark = f"guest_errors,unimp -name fvmkit-test-{os.getpid()}-{number.value}"
    process = subprocess.Popen(
        [*FVMKIT, "run", str(image), "--qemu-arg", f"-d {mark}"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        assert "hello" in process.stdout.readline()
        process.send_signal(number)
        _, errors = process.communicate(timeout=SECONDS)
    finally:
        process.kill()  # QEMU ends with it
    assert process.returncode == 0, errors
    assert mark.rsplit(maxsplit=1)[1] not in all_command_lines()


def all_command_lines() -> str:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(entry.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it ended meanwhile
    return "\n".join(found)


def test_qemu_that_ends_by_itself_is_an_error(image: Path) -> None:
    status, out = watch(image, image, "--qemu-arg", "-no-such-option", until=("never",))
    assert status == 1
    assert "QEMU ended" in out
    assert "no-such-option" in out


def test_qemu_that_fails_while_nobody_looks_is_an_error(
    image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails after a look has found it alive, and before the next one."""
    with start(image, [], ["-no-such-option"]) as running:

        def poll(seconds: float) -> list[object]:
            while "no-such-option" not in running.machine.messages:
                time.sleep(seconds)
            with suppress(FvmError):
                while not running.machine.has_ended():
                    time.sleep(seconds)
            return []

        monkeypatch.setattr(running, "poll", poll)
        with pytest.raises(FvmError, match="QEMU ended with exit status 1"):
            show(running, Screen([]), time.monotonic() + SECONDS, verbose=False)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        ("gamma=pty", "NAME one of alpha, beta, kernel"),
        ("alpha", "NAME=WHERE"),
        ("alpha=carrier:pigeon", "WHERE is pty, file:PATH"),
        ("alpha=tcp:99999", "PORT is 1 to 65535"),
        ("alpha=tcp:localhost:0", "PORT is 1 to 65535"),
    ],
)
def test_a_wrong_serial_is_a_wrong_command_line(image: Path, wish: str, message: str) -> None:
    with pytest.raises(MissingError, match=message), start(image, [wish], []):
        pass


def test_an_image_that_is_not_there(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(MissingError, match="no folder and no image"), start(tmp_path / "x", [], []):
        pass
    with pytest.raises(MissingError, match="run fvmkit link first"), start(folder, [], []):
        pass


def test_a_part_of_a_system_is_no_image(folder: Path, tmp_path: Path) -> None:
    command = rf"alpha\.elf: is one part of a system, 'alpha'.*run: fvmkit run '{folder}'"
    with pytest.raises(MissingError, match=command), start(folder / "alpha/alpha.elf", [], []):
        pass
    (tmp_path / "other.elf").write_bytes(b"")
    with (
        pytest.raises(MissingError, match=r"no other\.json"),
        start(tmp_path / "other.elf", [], []),
    ):
        pass


def test_a_talkative_system_can_be_dumped_and_loses_no_line(folder: Path, tmp_path: Path) -> None:
    """QEMU waits for a full line's reader with its monitor held; some 300 bytes fill a line."""
    lines = [f"fvm: stat tick={n} domain=alpha ticks={n} dropped=0 restarts=0" for n in range(200)]
    tiny_system.build_kernel(folder, "".join(f"{line}\r\n" for line in lines))
    link(folder, folder / "image" / "system")
    with start(folder, [], []) as running:
        time.sleep(1)
        running.machine.monitor.dump(tiny_system.RAM, 1024, tmp_path / "ram.bin")
        seen: list[str] = []
        deadline = time.monotonic() + SECONDS
        while len(seen) < len(lines) and time.monotonic() < deadline:
            seen += [event.record.text for event in running.poll(0.1) if isinstance(event, Logged)]
    assert seen == lines
    assert (tmp_path / "ram.bin").stat().st_size == 1024


@pytest.mark.parametrize("seconds", ["-1", "0", "nan", "inf"])
def test_a_timeout_is_a_time(image: Path, seconds: str) -> None:
    done = subprocess.run(
        [*FVMKIT, "run", str(image), "--timeout", seconds],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "is no time above 0 s" in done.stderr


def test_a_part_that_was_built_again_needs_a_new_image(folder: Path) -> None:
    link(folder, folder / "image" / "system")
    tiny_system.build_domain(folder, "alpha", bss=128)
    with pytest.raises(FvmError, match=r"alpha\.elf: changed since"), start(folder, [], []):
        pass


def test_a_recorded_run_replays_and_ends(image: Path, tmp_path: Path) -> None:
    record = f"shift=4,sleep=off,rr=record,rrfile={tmp_path / 'run.bin'}"
    status, recorded = watch(image, image, "--icount", record, until=("task", "beta   | >"))
    assert status == 0, recorded
    for _ in range(2):
        done = subprocess.run(
            [*FVMKIT, "run", str(image), "--icount", record.replace("=record", "=replay")],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.splitlines()) == sorted(
            line for line in recorded.splitlines() if " | " in line
        )
