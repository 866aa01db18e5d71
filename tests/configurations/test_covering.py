"""The configurations are what they are said to be."""

from __future__ import annotations

import random
from itertools import combinations, product
from pathlib import Path

from composer.description.parse import parse
from composer.resolve import resolve
from tests.configurations.covering import completed
from tests.configurations.describe import describe
from tests.configurations.switches import (
    ASSEMBLED,
    BREACH,
    FACTORS,
    FORBIDDEN,
    SEED,
    configurations,
    name_of,
    short_form,
)


def goes(part: dict[str, str]) -> bool:
    return completed(part, FACTORS, FORBIDDEN, random.Random(SEED)) is not None


def test_every_pair_of_values_that_goes_together_is_built() -> None:
    for one, other in combinations(FACTORS, 2):
        there = {(row[one], row[other]) for row in configurations()}
        for pair in product(FACTORS[one], FACTORS[other]):
            assert (pair in there) == goes(dict(zip((one, other), pair, strict=True))), pair


def test_every_three_switches_of_the_assembler_are_built() -> None:
    for chosen in combinations(ASSEMBLED, 3):
        there = {tuple(ASSEMBLED[f][row[f]] for f in chosen) for row in configurations()}
        for values in product(*(FACTORS[factor] for factor in chosen)):
            classes = tuple(ASSEMBLED[f][v] for f, v in zip(chosen, values, strict=True))
            assert classes in there or not goes(dict(zip(chosen, values, strict=True))), classes


def test_nothing_is_built_that_is_forbidden() -> None:
    for row in configurations():
        assert goes(dict(row)), row


def test_every_configuration_is_a_description_that_is_accepted(tmp_path: Path) -> None:
    for index, row in enumerate(configurations()):
        file = tmp_path / f"{name_of(row)}.xml"
        file.write_text(describe(row, name_of(row), index + 1), "utf-8")
        resolve(parse(file), tmp_path / name_of(row))  # or it says what is wrong


def test_the_short_form_has_the_combination_of_the_breach() -> None:
    assert BREACH.items() <= configurations()[short_form(1)[0]].items()
