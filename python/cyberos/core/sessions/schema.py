"""The JSON Schema of turns, of the rows about sessions, and of tombstones. It ships with the package."""

import json
import os
from typing import Any, Final

FILE: Final = os.path.join(os.path.dirname(__file__), "schema.json")


def load() -> dict[str, Any]:
    """Returns the schema; its `$defs` have the document's names."""
    with open(FILE, encoding="utf-8") as handle:
        found: dict[str, Any] = json.load(handle)
    return found
