"""What takes the place of a wire between two old boards: shared memory and an event each way."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

from composer.init.draft import Draft, files_of
from composer.init.facts import Places, ProjectFacts


def link_proposals(draft: Draft) -> Iterator[tuple[str, list[str]]]:
    """A proposal for each device that two projects use: shared memory and events instead."""
    by_name = {machine.facts.name: machine for machine in draft.machines}
    count = 0
    for machine in draft.machines:
        for lost in machine.lost:
            if not lost.devices or lost.tied:
                continue
            owner, here = by_name[lost.owner], machine.facts.name
            device = lost.devices[0].name
            count += 1
            number = str(count) if count > 1 else ""
            elements = []
            for one, places in ((owner, lost.owner_places), (machine, lost.places)):
                elements.append(f"in {one.facts.name}: {_replacement(one.facts, places)}")
            elements += [
                f'<shared name="link{number}" size="1K">',
                f"  <user domain={quoteattr(lost.owner)}/>",
                f"  <user domain={quoteattr(here)}/>",
                "</shared>",
                *(
                    f'<event name="TO_{label}{number}" from={quoteattr(sender)}'
                    f' to={quoteattr(receiver)} handler="link{number}_event"/>'
                    for label, sender, receiver in _events(lost.owner, here)
                ),
            ]
            yield (
                f"if {device} joined {lost.owner} and {here} on their old boards, neither"
                f" needs it any more. Take its lines out of {lost.owner}, write a driver over"
                " shared memory for each of the two (docs/first-description.md), and add:",
                elements,
            )


def _replacement(facts: ProjectFacts, places: Places) -> str:
    """A driver in a file of its own is replaced as a whole."""
    files, name = files_of(places), facts.name
    if len(files) != 1 or files[0] == facts.build.main_file:
        return f"change what uses it in {', '.join(files)}"
    by = f"fvm/{name}/{files[0].rpartition('/')[2]}"
    return f"<replace file={quoteattr(files[0])} by={quoteattr(by)}/>"


def _events(one: str, other: str) -> tuple[tuple[str, str, str], ...]:
    """Name, sender and receiver: named after the receivers' first words where these differ."""
    words = [name.split("-")[0] for name in (one, other)]
    labels = words if words[0] != words[1] else [one, other]
    first, second = (label.upper().replace("-", "_")[:24] for label in labels)
    return (second, one, other), (first, other, one)
