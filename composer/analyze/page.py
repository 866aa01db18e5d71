"""An analysis as one page for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from composer.analyze.model import Analysis, Count, Work
from composer.analyze.page_facts import facts
from composer.analyze.page_text import LABEL, PLACES, entry, many, rest_of, wrapped

_WORKS = 10  # groups of places that are told without -v


def page(analysis: Analysis, is_verbose: bool) -> str:
    """What it is, then what its port will look like, then what to do."""
    lines = [
        *facts(analysis, is_verbose),
        "",
        *_port(analysis, is_verbose),
        *_section("not supported", analysis.unsupported, is_verbose),
        *_section("not read or not told", analysis.unread, is_verbose),
        *_questions(analysis, is_verbose),
        "",
        *(f"{'next' if not n else '':{LABEL}}{it}" for n, it in enumerate(analysis.next)),
    ]
    return "\n".join(lines) + "\n"


def _port(it: Analysis, is_verbose: bool) -> Iterator[str]:
    port = it.port
    person = sum(work.count for work in port.person)
    rewritten = sum(one.count for one in port.rewritten)
    left = sum(one.count for one in port.left)
    later = f", {port.later} wait for the description" if port.later else ""
    how = "with the description that init would draft" if port.is_drafted else "no description"
    yield from entry(
        "the port",
        f"{port.found} places: {rewritten} would be rewritten, {left} left as they are{later}, "
        f"{person} need a person ({how})",
        f"rewritten by {_rules(port.rewritten)}" if port.rewritten else "",
        f"left by {_rules(port.left)}" if port.left and is_verbose else "",
    )  # fmt: skip
    yield from _section("needs a person", port.person, is_verbose)


def _rules(counts: Sequence[Count]) -> str:
    return ", ".join(f"{it.what} {it.count}" for it in counts)


def _section(title: str, works: Sequence[Work], is_verbose: bool) -> Iterator[str]:
    yield ""
    yield f"{title}:" if works else f"{title}: nothing"
    shown = works if is_verbose else works[:_WORKS]
    for work in shown:
        yield from _work(work, is_verbose)
    if len(shown) < len(works):
        count = sum(work.count for work in works[len(shown) :])
        yield f"  and {len(works) - len(shown)} more kinds, {count} places: -v tells them"


def _questions(it: Analysis, is_verbose: bool) -> Iterator[str]:
    """What init's draft would ask besides."""
    if it.questions:
        yield ""
        more = "" if is_verbose else " (-v)"
        yield f"init would ask {many(len(it.questions), 'question')}{more}:"
        for question in it.questions if is_verbose else it.questions[:PLACES]:
            yield from wrapped(f"       {question}", "          ")


def _work(work: Work, is_verbose: bool) -> Iterator[str]:
    places = work.places if is_verbose else work.places[:PLACES]
    rest = rest_of(work.places, places)
    where = f" ({', '.join(places)}{rest})" if places else ""
    yield from wrapped(f"{work.count:5}  {work.what}: {work.reason}{where}", "       ")
    if work.remedy:
        yield from wrapped(f"       -> {work.remedy}", "          ")
