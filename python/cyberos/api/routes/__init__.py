"""The endpoints, by subject."""

from typing import Final

from fastapi import APIRouter

from cyberos.api.routes import checks, history, memories, proofs, rows, search, versions

# In this order: a memory's path takes any URL below it that no route before has taken.
ROUTERS: Final[tuple[APIRouter, ...]] = (
    checks.router,
    rows.router,
    search.router,
    proofs.router,
    history.router,
    versions.router,
    memories.router,
)
