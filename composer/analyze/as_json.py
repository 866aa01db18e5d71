"""An analysis as data: docs/analyze.md describes it."""

from __future__ import annotations

import dataclasses
import json

from composer.analyze.model import Analysis

SCHEMA = 1


def as_json(analysis: Analysis) -> str:
    """The fields of the model, with the schema's version and whether a person is needed."""
    document = {
        "schema": SCHEMA,
        "needs_person": analysis.needs_person,
        **dataclasses.asdict(analysis),
    }
    return json.dumps(document, indent=2) + "\n"
