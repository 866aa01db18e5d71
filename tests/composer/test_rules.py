"""Rules of a description that a schema can't say."""

from __future__ import annotations

from pathlib import Path

import pytest

from composer.description.advice import advice
from scanner.report.errors import FvmError
from tests.composer import systems

END = "</system>"
DEVICES = "".join(f'<device name="{n}"/>' for n in ("TIM2", "TIM4", "SPI1", "RTC", "CAN1", "I2C1"))

# (replaced text, its replacement, parts of the message)
BREACHES = [
    ('chip="STM32F405RG"', 'chip="STM32F9"', ["unknown chip 'STM32F9'", "known: MPS2-AN385"]),
    ('board="netduinoplus2"', 'board="x"', ["unknown board 'x'", "netduinoplus2"]),
    ('flash="32K"', 'flash="2M"',
     ["flash doesn't fit", "1082K too much", "largest are one 2M, hypervisor 16K"]),
    ('flash="32K"', 'flash="999999999M"', ["flash doesn't fit"]),
    ('ram="16K"', 'ram="120K"', ["RAM doesn't fit", "of 128K", "largest are one 120K, two 5K"]),
    ('flash="32K"', 'flash="0"', ["'one' has flash=", "at least 1K"]),
    ('<device name="USART2"/>', '<device name="USRT2"/>', ["no device 'USRT2'", "USART2"]),
    ('<irq name="USART2"', '<irq name="USART22"', ["no interrupt 'USART22'", "USART2"]),
    ('<irq name="USART2"', '<irq name="USART1"',
     ["interrupt 'USART1' (37) is claimed by 'one' and 'two'"]),
    ('<irq name="USART2"', '<irq name="USART6"',
     ["interrupt 'USART6' (71) is claimed by the log console and 'two'"]),
    ('<device name="USART2"/>', '<device name="USART1"/>', ["claimed by 'one' and 'two'"]),
    ('<device name="USART2"/>', '<device name="USART6"/>', ["claimed by the log console and"]),
    ('<device name="USART2"/>', '<device name="USART2"/><device name="USART2"/>',
     ["granted twice"]),
    *(('<device name="USART2"/>', f'<device name="{name}"/>', [f"'{name}' can't be granted"])
      for name in ("RCC", "GPIOA", "SYSCFG", "EXTI", "PWR", "FLASH", "IWDG", "DMA1")),
    ('builtin="heartbeat"', 'builtin="heartbeat" entry="begin"',
     ["'beater' is a process", "not in an entry"]),
    ("</process>", '<device name="IWDG"/></process>', ["a VM has a watchdog of its own"]),
    ('<clock name="USART2"/>', '<clock name="EXTI"/>', ["has no clock to be enabled"]),
    ('tick="100Hz"', 'tick="300Hz"', ["300 Hz, which doesn't divide", "choose 125, 200, 250 Hz"]),
    ('tick="100Hz"', 'tick="0Hz"', ["0 Hz, which doesn't divide"]),
    ('console="USART6"', 'console="USART6" slice="6ms"', ["slice 6 ms", "at most 5 ms"]),
    ('console="USART6"', 'console="USART6" slice="999us"', ["slice 999 us", "at least 1 ms"]),
    ('console="USART6"', 'console="SPI1"', ["no UART", "USART1"]),
    ('console="USART6"', 'console="USART6" ram="100"', ['has ram="100 B"']),
    ('m="8"', 'm="2"', ["PLL input (source / m) is 4 MHz", "1 to 2 MHz"]),
    ('n="336"', 'n="400"', ["core clock is 200 MHz", "at most 168 MHz"]),
    ('apb1="4"', 'apb1="2"', ["APB1 clock is 84 MHz"]),
    ('apb1="4"', 'apb1="3"', ["apb1=3"]),
    ('latency="5"', 'latency="4"', ["flash latency 4 at 168 MHz", "5 to 7"]),
    (' p="2" q="7"', "", ["<clocks> has no p, q", "all of m, n, p and q, or none"]),
    ("</process>", '<clocks m="4" n="336" p="2" q="7" latency="5"/></process>',
     ["<clocks> differ", "line 4"]),
    ('<clocks m="8" n="336" p="2" q="7" ahb="1" apb1="4" apb2="2" latency="5"/>', "",
     ["no <clocks>"]),
    ('pin="6"', 'pin="9"', ["a second set-up of pin 'PA9'", "line 15"]),
    ('pin="6"', 'pin="16"', ["no pin PA16"]),
    ('af="7"', 'af="9"', ["pin PA9 has no af 9", "af 7: USART1_TX"]),
    (' af="7"', "", ["without 'af'"]),
    ('mode="output"', 'mode="input"', ["set at run time but its mode is input"]),
    ('name="two" ', 'name="one" ', ["a second domain 'one'", "line 9"]),
    ('name="two" ', 'name="kernel" ', ["a name of the toolkit's own"]),
    ("</process>", '<port name="p" function="f" stack="300"/></process>',
     ["stack of port p of 'beater' is 300 B", "multiple of 8"]),
    ("</process>", '<port name="p" function="f"/><port name="p" function="g"/></process>',
     ["a second FVM_CAP_P"]),
    ('priority="10" flash="8K"', 'priority="10" slots="17" flash="8K"',
     ["'beater' has 17 slots", "at most 16 a process"]),
    ("</process>", '<delegate to="one"/></process>', ["no process 'one'", "known: beater"]),
    ("</process>", '<delegate to="second"/></process><process name="second" priority="3" flash="1K"'
     ' ram="2K"><project builtin="heartbeat"/></process>', ["'second' has no slots"]),
    ("</process>", '<delegate to="beater"/></process>', ["'beater' delegates to itself"]),
    ("</process>", '<delegate to="second" slots="3"/></process><process name="second" priority="3"'
     ' flash="1K" ram="1K" slots="2"><project path="x"><source>a.c</source></project></process>',
     ["'beater' fills 3 slots of 'second'", "write 1 to 2"]),
    ("</process>", '<kernel-memory size="64"/></process>', ["no slots for what it makes"]),
    ('priority="10" flash="8K" ram="4K">',
     'priority="10" slots="16" flash="8K" ram="4K"><kernel-memory size="30"/>',
     ["30 bytes of kernel memory", "multiple of 4"]),
    ('priority="10" flash="8K" ram="4K">',
     'priority="10" slots="2" flash="8K" ram="4K"><kernel-memory size="64" ceiling="31"/>',
     ["ceiling 31"]),
    ('to="two" handler="event_handler"', 'to="two" delegate="yes" handler="event_handler"',
     ["'one' can't delegate event 'to-two'"]),
    ("</process>", '<control thread="main"/></process>', ["gives no right"]),
    ("</process>", '<control thread="mian" stop="yes"/></process>',
     ["'beater' has no thread 'mian'", "known: main"]),
    ("</process>", '<control process="one" thread="main" stop="yes"/></process>',
     ["no process 'one'", "known: beater"]),
    ("</process>", '<control thread="main" ceiling="31"/></process>',
     ["ceiling 31", "choose 3 to 30"]),
    ('<process name="beater" priority="10"', '<process name="second" flash="2K" ram="4K">'
     '<project builtin="heartbeat"/><thread name="main" priority="9"/><thread name="low"'
     ' priority="8"/><control thread="main" ceiling="9"/></process>'
     '<process name="beater" priority="10"', ["'main' keeps its priority"]),
    ('<process name="beater" priority="10"', '<process name="second" flash="2K" ram="4K">'
     '<project builtin="heartbeat"/><thread name="main" priority="9"/><thread name="low"'
     ' priority="8"/><control thread="low" ceiling="9"/></process>'
     '<process name="beater" priority="10"', ["ceiling 9", "choose 3 to 8"]),
    ('<process name="beater" priority="10"', '<process name="second" flash="2K" ram="4K">'
     '<project builtin="heartbeat"/><thread name="main" priority="9"/><thread name="low"'
     ' priority="8" start="no"/></process><process name="beater" priority="10"',
     ["nobody can start 'low'"]),
    ('<process name="beater" priority="10"', '<process name="second" flash="2K" ram="4K">'
     '<project builtin="heartbeat"/><thread name="main" priority="9" start="no"/></process>'
     '<process name="beater" priority="10"', ["most urgent thread of 'second'"]),
    ("</process>", '<control thread="main" start="yes"/></process><process name="second"'
     ' priority="3" flash="2K" ram="4K"><project builtin="heartbeat"/>'
     '<control process="beater" thread="main" start="yes"/></process>',
     ["'second' can't start 'main' of 'beater'"]),
    ('flash="8K" ram="4K">', 'flash="8K" ram="8K">'
     + "".join(f'<port name="p{n}" function="f" stack="256"/>' for n in range(17)),
     ["17 ports", "at most 16"]),
    ("</process>", '<invoke process="server" port="p"/></process>',
     ["no process 'server'", "known: beater"]),
    ("</process>", '<invoke process="one" port="p"/></process>', ["no process 'one'"]),
    ("</process>", '<invoke process="beater" port="p"/></process>', ["'beater' has no port 'p'"]),
    ("</process>", '<port name="p" function="f"/><invoke process="second" port="q"/></process>'
     '<process name="second" priority="3" flash="1K" ram="2K"><project builtin="heartbeat"/>'
     '<port name="q" function="f"/><invoke process="beater" port="p"/></process>',
     ["in a ring: beater -> second -> beater"]),
    (END, '<shared name="link" size="4"><user domain="one"/></shared>' + END,
     ["a second shared block 'link'"]),
    ('<user domain="two" access="r"/>', '<user domain="three"/>', ["no domain 'three'"]),
    (END, "".join(f'<process name="p{n}" priority="{n}" flash="1K" ram="1K">'
                  '<project builtin="heartbeat"/></process>' for n in range(29)) + END,
     ["32 domains", "at most 31"]),
    ('from="one"', 'from="none"', ["no domain 'none'"]),
    ('to="two"', 'to="one"', ["to itself"]),
    ('to="two" handler="event_handler"', 'to="two"', ["has no handler"]),
    ('to="beater"', 'to="beater" handler="x"', ["to a process has a handler"]),
    ('name="to-one"', 'name="to_two"', ["a second FVM_EVT_TO_TWO"]),
    ('priority="10"', 'priority="2"', ["priority 2", "hyp_manager_thread", "free: 3 to 30"]),
    ('priority="10"', 'priority="77"', ["out of range"]),
    ('period="10ms"', 'period="10us"', ["no whole number of kernel ticks", "multiple of 1 ms"]),
    ('builtin="heartbeat"', 'builtin="none"', ["no process 'none'", "heartbeat"]),
    ('watchdog="500ms"', 'usr-stack="17K"', ["stacks and heap of 'one'", "its RAM is 16K"]),
    ('watchdog="500ms"', 'usr-stack="1001"', ["multiple of 8"]),
    ('watchdog="500ms"', 'watchdog="999999999s"', ["31 bits", "at most 2147483647 ms"]),
    ('period="10ms"', 'period="2147484s"', ["timer 'beat'", "31 bits", "2147483647 ms"]),
    ('console="USART6"', 'console="USART6" report="2147484s"', ["31 bits", "2147483647 ms"]),
    ('console="USART6"', 'console="USART6" records="5"', ["of 5 records", "2, 4, 8, 16 or 32"]),
    ('watchdog="500ms"', 'priority="256"', ["priority of 'one' is 256", "0 to 255"]),
    *(("</process>", f"<fault {text}/></process>", parts) for text, parts in (
        ('action="user"', ["'beater'", "without 'process'"]),
        ('action="stop" process="beater"', ['action="stop" and \'process\'']),
        ('action="user" process="one"', ["'one' can't decide", "no such process", "add a process"]),
        ('action="user" process="beater"', ["'beater' can't decide", "decides about its own"]),
        ('most="65536"', ["most=65536"]),
        ('action="stop" most="3"', ['most=3 with action="stop"', "it counts restarts"]),
        ('delay="1s" longest="10ms"', ["first delay, 1 s", "longer than the longest, 10 ms"]),
        ('within="2147484s"', ["within 2147484 s", "31 bits"]),
        ('within="5ms" longest="5ms"', ["up to 5 ms ends every row", "within 5 ms"]),
    )),
    ("</process>", '<fault action="user" process="low"/></process>'
     '<process name="low" priority="9" flash="1K" ram="1K"><project builtin="heartbeat"/>'
     "</process>",
     ["'low', with a thread of priority 9, can't start 'beater', with one of 10"]),
    ("</process>", '<control thread="main" ceiling="20"/><fault action="user" process="mid"/>'
     '</process><process name="mid" priority="12" flash="1K" ram="1K">'
     '<project builtin="heartbeat"/></process>',
     ["'mid', with a thread of priority 12, can't start 'beater', with one of 20"]),
    *(("</process>", '<fault action="user" process="over"/></process>'
       f'<process name="over" priority="30" slots="4" flash="1K" ram="1K">{lowers}'
       '<project builtin="heartbeat"/></process>',
       ["'over' can't start 'beater'", "may be given a lower priority", "no 'ceiling'"])
      for lowers in ('<control thread="main" ceiling="3"/>',
                     '<kernel-memory size="256" ceiling="3"/>')),
    ("</process>", '<fault action="user" process="over"/></process>'
     '<process name="over" priority="30" flash="1K" ram="1K"><project builtin="heartbeat"/>'
     '</process><process name="meddler" priority="30" flash="1K" ram="1K">'
     '<control thread="main" process="over" ceiling="3"/>'
     '<project builtin="heartbeat"/></process>', ["'over' can't start 'beater'"]),
    ("</process>", '<fault/><fault/></process>', ["a second <fault> in <process>"]),
    ('<tick handler="SysTick_Handler"/>',
     '<tick handler="SysTick_Handler"/><fault action="user" process="nobody"/>',
     ["'nobody' can't decide about faults of 'one'", "choose one of: beater"]),
    ('watchdog="500ms"', 'catchup="65536"', ["catchup 65536", "1 to 65535"]),
    ('<device name="USART2"/>', DEVICES,
     ["'two' needs 9 protection regions, the core has 8", "link 1", "take 1 device"]),
    *(('<source>*.c</source></project>\n    <tick', f"{text}</project>\n    <tick",
       ["is outside of project 'one'", "a folder that holds everything"])
      for text in ("<source>../two/*.c</source>", "<source>x/../../two/*.c</source>",
                   "<source>/etc/*.c</source>", "<source>*.c</source><include>../two</include>")),
    ('<project path="one" port="no">', '<project path="one" ported="one">',
     ["the project folder itself"]),
    ('<project path="one" port="no">', '<project path="one" ported="out/one">',
     ["where generated files of 'one' go"]),
    ('<timer name="beat" period="10ms"/>',
     "".join(f'<timer name="beat{i}" period="10ms"/>' for i in range(28)),
     ["34 ticks and watchdogs of VMs and timers", "at most 32"]),
    ('<event name="alarm" from="two" to="beater"/>',
     "".join(f'<event name="alarm{i}" from="two" to="beater"/>' for i in range(254)),
     ["258 signals", "at most 255"]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "parts"), BREACHES)
