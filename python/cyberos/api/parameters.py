"""What requests may say, and how it is read."""

from typing import Annotated, Final
from urllib.parse import unquote_to_bytes

from fastapi import Path
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from cyberos import clock
from cyberos.errors import BadArgument, PathRefused

MAX_LIMIT: Final = 1_000
HISTORY_LIMIT: Final = 10
_MAX_SEQ: Final = (1 << 63) - 1


def decoded(text: str) -> str:
    """Returns the name that a part of a URL means: percent signs are decoded once, and what results is UTF-8."""
    try:
        return unquote_to_bytes(text.encode("latin-1")).decode()
    except UnicodeError:
        raise PathRefused(f"cannot use the path {text!r}: it is not valid UTF-8", path=text) from None


MemoryPath = Annotated[
    str, AfterValidator(decoded), Path(description="A memory's path; slashes in it may be sent as `/` or as `%2F`.")
]
Seq = Annotated[int, Path(ge=1, le=_MAX_SEQ, description="The number of a row.")]
_Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]
_At = Annotated[str, Field(max_length=64, description="The number of a row, an age such as 24h, or an ISO time.")]


class _Query(BaseModel):
    """Parameters behind the question mark; there are no others."""

    model_config = ConfigDict(extra="forbid")


class HistoryQuery(_Query):
    """Which entries of a history are wanted."""

    limit: _Limit = HISTORY_LIMIT
    chronological: bool = Field(False, description="The oldest of them first.")
    follow_moves: bool = Field(True, description="Go on under former names.")
    since: _At | None = None
    show_body: bool = Field(False, description="Say what changed in the body.")
    filter: list[str] = Field([], max_length=16, description="`key=value`; keys are actor, kind, session_id, dream_id.")

    def filters(self) -> list[tuple[str, str]]:
        """Returns the filters as pairs."""
        pairs = []
        for text in self.filter:
            key, equals, value = text.partition("=")
            if not (key and equals and value):
                raise BadArgument(f"a filter is key=value, not {text!r}", argument="filter", hint="such as kind=put")
            pairs.append((key, value))
        return pairs


class AllHistoryQuery(HistoryQuery):
    """Which entries of all memories' history are wanted."""

    limit: _Limit = 100


class AtQuery(_Query):
    """Which moment is meant; without one it is now."""

    at: _At | None = None

    def moment(self) -> clock.At | None:
        """Returns the moment."""
        return None if self.at is None else clock.parse_at(self.at)


class ShowQuery(_Query):
    """Which version is wanted."""

    at: _At

    def moment(self) -> clock.At:
        """Returns the moment."""
        return clock.parse_at(self.at)


class DiffQuery(_Query):
    """Which versions are compared; `to` is now where it is left out."""

    old: _At = Field(alias="from")
    new: _At | None = Field(None, alias="to")


class ListQuery(AtQuery):
    """Which memories are wanted: those whose path begins with `prefix`, behind the path `after`."""

    prefix: str = Field("", max_length=1_024)
    after: str = Field("", max_length=4_096)
    limit: _Limit = MAX_LIMIT


class RowsQuery(_Query):
    """Which rows are wanted: `limit` of those between `after` and `before`, both left out."""

    after: int = Field(0, ge=0, le=_MAX_SEQ)
    before: int | None = Field(None, ge=1, le=_MAX_SEQ)
    limit: _Limit = 100
    newest_first: bool = False


class ProofQuery(ShowQuery):
    """Which row is proved."""

    body: bool = Field(False, description="Put the memory's content into the proof as well.")


class ConsistencyQuery(_Query):
    """Which logs are compared, by their number of rows; `to` is all rows there are where it is left out."""

    old: int = Field(alias="from", ge=0, le=_MAX_SEQ)
    new: int | None = Field(None, alias="to", ge=0, le=_MAX_SEQ)


class SearchQuery(_Query):
    """What is searched for, and which memories count."""

    q: str = Field(max_length=1_024, description='Words, `"phrases"` and `begin*`; all have to be there.')
    limit: _Limit = 10
    kind: str | None = Field(None, max_length=256, description="As the frontmatter says.")
    tag: list[str] = Field([], max_length=16, description="More than one: with all.")
    actor: str | None = Field(None, max_length=256, description="Who wrote the content.")
    since: _At | None = None
    until: _At | None = None


class VerifyQuery(_Query):
    """How much is checked."""

    deep: bool = Field(False, description="Hash every kept version again as well.")
