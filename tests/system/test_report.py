"""The report of the migrated example, as a person sees it in a browser."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import composer.report.page
from composer.description.parse import parse
from composer.image.composed import ram_bank
from composer.report.material import gather
from tests.support.browser import Browser, find_chromium
from tests.support.example import MOTOR, SENSOR
from tests.support.png import read_png
from tests.system.live import PATIENCE
from tests.system.road import COUNTED, FVMKIT, Road, fvmkit
from tests.system.test_run_command import read_until

pytestmark = pytest.mark.campaign

SECTIONS = (
    "summary", "porting", "sections", "memory", "regions", "routes", "policies", "verdicts",
    "run", "reboots", "timeline", "stacks",
)  # fmt: skip
# A picture that is white on a light page and black on a dark one.
TIMELINE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 20" width="100" height="20">
<title>who ran when</title><style>rect { fill: #fff }
@media (prefers-color-scheme: dark) { rect { fill: #000 } }</style>
<rect width="100" height="20"/></svg>"""
PAINT = b"\xa5"
A4_WIDTH = 718  # CSS pixels between margins of 10 mm
READABLE = 4.5  # contrast of small text (WCAG 2, AA)


@dataclass(frozen=True)
class Kept:
    """What a run leaves behind; a page made from it, and one without it."""

    run: Path
    ram: Path
    page: Path
    bare: Path


