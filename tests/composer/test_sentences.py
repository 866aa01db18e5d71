"""The kernel's log in words, from records and the domain ELFs."""

from __future__ import annotations

from pathlib import Path

import pytest

from composer.image.composed import read_composed
from composer.simulate.log import LineReader, parse
from composer.simulate.places import Places
from composer.simulate.sentences import sentence, writing
from tests.composer import tiny_system


@pytest.fixture(scope="session")
def places(built: Path) -> Places:
    return Places(read_composed(built))


def words(places: Places, text: str) -> str:
    return sentence(parse(text), places)


def store_address(built: Path) -> int:
    """The str of crash_cmd, behind one 16-bit movs."""
    return tiny_system.symbol(built / "alpha" / "alpha.elf", "crash_cmd") + 2


def fault(built: Path, **changes: str) -> str:
    fields = {
        "domain": "alpha",
        "cause": "memory",
        "cfsr": "0x00000082",
        "address": "0x20008000",
        "pc": hex(store_address(built)),
        "lr": "0x08004029",
        "thread": "usr",
        "restarts": "1",
    } | changes
    return "fvm: fault " + " ".join(f"{key}={value}" for key, value in fields.items())


def test_a_wild_write(built: Path, places: Places) -> None:
    assert words(places, fault(built) + ' task="console"') == (
        'alpha rebooted (1): write to 0x20008000 [beta RAM], crash_cmd main.c:5, task "console"'
    )


@pytest.mark.parametrize(
    ("address", "owner"),
    [
        ("0x08004000", "alpha flash"),
        ("0x2000bffc", "beta RAM"),
        ("0x2000c000", "granted to nobody"),
        ("0x40004404", "beta USART2"),
        ("0x20000000", "kernel RAM"),
        ("0xe000ed94", "system control space"),
        ("0x00000000", "granted to nobody"),
    ],
)
def test_owners(built: Path, places: Places, address: str, owner: str) -> None:
    text = words(places, fault(built, address=address))
    assert f"write to {address} [{owner}]" in text


def test_a_read(built: Path, places: Places) -> None:
    literal = tiny_system.symbol(built / "alpha" / "alpha.elf", "reset_cmd") + 6
    assert "read of 0x20008000" in words(places, fault(built, pc=hex(literal)))


def test_the_watchdog_says_how_long_it_waited(built: Path, places: Places) -> None:
    text = words(places, fault(built, cause="watchdog", cfsr="0x0", address="none", restarts="3"))
    assert text == "alpha rebooted (3): watchdog after 500 ms, crash_cmd main.c:5"


def test_a_reset_is_placed_at_the_caller_of_the_hypercall(built: Path, places: Places) -> None:
    elf = built / "alpha" / "alpha.elf"
    text = fault(
        built, cause="reset", cfsr="0x0", address="none",
        pc=hex(tiny_system.symbol(elf, "hyp_reboot") + 2),
        lr=hex(tiny_system.symbol(elf, "reset_cmd") + 6 + 1),
    )  # fmt: skip
    assert words(places, text) == "alpha rebooted (1): reset request, reset_cmd main.c:10"


def test_a_jump_is_placed_at_the_caller(built: Path, places: Places) -> None:
    lr = hex(tiny_system.symbol(built / "alpha" / "alpha.elf", "reset_cmd") + 6 + 1)
    text = words(places, fault(built, cfsr="0x00000001", address="none", pc="0x20008000", lr=lr))
    assert text == "alpha rebooted (1): jump to 0x20008000 [beta RAM], reset_cmd main.c:10"


@pytest.mark.parametrize(
    ("cfsr", "words_"),
    [
        ("0x00010000", "undefined instruction"),
        ("0x02000000", "division by zero"),
        ("0x00080000", "use of the FPU without a grant"),
        ("0x00000010", "stack outside its own memory"),
    ],
)
def test_other_faults(built: Path, places: Places, cfsr: str, words_: str) -> None:
    text = words(places, fault(built, cause="usage", cfsr=cfsr, address="none"))
    assert text.startswith(f"alpha rebooted (1): {words_}, ")


def test_a_breakpoint_is_told_from_other_hard_faults(built: Path, places: Places) -> None:
    pc = hex(tiny_system.symbol(built / "alpha" / "alpha.elf", "halt_cmd"))
    hard = {"cause": "hard", "cfsr": "0x0", "address": "none"}
    text = words(places, fault(built, pc=pc, **hard))
    assert text == "alpha rebooted (1): BKPT, with no debugger attached, halt_cmd main.c:13"
    text = words(places, fault(built, **hard))
    assert text == "alpha rebooted (1): hard fault, crash_cmd main.c:5"


def test_nothing_is_known_of_the_place(built: Path, places: Places) -> None:
    text = words(places, fault(built, cause="stacking", cfsr="0x92", pc="none", lr="none"))
    assert text == "alpha rebooted (1): stack outside its own memory, at 0x20008000 [beta RAM]"


def test_a_domain_that_does_not_exist_stays_as_it_is(built: Path, places: Places) -> None:
    line = fault(built, domain="../../etc/passwd")
    assert words(places, line) == line


def test_a_task_name_cannot_move_the_cursor_or_pose_as_a_field(built: Path, places: Places) -> None:
    line = fault(built) + ' task="\x1b[2J" pc=0x0"'
    text = words(places, line)
    assert text.endswith('crash_cmd main.c:5, task "?[2J" pc=0x0"')


def test_what_a_vm_wrote(places: Places) -> None:
    line = 'fvm: text domain=alpha said="speed=12 task=?x? domain=beta"'
    assert parse(line).fields == {"domain": "alpha"}
    assert writing(parse(line), places) == "alpha wrote: speed=12 task=?x? domain=beta"
    line = 'fvm: text domain=alpha lost=7 said=""'
    assert writing(parse(line), places) == "(7 characters of alpha found no room) alpha wrote: "
    line = 'fvm: text domain=nobody said="x"'
    assert writing(parse(line), places) == line


def test_lines_arrive_in_pieces_and_endless_ones_are_cut() -> None:
    reader = LineReader()
    assert reader.feed(b"fvm: boot dom") == []
    (record,) = reader.feed(b"ains=4 mpu=on\r\n")
    assert (record.kind, record.fields) == ("boot", {"domains": "4", "mpu": "on"})
    assert len(reader.feed(b"x" * 600)) == 1
    (noise,) = reader.feed(b"\xff\x00junk\r\n")
    assert (noise.kind, noise.text) == ("", "??junk")
