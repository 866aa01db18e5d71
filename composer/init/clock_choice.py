"""The one clock tree of the chip, of the several that the projects set up."""

from __future__ import annotations

from collections.abc import Sequence

from composer.chips.chip import Chip
from composer.chips.family import family_of
from composer.description.model import Clocks, Place, Pll
from composer.init.facts import ClockTree, Decision, ProjectFacts

_DEFAULT = ClockTree(Clocks("HSI", 0, Pll(16, 336, 2, 7), 1, 4, 2, 5, Place("")), ())


def choose_clocks(projects: Sequence[ProjectFacts], chip: Chip) -> tuple[ClockTree, list[Decision]]:
    """That of the first project that has one, and where the others differ."""
    decisions = []
    known = [(p, p.clock_tree) for p in projects if p.clock_tree is not None]
    for project in projects:
        if project.clock_tree is None:
            decisions.append(Decision(f"which clocks {project.name} sets up isn't known"))
    chosen, owner = (known[0][1], known[0][0].name) if known else (_DEFAULT, "")
    if not known:
        decisions.append(Decision("168 MHz from the internal oscillator is a guess"))
    if chosen.guessed:
        decisions.append(Decision(f"{owner}: {chosen.guessed}", chosen.places))
    places = f" ({', '.join(chosen.places)})" if chosen.places else ""
    for project, tree in known[1:]:
        if tree.clocks.values() != chosen.clocks.values():
            text = (
                f"{project.name} sets up {describe(tree)}, {owner} {describe(chosen)}{places}:"
                f" one chip has one clock tree; {project.name} must get along with this one"
                " (baud rates, timers, delay loops)"
            )
            decisions.append(Decision(text, tree.places))
    problem = family_of(chip).clock_problem(chosen.clocks, chip)
    if problem is not None:
        text = (
            f"{owner}'s clocks don't suit {chip.name} ({problem[0]}; {problem[1]}); this is another"
        )
        decisions.append(Decision(f"{text} tree", chosen.places))
        chosen = _DEFAULT
    return chosen, decisions


def describe(tree: ClockTree) -> str:
    """A clock tree in a few words."""
    clocks, pll = tree.clocks, tree.clocks.pll
    source = f"{clocks.source} {clocks.hse / 1e6:g} MHz" if clocks.source == "HSE" else "HSI"
    factors = f"m={pll.m} n={pll.n} p={pll.p} q={pll.q}" if pll else "without the PLL"
    dividers = f"AHB/{clocks.ahb} APB1/{clocks.apb1} APB2/{clocks.apb2}"
    return f"{source} {factors} {dividers} latency={clocks.latency}"
