"""YAML, by the one parser: the compiled core's."""

from cyberos._native import parse_scalar, parse_yaml, with_meta

__all__ = ["parse_scalar", "parse_yaml", "with_meta"]
