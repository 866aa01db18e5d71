"""Reads a description file into the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from lxml import etree

from composer.description import units
from composer.description.model import (
    Acknowledge,
    Clocks,
    Control,
    Count,
    Delegate,
    Domain,
    Event,
    FaultPolicy,
    Frame,
    Invoke,
    Irq,
    Kernel,
    KernelMemory,
    Named,
    Pin,
    Place,
    Pll,
    Port,
    ProcessPart,
    Project,
    Replacement,
    Shared,
    SharedUser,
    Split,
    System,
    Thread,
    Timer,
    VmPart,
)
from composer.description.positions import Positions
from composer.description.schema import validate
from porter.ledger.acknowledged import plain
from scanner.report.errors import FvmError

# The schema's defaults, of a domain without <fault>: 1 s, 1 ms, 10 ms.
_FAULT_TIMES = (1_000_000, 1_000, 10_000)
_STARTS = 8  # restarts in a row of a VM that never gets going
_FACTORS = ("m", "n", "p", "q")  # of the PLL


def parse(file: Path) -> System:
    """The description in `file`, valid against the schema; an `FvmError` otherwise."""
    positions = Positions(file)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, huge_tree=False, load_dtd=False,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        tree = etree.fromstring(positions.data, parser)
    except etree.XMLSyntaxError as error:  # expat took it: nested too deeply, for example
        raise FvmError(
            "elements are nested too deeply", file=file, line=error.lineno, hint="flatten them"
        ) from None
    validate(tree, positions)
    index = {element: number for number, element in enumerate(tree.iter(etree.Element))}
    return _system(_Node(tree, positions, index), file)


class _Node:
    """An element with its places. The schema guarantees what the accessors return."""

    def __init__(
        self, element: etree._Element, positions: Positions, index: dict[etree._Element, int]
    ) -> None:
        self.element = element
        self.positions = positions
        self.index = index

    @property
    def place(self) -> Place:
        return self.positions.element(self.index[self.element])

    @property
    def body(self) -> str:
        return (self.element.text or "").strip()

    def at(self, attribute: str) -> Place:
        return self.positions.attribute(self.index[self.element], attribute)

    def text(self, attribute: str) -> str:
        return str(self.element.attrib[attribute])

    def maybe(self, attribute: str) -> str | None:
        return self.element.get(attribute)

    def yes(self, attribute: str) -> bool:
        return self.text(attribute) == "yes"

    def number(self, attribute: str) -> int:
        return int(self.text(attribute))

    def unit(self, attribute: str, convert: Callable[[str], int]) -> int:
        try:
            return convert(self.text(attribute))
        except ValueError:
            raise self.at(attribute).error(
                f"'{attribute}' is '{self.text(attribute)}'", "write a whole number of the unit"
            ) from None

    def all(self, tag: str) -> Iterator[_Node]:
        for child in self.element.findall(tag):
            yield _Node(child, self.positions, self.index)

    def one(self, tag: str) -> _Node:
        found = self.optional(tag)
        if found is None:
            raise self.place.error(
                f"<{self.element.tag}> has no <{tag}>", f"add one <{tag} .../> to it"
            )
        return found

    def optional(self, tag: str) -> _Node | None:
        found = list(self.all(tag))
        if len(found) > 1:
            raise found[1].place.error(
                f"a second <{tag}> in <{self.element.tag}>", "keep one of them"
            )
        return found[0] if found else None


def _system(node: _Node, file: Path) -> System:
    waivers = node.maybe("waivers")
    return System(
        file=file,
        name=node.text("name"),
        chip=node.text("chip"),
        board=node.maybe("board"),
        optimize=node.text("optimize"),
        waivers=None if waivers is None else file.parent / waivers,
        kernel=_kernel(node.one("kernel")),
        clocks=tuple(_clocks(n) for n in node.all("clocks")),
        processes=tuple(_domain(n, None, _process(n)) for n in node.all("process")),
        # The runtime finds the more urgent of two vCPUs by the smaller index.
        vms=tuple(
            _domain(n, _vm(n), None)
            for n in sorted(node.all("vm"), key=lambda n: -n.number("priority"))
        ),
        shared=tuple(_shared(n) for n in node.all("shared")),
        events=tuple(
            Event(
                n.text("name"),
                n.text("from"),
                n.text("to"),
                n.maybe("handler"),
                n.place,
                delegate=n.yes("delegate"),
            )
            for n in node.all("event")
        ),
        place=node.place,
    )


def _kernel(node: _Node) -> Kernel:
    return Kernel(
        tick_hz=node.unit("tick", units.rate),
        slice_us=node.unit("slice", units.time),
        console=node.maybe("console"),
        baud=node.number("baud"),
        report_us=node.unit("report", units.time),
        records=node.number("records"),
        protection=node.text("protection") == "on",
        flash=node.unit("flash", units.size),
        ram=node.unit("ram", units.size),
        hypervisor_flash=node.unit("hypervisor-flash", units.size),
        hypervisor_ram=node.unit("hypervisor-ram", units.size),
        pins=tuple(_pin(n) for n in node.all("pin")),
        place=node.place,
    )


def _clocks(node: _Node) -> Clocks:
    return Clocks(
        source=node.text("source"),
        hse=node.unit("hse", units.rate),
        pll=_pll(node),
        ahb=node.number("ahb"),
        apb1=node.number("apb1"),
        apb2=node.number("apb2"),
        latency=node.number("latency"),
        place=node.place,
    )


def _pll(node: _Node) -> Pll | None:
    missing = [name for name in _FACTORS if node.maybe(name) is None]
    if len(missing) == len(_FACTORS):
        return None
    if missing:
        raise node.place.error(
            f"<clocks> has no {', '.join(missing)}",
            "give all of m, n, p and q, or none of them to run from the oscillator itself",
        )
    return Pll(*(node.number(name) for name in _FACTORS))


def _domain(node: _Node, vm: VmPart | None, process: ProcessPart | None) -> Domain:
    return Domain(
        name=node.text("name"),
        flash=node.unit("flash", units.size),
        ram=node.unit("ram", units.size),
        heap=node.unit("heap", units.size),
        fpu=node.yes("fpu"),
        strict=node.yes("strict"),
        project=_project(node.one("project")),
        devices=_named(node, "device"),
        borrowed=(),
        irqs=tuple(
            Irq(
                n.text("name"),
                n.maybe("handler"),
                n.maybe("mask") == "transparent",
                _split(n),
                n.place,
            )
            for n in node.all("irq")
        ),
        clock_names=_named(node, "clock"),
        clocks=tuple(_clocks(n) for n in node.all("clocks")),
        pins=tuple(_pin(n) for n in node.all("pin")),
        fault=_fault(node),
        acknowledged=tuple(_acknowledge(n) for n in node.all("acknowledge")),
        vm=vm,
        process=process,
        place=node.place,
    )


def _acknowledge(node: _Node) -> Acknowledge:
    text = plain(node.text("line-text"))
    return Acknowledge(node.text("rule"), node.text("file"), text, node.text("reason"), node.place)


def _fault(domain: _Node) -> FaultPolicy:
    node = domain.optional("fault")
    is_vm = domain.element.tag == "vm"
    if node is None:
        most = _STARTS if is_vm else 0
        return FaultPolicy("restart", None, most, is_vm, *_FAULT_TIMES, domain.place)
    starting = is_vm and node.text("action") == "restart" and node.maybe("most") is None
    return FaultPolicy(
        action=node.text("action"),
        process=node.maybe("process"),
        most=_STARTS if starting else int(node.maybe("most") or 0),
        starting=starting,
        within_us=node.unit("within", units.time),
        delay_us=node.unit("delay", units.time),
        longest_us=node.unit("longest", units.time),
        place=node.place,
    )


def _split(irq: _Node) -> Split | None:
    node = irq.optional("split")
    if node is None:
        return None
    frame, policy = node.optional("frame"), node.optional("policy")
    return Split(
        process=node.text("process"),
        device=node.maybe("device") or irq.text("name"),
        ring=node.unit("ring", units.size),
        frame=_frame(frame) if frame else None,
        counts=tuple(
            Count(n.text("name"), n.text("register"), int(n.text("bits"), 0), n.place)
            for n in node.all("count")
        ),
        policy=policy.text("function") if policy else None,
        place=node.place,
    )


def _frame(node: _Node) -> Frame:
    ends = tuple(int(word, 0) for word in node.text("ends").split())
    return Frame(node.text("register"), ends, node.number("longest"), node.place)


def _named(node: _Node, tag: str) -> tuple[Named, ...]:
    return tuple(Named(n.text("name"), n.place) for n in node.all(tag))


def _texts(node: _Node, tag: str) -> tuple[Named, ...]:
    return tuple(Named(n.body, n.place) for n in node.all(tag))


def _project(node: _Node) -> Project:
    return Project(
        path=node.maybe("path") or "",
        ported=node.maybe("ported"),
        is_ported=node.yes("port") and node.maybe("split") is None,
        builtin=node.maybe("builtin"),
        split=node.maybe("split"),
        entry=node.text("entry"),
        standard=node.text("standard"),
        cflags=node.text("cflags"),
        cxx_standard=node.text("cxx-standard"),
        cxxflags=node.text("cxxflags"),
        ldflags=node.text("ldflags"),
        preprocess=node.yes("preprocess"),
        sources=_texts(node, "source"),
        includes=_texts(node, "include"),
        defines=tuple(n.body for n in node.all("define")),
        startup=_texts(node, "startup"),
        replacements=tuple(
            Replacement(n.text("file"), n.text("by"), n.place) for n in node.all("replace")
        ),
        place=node.place,
    )


def _vm(node: _Node) -> VmPart:
    def handler(tag: str) -> str | None:
        found = node.optional(tag)
        return found.text("handler") if found else None

    return VmPart(
        priority=node.number("priority"),
        tick_hz=node.unit("tick", units.rate),
        catchup=node.number("catchup"),
        watchdog_us=node.unit("watchdog", units.time),
        usr_stack=node.unit("usr-stack", units.size),
        vct_stack=node.unit("vct-stack", units.size),
        switch=handler("switch"),
        tick=handler("tick"),
        svc=handler("svc"),
        writes_log=node.text("log") == "write",
    )


def _process(node: _Node) -> ProcessPart:
    threads = tuple(
        Thread(
            n.text("name"),
            n.number("priority"),
            n.unit("stack", units.size),
            not n.yes("start"),
            n.place,
        )
        for n in node.all("thread")
    )
    if not threads:
        if node.maybe("priority") is None:
            raise node.place.error(
                "<process> has neither 'priority' nor a <thread>", 'add priority="..."'
            )
        threads = (
            Thread(
                "main", node.number("priority"), node.unit("stack", units.size), False, node.place
            ),
        )
    elif node.maybe("priority") is not None:
        raise node.at("priority").error(
            "<process> has 'priority' and <thread>", "keep one: each thread has its own priority"
        )
    return ProcessPart(
        # Slot 0 must be the most urgent thread: it runs first and initialises the process.
        threads=tuple(sorted(threads, key=lambda t: -t.priority)),
        timers=tuple(
            Timer(n.text("name"), n.unit("period", units.time), n.place) for n in node.all("timer")
        ),
        reads_log=node.text("log") == "read",
        ports=tuple(
            Port(
                n.text("name"),
                n.text("function"),
                n.unit("stack", units.size),
                n.yes("delegate"),
                n.place,
            )
            for n in node.all("port")
        ),
        invokes=tuple(
            Invoke(n.text("process"), n.text("port"), n.yes("delegate"), n.place)
            for n in node.all("invoke")
        ),
        functions=_named(node, "kernel-function"),
        controls=tuple(_control(n) for n in node.all("control")),
        slots=node.number("slots"),
        delegates=tuple(_delegate(n) for n in node.all("delegate")),
        memory=_kernel_memory(node.optional("kernel-memory")),
    )


def _kernel_memory(node: _Node | None) -> KernelMemory | None:
    if node is None:
        return None
    return KernelMemory(node.unit("size", units.size), node.number("ceiling"), node.place)


def _delegate(node: _Node) -> Delegate:
    slots = None if node.maybe("slots") is None else node.number("slots")
    return Delegate(node.text("to"), slots, node.place)


def _control(node: _Node) -> Control:
    return Control(
        thread=node.text("thread"),
        process=node.maybe("process"),
        start=node.yes("start"),
        stop=node.yes("stop"),
        ceiling=node.number("ceiling") if node.maybe("ceiling") is not None else None,
        place=node.place,
    )


def _pin(node: _Node) -> Pin:
    af = node.maybe("af")
    return Pin(
        port=node.text("port"),
        number=node.number("pin"),
        mode=node.text("mode"),
        alternate=int(af) if af is not None else None,
        pull=node.text("pull"),
        speed=node.text("speed"),
        output=node.text("output"),
        runtime=node.yes("runtime"),
        place=node.place,
    )


def _shared(node: _Node) -> Shared:
    return Shared(
        node.text("name"),
        node.unit("size", units.size),
        tuple(
            SharedUser(n.text("domain"), n.text("access") == "rw", n.place)
            for n in node.all("user")
        ),
        node.place,
    )
