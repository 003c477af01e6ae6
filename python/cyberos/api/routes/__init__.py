"""The endpoints, by subject."""

from typing import Final

from fastapi import APIRouter

from cyberos.api.routes import checks, history, memories, rows, versions

# In this order: a memory's path takes any URL below it that no route before has taken.
ROUTERS: Final[tuple[APIRouter, ...]] = (checks.router, rows.router, history.router, versions.router, memories.router)