def test_a_breach_is_one_clear_line(tmp_path: Path, old: str, new: str, parts: list[str]) -> None:
    with pytest.raises(FvmError) as caught:
        systems.plan_of(tmp_path, (old, new))
    message = str(caught.value)
    assert caught.value.exit_code == 1
    assert message.startswith(f"{tmp_path}/system.xml:")
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ('path="one"', 'path="nowhere"', "project folder 'nowhere' doesn't exist"),
        ("<source>*.c</source></project>\n    <tick", "<source>s/*.c</source></project>\n    <tick",
         "no source file in 'one' matches 's/*.c'"),
        ("<source>*.c</source></project>\n    <tick",
         "<source>*.c</source><startup>s.s</startup></project>\n    <tick",
         "'s.s' isn't in project 'one'"),
        ("<source>*.c</source></project>\n    <tick",
         "<source>*.c</source><include>inc</include></project>\n    <tick",
         "include folder 'inc' isn't in 'one'"),
    ],
)  # fmt: skip
def test_a_missing_project_is_exit_2(tmp_path: Path, old: str, new: str, part: str) -> None:
    with pytest.raises(FvmError) as caught:
        systems.plan_of(tmp_path, (old, new))
    assert part in str(caught.value)
    assert caught.value.exit_code == 2


def test_two_domains_are_not_ported_to_one_folder(tmp_path: Path) -> None:
    changes = [(f'path="{n}" port="no"', f'path="{n}" ported="both"') for n in ("one", "two")]
    with pytest.raises(FvmError, match=r"two domains are ported to .*/both; give each its own"):
        systems.plan_of(tmp_path, *changes)


