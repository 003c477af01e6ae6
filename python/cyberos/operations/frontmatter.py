"""Reading what people write as frontmatter."""

from typing import Any

from cyberos.core import yaml


def parse_scalar(text: str) -> Any:
    """Returns the value that a YAML scalar means: a text, number, truth value or null."""
    return yaml.parse_scalar(text)
