"""`fvmkit compose`: what it writes, what it refuses to touch, what it prints."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from composer.emit.boot import boot_ops, pin_grants
from composer.emit.generate import generate
from tests.composer import systems


def fvmkit(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "composer.cli", *(str(a) for a in arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        str(p.relative_to(folder)): (p.read_bytes(), p.stat().st_mtime_ns)
        for p in folder.rglob("*")
        if p.is_file()
    }


@pytest.fixture
def composed(tmp_path: Path) -> tuple[Path, Path]:
    """Description and output folder, in a path with a space."""
    description = systems.write(tmp_path / "my system")
    out = tmp_path / "my out"
    result = fvmkit("compose", description, "--out", out)
    assert result.returncode == 0, result.stderr
    return description, out


def test_unchanged_input_leaves_every_file_untouched(composed: tuple[Path, Path]) -> None:
    description, out = composed
    before = snapshot(out)
    result = fvmkit("compose", description, "--out", out)
    assert result.returncode == 0
    assert snapshot(out) == before
    assert f"0 of {len(before)} files written" in result.stderr


def test_a_change_is_written_and_reaches_the_generated_files(composed: tuple[Path, Path]) -> None:
    description, out = composed
    description.write_text(description.read_text().replace('flash="32K"', 'flash="64K"'))
    assert fvmkit("compose", description, "--out", out).returncode == 0
    assert "LENGTH = 65536" in (out / "one" / "one.ld").read_text()


def test_all_parts_are_compiled_at_the_level_of_the_description(tmp_path: Path) -> None:
    description = systems.write(tmp_path)
    text = description.read_text("utf-8")
    assert text.count("<system ") == 1
    description.write_text(text.replace("<system ", '<system optimize="s" '), "utf-8")
    out = tmp_path / "out"
    assert fvmkit("compose", description, "--out", out).returncode == 0
    levels = {
        makefile.parent.name: re.findall(r"-O\S+", makefile.read_text("utf-8"))
        for makefile in out.glob("*/Makefile")
    }
    assert {"kernel", "hypervisor", "one", "two"} <= set(levels)
    assert all(level == ["-Os"] for level in levels.values()), levels


@pytest.mark.parametrize(
    ("legacy", "cflags", "said"),
    [
        ("-Os", "", ["'one' is compiled with -O2", "make says -Os", 'cflags="-Os"']),
        ("", "", ["make says -O0"]),
        ("-Os -fshort-enums", "-Os", ["without -fshort-enums", 'cflags="-Os -fshort-enums"']),
        ("-O2 -fwrapv", "-fwrapv", []),
        ("-O0", "-O2", []),
    ],
)
def test_an_option_of_the_legacy_build_that_changes_is_said(
    tmp_path: Path, legacy: str, cflags: str, said: list[str]
) -> None:
    ported = f'<project path="one" cflags="{cflags}">' if cflags else '<project path="one">'
    description = systems.write(tmp_path, ('<project path="one" port="no">', ported))
    rule = f"all:\n\tarm-none-eabi-gcc -mcpu=cortex-m4 {legacy} -c main.c -o main.o\n"
    (tmp_path / "one" / "Makefile").write_text(rule, "utf-8")
    result = fvmkit("compose", description, "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    warned = [line for line in result.stderr.splitlines() if "compiled with" in line]
    assert len(warned) == bool(said) and all(part in warned[0] for part in said)


@pytest.mark.parametrize(
    "name", ["one/one.ld", "two.domain.json", "kernel/fvm_tables.c", "Makefile"]
)
def test_an_edit_by_hand_is_not_overwritten(composed: tuple[Path, Path], name: str) -> None:
    description, out = composed
    edited = (out / name).read_text()
    edited = edited.replace('"schema": 1', '"schema": 2') if ".json" in name else edited + "\n"
    (out / name).write_text(edited)
    description.write_text(description.read_text().replace('flash="32K"', 'flash="64K"'))
    before = snapshot(out)
    result = fvmkit("compose", description, "--out", out)
    assert result.returncode == 1
    assert f"{out / name}: was edited by hand" in result.stderr
    assert snapshot(out) == before


def test_a_file_of_somebody_else_is_not_overwritten(tmp_path: Path) -> None:
    description = systems.write(tmp_path)
    out = tmp_path / "out"
    out.mkdir()
    (out / "Makefile").write_text("all:\n")
    result = fvmkit("compose", description, "--out", out)
    assert result.returncode == 1
    assert "wasn't made by fvmkit" in result.stderr
    assert [p.name for p in out.iterdir()] == ["Makefile"]


@pytest.mark.parametrize(
    ("old", "new", "status", "message"),
    [
        ('chip="STM32F405RG"', 'chip="STM32F1"', 1, "unknown chip 'STM32F1'"),
        ('ram="16K"', 'ram="1M"', 1, "RAM doesn't fit"),
        ('path="one"', 'path="gone"', 2, "'gone' doesn't exist"),
        ('<irq name="USART2"', '<irq name="USART1"', 1, "claimed by 'one' and 'two'"),
        ("</system>", "", 1, "not well-formed"),
    ],
)
def test_an_error_is_one_line_and_nothing_is_written(
    tmp_path: Path, old: str, new: str, status: int, message: str
) -> None:
    description = systems.write(tmp_path, (old, new))
    result = fvmkit("compose", description, "--out", tmp_path / "out")
    assert result.returncode == status
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    assert not (tmp_path / "out").exists()


def test_a_missing_description_is_exit_2(tmp_path: Path) -> None:
    result = fvmkit("compose", tmp_path / "none.xml", "--out", tmp_path / "out")
    assert result.returncode == 2
    assert "none.xml: can't open" in result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_is_exit_2(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    result = fvmkit("compose", systems.write(tmp_path), "--out", tmp_path / "locked" / "out")
    assert result.returncode == 2
    assert "can't be written" in result.stderr


def test_a_file_where_a_folder_should_be_is_exit_2(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "kernel").write_text("")
    result = fvmkit("compose", systems.write(tmp_path), "--out", out)
    assert result.returncode == 2
    assert "can't be written" in result.stderr


def test_the_map_names_every_area_its_owner_and_the_rounding(composed: tuple[Path, Path]) -> None:
    description, out = composed
    printed = fvmkit("compose", description, "--out", out).stdout
    assert "flash 0x08000000-0x08100000 (1M)" in printed
    assert "RAM 0x20000000-0x20020000 (128K)" in printed
    assert "0x08000000       24K  kernel" in printed
    assert "shared link (asked 1000 B, rounding 24 B)" in printed
    assert "lower bound" in printed
    assert "(free)" in printed
    for name in ("kernel", "hypervisor", "beater", "one", "two"):
        assert printed.count(f"  {name}") >= 2  # flash and RAM


def test_protection_off_warns_and_reaches_the_kernel(tmp_path: Path) -> None:
    description = systems.write(tmp_path, ('console="USART6"', 'console="USART6" protection="off"'))
    result = fvmkit("compose", description, "--out", tmp_path / "out")
    assert result.returncode == 0
    assert "warning: " in result.stderr and 'protection="off"' in result.stderr
    assert "#define FVM_MPU_ENABLE 0" in (tmp_path / "out/kernel/fvm_config.h").read_text()


def test_a_granted_device_without_its_clock_is_warned_of(tmp_path: Path) -> None:
    description = systems.write(tmp_path, ('<clock name="USART2"/>', ""))
    result = fvmkit("compose", description, "--out", tmp_path / "out")
    assert result.returncode == 0
    assert "'USART2' is granted to 'two' but its clock stays off" in result.stderr


def domain_json(out: Path, name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((out / f"{name}.domain.json").read_text())
    return record


def test_domain_json_of_a_vm(composed: tuple[Path, Path]) -> None:
    _, out = composed
    record = domain_json(out, "two")
    assert record["schema"] == 1
    assert (record["system"], record["kind"], record["arch"]) == ("tiny", "vm", "armv7em")
    assert (record["clock_hz"], record["kernel_tick_hz"]) == (168000000, 1000)
    assert record["priority_bits"] == 4
    assert (record["tick_hz"], record["catchup"], record["watchdog_ms"]) == (100, 10, 0)
    assert (record["fpu"], record["wfi"], record["svc"]) == (False, False, [245])
    vectors = [(v["virt_id"], v["name"], v["kind"], v["handler"]) for v in record["vectors"]]
    assert vectors == [
        (0, "SWITCH", "switch", None),
        (1, "TICK", "tick", None),
        (2, "SVC", "svc", None),
        (3, "USART2", "irq", "USART2_IRQHandler"),
        (4, "to-two", "event", "event_handler"),
    ]
    assert (record["vectors"][3]["irq"], record["vectors"][3]["mask"]) == (38, "transparent")
    assert record["vectors"][4]["event"] == 0
    assert record["events"] == [
        {"name": "to-two", "id": 0, "direction": "receive"},
        {"name": "to-one", "id": 1, "direction": "send"},
        {"name": "alarm", "id": 2, "direction": "send"},
    ]
    assert record["pins"] == [{"port": "A", "pin": 6}]
    assert {
        "name": "USART2",
        "kind": "device",
        "base": 0x40004400,
        "size": 1024,
        "access": "rw",
    } in (record["grants"])
    assert domain_json(out, "one")["watchdog_ms"] == 500


def test_a_domain_may_ask_for_a_strict_scan(composed: tuple[Path, Path]) -> None:
    description, out = composed
    assert (domain_json(out, "one")["strict"], domain_json(out, "two")["strict"]) == (False, False)
    text = description.read_text()
    description.write_text(text.replace('name="two"', 'name="two" strict="yes"', 1))
    result = fvmkit("compose", description, "--out", out)
    assert result.returncode == 0, result.stderr
    assert (domain_json(out, "one")["strict"], domain_json(out, "two")["strict"]) == (False, True)


def test_project_paths_lead_from_the_json_file_to_the_project(tmp_path: Path) -> None:
    description = systems.write(
        tmp_path / "in",
        ('<project path="one" port="no">', '<project path="one">'),
        ('<project path="two" port="no"><source>*.c</source>',
         '<project path="two" ported="../two ported"><source>*.c</source>'
         '<startup>start.s</startup><replace file="a.c" by="b.c"/>'),
    )  # fmt: skip
    for name in ("start.s", "a.c"):
        (tmp_path / "in" / "two" / name).write_text("")
    (tmp_path / "in" / "b.c").write_text("")
    out = tmp_path / "out"
    assert fvmkit("compose", description, "--out", out).returncode == 0
    one, two = domain_json(out, "one"), domain_json(out, "two")
    assert (out / one["project"]["original"]).resolve() == tmp_path / "in" / "one"
    assert (out / one["project"]["ported"]).resolve() == out / "ported" / "one"
    assert (out / two["project"]["ported"]).resolve() == tmp_path / "two ported"
    assert two["startup"] == ["start.s"]
    assert two["replaced"] == [{"file": "a.c", "by": "b.c"}]
    assert [(out / it).resolve() for it in two["beside"]] == [tmp_path / "in" / "b.c"]
    assert one["beside"] == []
    makefile = (out / "two" / "Makefile").read_text()
    assert "two ported/main.c" in makefile
    assert "in/b.c" in makefile
    assert "a.c" not in makefile and "start.s" not in makefile


@pytest.mark.parametrize("preprocess", ["yes", "no"])
def test_assembler_goes_through_the_preprocessor_where_the_description_says_so(
    tmp_path: Path, preprocess: str
) -> None:
    description = systems.write(
        tmp_path / "in",
        ('<project path="two" port="no"><source>*.c</source>',
         f'<project path="two" port="no" preprocess="{preprocess}"><source>*.[cs]</source>'),
    )  # fmt: skip
    (tmp_path / "in" / "two" / "switch.s").write_text("#include <syscfg.h>\n")
    out = tmp_path / "out"
    assert fvmkit("compose", description, "--out", out).returncode == 0
    compiled = [
        line for line in (out / "two" / "Makefile").read_text().split("\n") if "-c -o" in line
    ]
    files = [line for line in compiled if line.endswith(("two/switch.s", "two/main.c"))]
    asked = {line.rpartition("/")[2] for line in files if "-x assembler-with-cpp" in line}
    assert len(files) == 2
    assert asked == ({"switch.s"} if preprocess == "yes" else set())


def test_headers_name_vectors_events_and_shared_memory(composed: tuple[Path, Path]) -> None:
    _, out = composed
    header = (out / "one" / "fvm_domain.h").read_text()
    for line in (
        '#define FVM_DOMAIN_NAME "one"',
        "#define FVM_CLOCK_HZ 168000000u",
        "#define FVM_VECTORS 5",
        "#define FVM_VIRT_USART1 3",
        "#define FVM_VIRT_TO_ONE 4",
        "#define FVM_EVT_TO_TWO 0",
        "#define FVM_EVT_TO_ONE 1",
        "#define FVM_SHM_LINK_SIZE 1000u",
    ):
        assert line in header
    process = (out / "beater" / "fvm_domain.h").read_text()
    assert "#define FVM_CAP_BEAT 0" in process
    assert "#define FVM_CAP_ALARM 1" in process
    hypervisor = (out / "hypervisor" / "fvm_domain.h").read_text()
    for number, name in enumerate(
        ("FAULT", "MANAGER", "LOG_TICK", "LOG", "RETRY", "LOG_TIMER", "DOMAIN_BEATER",
         "DOMAIN_ONE", "DOMAIN_TWO", "VCPU_ONE", "VCPU_TWO")
    ):  # fmt: skip
        assert f"#define FVM_CAP_{name} {number}\n" in hypervisor


def test_a_log_with_nothing_to_write_looks_seldom(composed: tuple[Path, Path]) -> None:
    """Each look of it makes a tick longer; one of 1 ms at 1000 ticks a second, 15 of them idle."""
    _, out = composed
    config = (out / "hypervisor" / "hyp_config.h").read_text()
    assert "#define HYP_LOG_IDLE_TICKS 15u" in config and "#define HYP_CAP_LOG_TIMER 5\n" in config


def written(ops: list[Any]) -> dict[int, int]:
    """Register contents after the boot table, from what the chip has at reset."""
    registers = {0x40023800: 0x83}  # RCC_CR: HSI on and ready
    for op in ops:
        if op.kind == "WRITE":
            registers[op.address] = op.value
        elif op.kind == "MODIFY":
            registers[op.address] = registers.get(op.address, 0) & ~op.mask | op.value
    return registers


def test_the_boot_table_sets_clocks_and_pins_as_the_reference_manual_says(tmp_path: Path) -> None:
    ops = boot_ops(systems.plan_of(tmp_path))
    registers = written(ops)
    assert registers[0x40023804] == 0x07405408  # PLLCFGR: HSE, 8, 336, 2, 7
    assert registers[0x40023C00] == 0x705  # FLASH_ACR: 5 wait states, caches, prefetch
    assert registers[0x40023808] == 0x9402  # CFGR: APB1 / 4, APB2 / 2, PLL
    assert registers[0x40023800] & 0x01010000 == 0x01010000  # HSE and PLL on
    assert registers[0x40023830] == 1 << 0  # AHB1ENR: GPIOA
    assert registers[0x40023840] == 1 << 28 | 1 << 17  # APB1ENR: PWR, USART2
    assert registers[0x40023844] == 1 << 4 | 1 << 5  # APB2ENR: USART1, console USART6
    assert registers[0x40020000] == 0b10 << 18 | 0b01 << 12  # GPIOA_MODER: PA9 AF, PA6 output
    assert registers[0x40020024] == 7 << 4  # GPIOA_AFRH: PA9
    places = {(op.kind, op.address, op.value): n for n, op in enumerate(ops)}
    hse_ready = places["WAIT", 0x40023800, 1 << 17]
    pll_ready = places["WAIT", 0x40023800, 1 << 25]
    latency = places["WRITE", 0x40023C00, 0x705]
    switch = places["MODIFY", 0x40023808, 2]
    assert hse_ready < pll_ready < switch < places["WAIT", 0x40023808, 8]
    assert latency < switch
    assert places["MODIFY", 0x40023830, 1] < min(
        n for n, op in enumerate(ops) if op.address & ~0x3FF == 0x40020000
    )
    assert all(0 < op.limit <= 100_000 for op in ops if op.kind == "WAIT")


def test_run_time_pins_are_granted_by_port(tmp_path: Path) -> None:
    reads, sets = pin_grants(systems.plan_of(tmp_path))
    assert (reads.domain, reads.port, reads.mask, reads.own) == (2, 0, 0, 1 << 9)
    assert (sets.domain, sets.port, sets.mask, sets.own) == (3, 0, 1 << 6, 1 << 6)
    assert reads.address == sets.address == 0x40020018


def test_vcpus_are_numbered_by_falling_priority(tmp_path: Path) -> None:
    third = systems.TINY[systems.TINY.index('  <vm name="two"') : systems.TINY.index("  <shared")]
    for old, new in (('name="two"', 'name="three"'), ("USART2", "USART3"), ('pin="6"', 'pin="7"')):
        third = third.replace(old, new)
    plan = systems.plan_of(
        tmp_path,
        ("  <shared", f"{third}  <shared"),
        ('name="two"', 'name="two" priority="7"'),
        ('name="three"', 'name="three" priority="7"'),
    )
    assert [(vm.name, vm.vcpu) for vm in plan.vms] == [("two", 0), ("three", 1), ("one", 2)]
    tables = generate(plan, tmp_path)["kernel/fvm_tables.c"]
    tables = tables[tables.index("fvm_vcpu[]") :]
    rows = re.findall(r"/\* (\w+) \*/\n.*?\.peers = (\w+)u,\s+\.priority = (\d+)", tables, re.S)
    assert rows == [("two", "0x00000003", "7"), ("three", "0x00000003", "7"),
                    ("one", "0x00000004", "0")]  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second", "words"), [("0", "0", "0x00000000"), ("1", "0", "0x00000002"),
                                   ("0", "3", "0x00000002"), ("4", "4", "0x00000000")]
)  # fmt: skip
def test_lines_of_less_urgent_vms_are_held_by_words(
    tmp_path: Path, first: str, second: str, words: str
) -> None:
    plan = systems.plan_of(
        tmp_path,
        ('name="one" flash', f'name="one" priority="{first}" flash'),
        ('name="two" flash', f'name="two" priority="{second}" flash'),
    )
    config = generate(plan, tmp_path)["kernel/fvm_config.h"]
    assert f"#define FVM_HELD_WORDS {words}u " in config


def test_kernel_tables_route_lines_events_and_timers(tmp_path: Path) -> None:
    texts = generate(systems.plan_of(tmp_path), tmp_path)
    tables, config = texts["kernel/fvm_tables.c"], texts["kernel/fvm_config.h"]
    for line in (
        "[37] = {.kind = FVM_ROUTE_VCPU, .target = 0, .virt_id = 3,",
        "[38] = {.kind = FVM_ROUTE_VCPU | FVM_ROUTE_TRANSPARENT, .target = 1, .virt_id = 3,",
        "{.sender = 2, .route = {.kind = FVM_ROUTE_VCPU, .target = 1, .virt_id = 4,",
        "{.sender = 3, .route = {.kind = FVM_ROUTE_SIGNAL, .target = 4, .virt_id = 0,",
        "{.signal = 0, .period = 0}",
        "{.signal = 2, .period = 1}",
        "{.signal = 3, .period = 10}",
        ".budget = 840000u,",
        ".watchdog = 500u,",
    ):
        assert line in tables
    for name, count in (
        ("DOMAINS", 4), ("THREADS", 9), ("VCPUS", 2), ("SIGNALS", 5), ("EVENTS", 3), ("TIMERS", 3),
        ("IRQS", 82), ("PINS", 2),
    ):  # fmt: skip
        assert f"#define FVM_{name} {count}\n" in config
    hypervisor = texts["hypervisor/hyp_config.h"]
    assert "#define HYP_CONSOLE_BASE 0x40011400u" in hypervisor
    assert "#define HYP_CONSOLE_DIVIDER 729u" in hypervisor  # 84 MHz / 115200
    assert "#define HYP_REPORT_TICKS 1000u" in hypervisor
