"""Devices that a program uses, by the names of its headers, and what it leaves to DMA."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from composer.analyze.block_names import Block, BlockNames, is_compared
from composer.analyze.code import Stretch
from composer.analyze.model import Device, Stream, Vector
from porter.port import Judged

_DMA = re.compile(r"(?:[BMG]P?)?DMA\d?(?:MUX\d?)?(?:_(?:Stream|Channel|Ch|CH|CHAN)_?\d+)?\w*")
_CHANNEL = re.compile(r"((?:[BMG]P?)?DMA\d?)_(?:Stream|Channel|Ch|CH)_?(\d+)")
_SAYS_DMA = re.compile(rb"(?i)dma")
_LINK = b"__HAL_LINKDMA"
_INSTANCE = b"Instance"
_MOST_PLACES = 3
_PAGE = 0x3FF
_TAKEN_OVER = re.compile(r"(?i)(?:^|/)(?:drivers|middlewares?|cmsis|third_?party|libs?|hal)(?:/|_)")


@dataclass
class _Found:
    """What is gathered over all files: devices by name, channels, objects of drivers by name."""

    addresses: dict[str, int] = field(default_factory=dict)
    places: dict[str, list[str]] = field(default_factory=dict)
    dma: dict[str, list[str]] = field(default_factory=dict)
    served: dict[str, str] = field(default_factory=dict)  # by a channel's name
    objects: dict[bytes, str] = field(default_factory=dict)  # &huart2 -> USART2

    def use(self, block: Block, place: str) -> None:
        """One more line that has a block."""
        self.addresses.setdefault(block.name, block.address)
        places = self.places.setdefault(block.name, [])
        if place not in places:
            places.append(place)


def devices_of(judged: Judged, stretches: Sequence[Stretch]) -> tuple[list[Device], list[Stream]]:
    """Blocks that code in reach names, in the order of their names; channels of DMA."""
    found = _Found()
    names: dict[int, BlockNames] = {}
    for stretch in stretches:
        evaluator = stretch.text.evaluator
        _look(stretch, names.setdefault(id(evaluator), BlockNames(evaluator)), found)
    links: dict[bytes, str] = {}
    for stretch in stretches:
        _transfers(stretch, names[id(stretch.text.evaluator)], found, links)
    _by_number(judged, found)
    _without_idle_channels(found)
    devices = [
        Device(it, found.addresses[it], own_first(found.places[it])[:_MOST_PLACES],
               own_first(found.dma.get(it, ()))[:_MOST_PLACES])
        for it in _whole(found.places)
    ]  # fmt: skip
    objects = {stream: name for name, stream in found.objects.items()}
    streams = [
        Stream(
            it,
            own_first(places)[0],
            links.get(objects.get(it, b""), "") or found.served.get(it, ""),
        )
        for it, places in sorted(found.places.items())
        if _CHANNEL.fullmatch(it) and places
    ]
    return devices, streams


def _whole(places: Mapping[str, list[str]]) -> Iterable[str]:
    """Without the channels of a controller, which are told of by themselves."""
    return sorted(it for it in places if not _CHANNEL.fullmatch(it))


def own_first(places: Iterable[str]) -> tuple[str, ...]:
    """Places in a project's own files before those in the drivers that it took over."""
    return tuple(sorted(places, key=lambda it: _TAKEN_OVER.search(it) is not None))


def without_idle_lines(devices: Iterable[Device], vectors: Iterable[Vector]) -> list[Device]:
    """A library that sets up pins names EXTI for those that interrupt. Where only it does, and
    nobody serves such a line, none is used."""
    is_served = any("exti" in it.handler.lower() for it in vectors)
    return [
        it
        for it in devices
        if it.name != "EXTI" or is_served or not all(map(_TAKEN_OVER.search, it.places))
    ]


def _without_idle_channels(found: _Found) -> None:
    """A library's own branches name every channel and controller; where the project names some,
    those are used."""
    named = {it for it in found.places if is_dma(it)}
    own = {it for it in named if any(not _TAKEN_OVER.search(at) for at in found.places[it])}
    kept = own | {channel.group(1) for it in own if (channel := _CHANNEL.fullmatch(it))}
    for it in named - kept if own else ():
        del found.places[it]


def _by_number(judged: Judged, found: _Found) -> None:
    """Devices at addresses that are written as numbers, or under names of the project's own."""
    known = {at & ~_PAGE for at in found.addresses.values()}
    for unit in judged.docket.units.values():
        for address, name in unit.found.devices.items():
            if address & ~_PAGE in known or name.encode() in unit.text.evaluator.macros:
                continue  # a macro that code in reach has was found by its name
            known.add(address & ~_PAGE)
            said = f"0x{address:08X}" if name.startswith("0x") else f"{name} at 0x{address:08X}"
            found.use(Block(said, address), unit.file.name)


def is_dma(name: str) -> bool:
    """Whether a device is a DMA controller or a part of one."""
    return _DMA.fullmatch(name) is not None


def _look(stretch: Stretch, names: BlockNames, found: _Found) -> None:
    """Note every block that isn't only compared with something."""
    tokens = stretch.tokens
    for at, token in enumerate(tokens):
        if token.kind != "identifier" or is_compared(tokens, at):
            continue
        blocks = names.of(token.text)
        for block in blocks:
            found.use(block, stretch.place(token))
        if blocks and at > 3 and tokens[at - 1].text == b"=" and tokens[at - 2].text == _INSTANCE:
            found.objects.setdefault(tokens[at - 4].text, blocks[0].name)


def _transfers(stretch: Stretch, names: BlockNames, found: _Found, links: dict[bytes, str]) -> None:
    """Statements that leave a device's transfers to DMA: by a bit, a library's call or a link."""
    asked = ""  # the block that was compared last: whose set-up the statements are
    for statement in stretch.statements():
        for at, token in enumerate(statement):
            if token.kind == "identifier" and is_compared(statement, at):
                asked = next((it.name for it in names.of(token.text)), asked)
        if not any(_SAYS_DMA.search(token.text) for token in statement):
            continue
        words = [token.text for token in statement if token.kind == "identifier"]
        users = [it.name for word in words for it in names.of(word)]
        users += [found.objects[word] for word in words if word in found.objects]
        channel = next((it for it in users if _CHANNEL.fullmatch(it)), None)
        users = [it for it in users if not is_dma(it) and not it.startswith(("RCC", "RCU"))]
        if channel is not None and users:  # DMA1_Channel1->CPAR = (uint32_t)&ADC1->DR
            found.served.setdefault(channel, users[0])
        if words and words[0] == _LINK:
            device = next(iter(users), asked)
            links.setdefault(words[-1], device)
            users = [device] if device else []
        elif not any(_switches_dma(word) for word in words):
            continue
        for user in users[:1]:
            place = stretch.place(statement[0])
            if place not in found.dma.setdefault(user, []):
                found.dma[user].append(place)


def _switches_dma(word: bytes) -> bool:
    """HAL_UART_Receive_DMA, LL_SPI_EnableDMAReq_TX, USART_DMACmd, USART_CR3_DMAT; no clock's."""
    upper = word.upper()
    return b"DMA" in upper and not upper.startswith(
        (b"DMA", b"HDMA", b"RCC", b"__HAL_RCC", b"LL_AHB")
    )