ONLY_A_PROCESS = """<system name="alone" chip="STM32F405RG">
  <kernel tick="2kHz"/>
  <clocks m="8" n="336" p="2" q="7" apb1="4" apb2="2" latency="5"/>
  <process name="beater" priority="10" flash="2K" ram="2K">
    <project builtin="heartbeat"/>
    <timer name="beat" period="10ms"/>
  </process>
</system>
"""


@pytest.mark.parametrize("tick", ["2kHz", "100Hz"])
def test_without_a_vm_nobody_is_asked_for_a_slice(tmp_path: Path, tick: str) -> None:
    """5 ms, the default, would be too much for VMs with the one tick, too little with the other."""
    plan = systems.plan_of(tmp_path, ("2kHz", tick), text=ONLY_A_PROCESS)
    assert plan.vms == ()


@pytest.mark.parametrize(
    ("change", "ticks"),
    [
        ((), None),  # two VMs: 10 ticks, the default
        (('fpu="yes"', 'fpu="yes" catchup="9"'), 10),
    ],
)
def test_ticks_that_a_wait_would_drop_are_a_warning(
    tmp_path: Path, change: tuple[str, str] | tuple[()], ticks: int | None
) -> None:
    plan = systems.plan_of(tmp_path, *([change] if change else []))
    said = [line for line in advice(plan.system, plan.chip) if "would be dropped" in line]
    assert len(said) == (ticks is not None)
    assert ticks is None or f"10 ms for another VM that computes, {ticks} of its ticks" in said[0]