@pytest.fixture(scope="module")
def kept(road: Road, tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """A run with a crash, recorded by the commands that a user has; two pages."""
    room = tmp_path_factory.mktemp("a report")
    found = Kept(*(room / name for name in ("run.json", "ram.bin", "page.html", "bare.html")))
    address = road.built.memory(SENSOR, "ram").start
    lines: list[str] = []
    with subprocess.Popen(
        [FVMKIT, "run", road.out.name, "--icount", COUNTED[1], "--timeout", str(PATIENCE),
         "--record", found.run, "--dump-ram", found.ram],
        cwd=road.room, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        read_until(process.stdout, lines, [f"{MOTOR} | ready"])
        process.stdin.write(f"{MOTOR}: crash {address:x}\n")
        read_until(process.stdout, lines, [f"{MOTOR} | ready", " rebooted "])
        process.stdin.write(f"{SENSOR}: status\n")
        read_until(process.stdout, lines, [f"{SENSOR:16} | ok"])
        process.terminate()
    assert process.returncode == 0
    with ThreadPoolExecutor() as pool:  # from elsewhere and by another name: paths don't matter
        picture = room / "timeline.svg"
        picture.write_text(TIMELINE)
        options = ("--run", found.run, "--ram", found.ram, "--timeline", picture)
        pages = (
            (("report", road.out.name, "-o", found.page, *options), road.room),
            (("report", road.out / "image" / "system.hex", "-o", found.bare), room),
        )
        for said in pool.map(lambda page: fvmkit(*page[0], cwd=page[1]), pages):
            assert said.status == 0, said.all
    return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all pages."""
    program = find_chromium()
    if program is None:
        pytest.skip("no Chromium: apt-get install chromium-headless-shell")
    with Browser(program) as opened:
        yield opened


def section(page: Path, name: str) -> str:
    """The HTML of a section."""
    return page.read_text("utf-8").partition(f'<section id="{name}"')[2].partition("</section>")[0]


def test_the_same_image_gives_the_same_page(kept: Kept) -> None:
    for name in SECTIONS[1:8]:
        assert section(kept.page, name)
        assert section(kept.page, name) == section(kept.bare, name)


def test_the_page_is_one_file(kept: Kept) -> None:
    text = kept.page.read_text("utf-8")
    assert "<script" not in text
    assert not re.findall(r"""(?:src|srcset|action|data)\s*=\s*["'](?!data:)""", text)
    assert {link[:1] for link in re.findall(r'href="([^"]*)', text)} <= {"#", "d"}
    assert not re.findall(r"@import|@font-face|url\((?!#)", text)
    assert str(kept.page.parent) not in text


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_browser_shows_every_section(kept: Kept, browser: Browser, dark: bool) -> None:
    browser.resize(1280)
    browser.open(kept.page, dark=dark)
    tops = browser.ask(
        "[...document.querySelectorAll('main section')]"
        ".map(s => [s.id, s.offsetTop, s.offsetHeight])"
    )
    assert [name for name, _, _ in tops if name in SECTIONS] == list(SECTIONS)
    ends = [top + height for _, top, height in tops]
    assert all(top >= end for (_, top, _), end in zip(tops[1:], ends[:-1], strict=True))
    assert all(height > 80 for _, _, height in tops)
    links = browser.ask("[...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    anchors = browser.ask("[...document.querySelectorAll('[id]')].map(e => '#' + e.id)")
    assert set(links) <= set(anchors)
    assert browser.seen.console == []
    assert browser.seen.requests == [kept.page.as_uri()]

    shot = read_png(browser.screenshot("main > header"))
    red, green, blue = shot.at(shot.width - 4, 4)
    assert max(red, green, blue) < 40 if dark else min(red, green, blue) > 240


def colour(browser: Browser, expression: str) -> tuple[int, int, int]:
    """A computed CSS colour."""
    red, green, blue = re.findall(r"\d+", browser.ask(expression))[:3]
    return int(red), int(green), int(blue)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_map_is_to_scale(kept: Kept, browser: Browser, road: Road, dark: bool) -> None:
    """Where a part lies by system.json, the picture has the part's colour of the key."""
    browser.resize(1280)
    browser.open(kept.page, dark=dark)
    system: dict[str, Any] = json.loads((road.out / "system.json").read_text())
    chips = {
        name: colour(browser, f"getComputedStyle(document.querySelectorAll('.key .chip')[{n}])"
                              ".backgroundColor")
        for n, name in enumerate(["kernel", *(d["name"] for d in system["domains"])])
    }  # fmt: skip
    for number, key in enumerate(("flash", "ram")):
        browser.ask(f"document.querySelectorAll('svg.map')[{number}].id = 'here{number}'")
        svg = f"#here{number}"
        shot = read_png(browser.screenshot(svg))
        scale = shot.width / 1008  # the picture's own units, 4 of them before the bar
        parts = {"kernel": system["kernel"][key]} | {d["name"]: d[key] for d in system["domains"]}
        blocks = [*parts.values(), *(system["shared"] if key == "ram" else ())]
        end = max(block["base"] + block["size"] for block in blocks)
        bank = system[key]
        for name, block in parts.items():
            offset = block["base"] - bank["base"]
            whole = 4 + 1000 * (offset + block["size"] / 2) / bank["size"]
            assert shot.at(whole * scale, 10 * scale) == chips[name], (key, name)
            magnified = 4 + 1000 * offset / (end - bank["base"]) + 2
            assert shot.at(magnified * scale, 80 * scale) == chips[name], (key, name)
        free = 4 + 1000 * (end - bank["base"] + bank["size"]) / 2 / bank["size"]
        assert shot.at(free * scale, 10 * scale) not in chips.values()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_timeline_is_shown_in_the_page_s_light(
    kept: Kept, browser: Browser, dark: bool
) -> None:
    browser.open(kept.page, dark=dark)
    assert browser.ask("document.querySelector('img.timeline').alt") == "who ran when"
    shot = read_png(browser.screenshot("img.timeline"))
    assert shot.at(shot.width / 2, shot.height / 2) == ((0, 0, 0) if dark else (255, 255, 255))


def test_the_page_fits_wide_and_narrow_windows(kept: Kept, browser: Browser) -> None:
    for width in (1280, 900, 420):
        browser.resize(width)
        browser.open(kept.page)
        browser.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert browser.ask("document.documentElement.scrollWidth") <= width


CONTRAST = """(() => {
  const light = c => {
    const whole = c.startsWith('rgb') ? 255 : 1;  // else color(srgb r g b)
    const [r, g, b] = c.match(/[\\d.]+/g).map(v => v / whole).map(
      v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) {
    const c = getComputedStyle(e).backgroundColor;
    if (!c.startsWith('rgba(0, 0, 0, 0')) return c; } };
  const poor = {};
  for (const e of document.querySelectorAll('body *')) {
    const told = [...e.childNodes].some(n => n.nodeType == 3 && n.data.trim());
    if (!told || e.closest('svg')) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < LIMIT) poor[e.tagName + '.' + e.className] = ratio.toFixed(2); }
  return poor; })()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_can_be_read(kept: Kept, browser: Browser, dark: bool) -> None:
    browser.open(kept.page, dark=dark)
    browser.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.ask(CONTRAST.replace("LIMIT", str(READABLE))) == {}


def test_pictures_have_words(kept: Kept, browser: Browser) -> None:
    browser.open(kept.page)
    assert (
        browser.ask(
            "[...document.querySelectorAll('svg[role=img]')].filter(s =>"
            " !(s.getAttribute('aria-label') || document.getElementById("
            "s.getAttribute('aria-labelledby'))?.textContent)).length"
        )
        == 0
    )
    assert browser.ask(
        "[...document.querySelectorAll('svg')].every(s => s.getAttribute('role') == 'img')"
    )
    levels = browser.ask(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))"
    )
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_without_scripts_it_is_the_same_page(kept: Kept, browser: Browser) -> None:
    browser.resize(1280)
    browser.open(kept.page)
    with_scripts = browser.screenshot("#memory")
    browser.open(kept.page, scripts=False)
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert browser.screenshot("#memory") == with_scripts


def test_it_prints(kept: Kept, browser: Browser) -> None:
    """On paper nothing can be scrolled, so nothing may be wider than the sheet."""
    browser.open(kept.page)
    browser.ask("document.querySelectorAll('details').forEach(d => d.open = true)")
    pages = len(re.findall(rb"/Type\s*/Page\b", browser.printed()))
    assert 10 <= pages <= 80
    browser.resize(A4_WIDTH)
    browser.call("Emulation.setEmulatedMedia", media="print")
    hidden = browser.ask("getComputedStyle(document.querySelector('nav')).display")
    wide = browser.ask(
        "[...document.querySelectorAll('main :not(.away, .away *)')]"
        f".filter(e => e.getBoundingClientRect().right > {A4_WIDTH} + 1)"
        ".map(e => e.tagName + '.' + e.getAttribute('class')).slice(0, 9)"
    )
    browser.call("Emulation.setEmulatedMedia", media="")
    assert (hidden, wide) == ("none", [])


def test_the_page_tells_what_happened(kept: Kept, browser: Browser, road: Road) -> None:
    browser.open(kept.page)
    address = road.built.memory(SENSOR, "ram").start
    words = f"{MOTOR} rebooted (1): write to 0x{address:08x} [{SENSOR} RAM], crash_cmd console.c:"
    reboots = browser.ask("document.querySelector('#reboots').innerText")
    assert words in reboots and reboots.count("rebooted") == 1
    talk = browser.ask("document.querySelector('#run').innerText")
    assert "status t=" in talk and f"crash {address:x}" in talk
    verdicts = browser.ask(
        "Object.fromEntries([...document.querySelectorAll('.verdicts tr')].map("
        "r => [r.cells[0].innerText, r.cells[1].innerText + ': ' + r.cells[2].innerText]))"
    )
    domains = len(json.loads((road.out / "system.json").read_text())["domains"])
    assert verdicts["Scan"].startswith(f"ok: {domains} domains accepted")
    assert re.match(r"ok: \d\d checks of the image", verdicts["Verify"])
    assert "grant exactly what is described" in verdicts["Protection"]
    assert verdicts["Interrupts"].startswith("ok: 2 lines led as described")
    assert verdicts["Run"] == "ok: 1 restart of domains, each with its cause"
    report = json.loads(road.said[f"report {MOTOR}"].out)
    counts = f"{report['found']} sites: {report['rewritten']} rewritten, {report['left']} left"
    assert verdicts[f"Port {MOTOR}"].startswith(f"ok: {counts}, 0 escalated")
    assert f"{report['found']} explained, 0 open" in verdicts[f"Port {MOTOR}"]
    routes = browser.ask("document.querySelector('svg.routes').textContent")
    for step in ("PA10 RX", "line 37", "USART1_IRQHandler", "PA3 RX", "USART2_IRQHandler"):
        assert step in routes


def test_each_handler_is_shown_with_its_sections(kept: Kept, browser: Browser, road: Road) -> None:
    browser.open(kept.page)
    text = browser.ask("document.querySelector('#sections').innerText")
    for vm in (MOTOR, SENSOR):
        for vector in json.loads(road.policy(vm).read_text())["vectors"]:
            if vector["kind"] != "irq":
                continue
            _, _, part = text.partition(f"{vector['name']} of {vm}")
            if vector.get("split") is None:
                assert part.strip().startswith("Not split") and vector["handler"] in part
            else:
                device = vector["name"]
                read = re.search(rf"middle\s+(?:char c = \(char\))?{device}->DR;.*record", part)
                assert read and re.search(r"bottom\s+rx_head = next;", part), part[:2000]


def test_what_is_missing_is_said(kept: Kept) -> None:
    verdicts = section(kept.bare, "summary")
    assert "no run was recorded for this page" in verdicts
    assert "no dump of the RAM was given" in verdicts
    for name, command in (
        ("run", "--record"),
        ("reboots", "No run"),
        ("timeline", "--trace"),
        ("stacks", "--dump-ram"),
    ):
        assert command in section(kept.bare, name)


def test_hostile_consoles_run_nothing(
    kept: Kept, browser: Browser, road: Road, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = json.loads(kept.run.read_text())
    attack = "</li></ol><script>document.title='taken'</script><img src=x onerror=alert(1)>"
    fault = {"kind": "fault", "domain": MOTOR, "tick": attack, "restarts": attack}
    run["lines"] += [
        {"kind": "said", "from": MOTOR, "text": attack},
        {"kind": "said", "from": attack, "text": attack},
        {"kind": "check", "from": "", "text": attack, "kept": False},
        {"kind": "log", "from": MOTOR, "text": attack, "sentence": attack, "fields": fault},
    ]
    run["stats"] = [{"domain": MOTOR, "ticks": attack, "dropped": attack, "restarts": attack}]
    (tmp_path / "run.json").write_text(json.dumps(run))
    for part in ("projects", "interrupts"):  # they take long, and say nothing of a run
        monkeypatch.setattr(composer.report.page, part, lambda material: ())
    page = tmp_path / "page.html"
    page.write_text(composer.report.page.page(gather(road.out, tmp_path / "run.json")), "utf-8")
    browser.open(page)
    assert browser.ask("document.title").endswith(": migration report")
    assert browser.ask("document.querySelectorAll('script, img, main [onerror]').length") == 0
    assert browser.ask("document.querySelector('main').innerText").count("onerror=alert(1)") >= 6
    assert (browser.seen.console, browser.seen.requests) == ([], [page.as_uri()])


# --- stacks ---------------------------------------------------------------------------------


def used(said: str) -> dict[tuple[str, str], tuple[int, int]]:
    """Size and use of every stack as the command prints them."""
    rows = [line.split() for line in said.splitlines()[1:]]
    return {(part, name): (int(size), int(bytes_)) for part, name, size, bytes_, *_ in rows}


def test_every_stack_of_a_run_was_used_and_none_overflowed(road: Road, kept: Kept) -> None:
    said = fvmkit("stacks", road.out.name, "--ram", kept.ram, cwd=road.room)
    assert (said.status, said.err) == (0, "")
    found = used(said.out)
    native = parse(road.built.description).processes
    assert set(found) == {
        ("kernel", "kernel"),
        *(("hypervisor", f"hyp_{name}_thread") for name in ("fault", "manager", "log", "idle")),
        *((p.name, t.name) for p in native if p.process for t in p.process.threads),
        *((vm, stack) for vm in (MOTOR, SENSOR) for stack in ("VCT", "USR")),
    }
    assert all(0 < bytes_ < size for size, bytes_ in found.values())


def changed(road: Road, kept: Kept, file: Path, depth: int) -> Path:
    """The dump, with the USR stack of the sensor node used to `depth` bytes."""
    base = ram_bank(road.out).base
    limit, top = (road.built.symbol(SENSOR, f"fvm_stack_1{end}") for end in ("_limit", ""))
    memory = bytearray(kept.ram.read_bytes())
    memory[limit - base : top - base] = PAINT * (top - limit - depth) + bytes(depth)
    file.write_bytes(memory)
    return file


def test_a_stack_is_used_to_its_deepest_word(road: Road, kept: Kept, tmp_path: Path) -> None:
    dump = changed(road, kept, tmp_path / "ram.bin", 300)
    said = fvmkit("stacks", road.out.name, "--ram", dump, cwd=road.room)
    assert said.status == 0 and used(said.out)[SENSOR, "USR"][1] == 300


def test_a_tight_stack_is_a_warning(road: Road, kept: Kept, tmp_path: Path) -> None:
    dump = changed(road, kept, tmp_path / "ram.bin", 2000)
    said = fvmkit("stacks", road.out.name, "--ram", dump, cwd=road.room)
    assert said.status == 0
    assert said.err == f"warning: the stack USR of {SENSOR} is used to 98 %\n"


def test_a_stack_without_paint_overflowed(road: Road, kept: Kept, tmp_path: Path) -> None:
    dump = changed(road, kept, tmp_path / "ram.bin", 2048)
    said = fvmkit("stacks", road.out.name, "--ram", dump, cwd=road.room)
    assert said.status == 1
    assert f"error: the stack USR of {SENSOR} overflowed; give it more than 2048 bytes" in said.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"has 0 bytes, the RAM has 131072; .*dump_image ram.bin 0x20000000 0x20000"),
        (bytes(131072), r"has no painted stack, so it is no dump of this system"),
        (None, r"can't be opened: No such file"),
    ],
    ids=["empty", "blank", "missing"],
)
def test_what_is_no_dump_is_refused(
    road: Road, tmp_path: Path, content: bytes | None, message: str
) -> None:
    file = tmp_path / "ram.bin"
    if content is not None:
        file.write_bytes(content)
    said = fvmkit("stacks", road.out.name, "--ram", file, cwd=road.room)
    assert said.status == (2 if content is None else 1)
    assert re.search(message, said.err) and "ram.bin: " in said.err
