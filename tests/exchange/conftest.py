"""Imports, and what they left in the log."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cyberos.core.reader import AuditChainReader, Row
from cyberos.operations import importing


@pytest.fixture
def import_git(store: Path) -> Callable[..., importing.ImportedGit]:
    def run(repository: Path, into: str = "memories/r", **options: Any) -> importing.ImportedGit:
        return importing.import_git(str(store), str(repository), actor="ann", into=into, **options)

    return run


def imported_rows(store: Path) -> list[Row]:
    """The rows of memories that an import changed."""
    return [row for row in AuditChainReader(store).iter_rows() if "imported" in row["extra"]]


def essence(rows: list[Row]) -> list[tuple[Any, ...]]:
    """What must be the same however often an import was interrupted."""
    return [
        (
            *(row["op"], row["path"], row["actor"], row["ts_ns"], row["content_sha256"], row["extra"].get("to")),
            *(row["extra"]["imported"]["commit"], row["extra"]["imported"]["path"]),
        )
        for row in rows
    ]