def test_links_of_chains_of_delegation_are_bytes(tmp_path: Path) -> None:
    """223 capabilities that may be delegated and 32 slots are as many as a byte tells apart."""

    def roots(events: int) -> int:
        more = "".join(
            f'<event name="e{n}" from="giver" to="beater" delegate="yes"/>' for n in range(events)
        )
        giver = (
            '<process name="giver" priority="12" flash="2K" ram="2K" slots="16">'
            '<project builtin="heartbeat"/><timer name="t" period="1s"/></process>'
        )
        changes = (
            ('priority="10"', 'priority="10" slots="16"'),
            ("</system>", giver + more + "</system>"),
        )
        return systems.plan_of(tmp_path, *changes, text=ONLY_A_PROCESS).roots

    assert roots(223) == 223
    with pytest.raises(FvmError, match=r"256 slots and capabilities .* are too many"):
        roots(224)


def test_a_log_that_nobody_writes_takes_no_text(tmp_path: Path) -> None:
    changes = ('tick="100Hz"', 'log="write"'), ('<kernel console="USART6"/>', "<kernel/>")
    with pytest.raises(FvmError, match=r"'two' has log=.write., but nobody"):
        systems.plan_of(tmp_path, *changes)


def test_who_decides_about_faults_reads_the_log_without_asking(tmp_path: Path) -> None:
    fault = '<fault action="user" process="beater"/></vm>\n  <shared'
    plan = systems.plan_of(tmp_path, ("</vm>\n  <shared", fault))
    names = [(c.name, c.rights) for c in plan.domains[1].capabilities]
    assert ("LOG", ("READ",)) in names and ("DOMAIN_TWO", ("CONTROL",)) in names


def test_the_unbroken_description_has_no_error(tmp_path: Path) -> None:
    plan = systems.plan_of(tmp_path)
    assert [d.name for d in plan.domains] == ["hypervisor", "beater", "one", "two"]
    assert plan.cpu_hz == 168_000_000
