"""Setting block memory up: tables, and tokens for those who need one."""

from typing import NamedTuple

from cyberos.blocks import administration, connector
from cyberos.blocks.administration import Setup, Token
from cyberos.operations.blocks import place as places
from cyberos.operations.blocks.place import Place


class Tokens(NamedTuple):
    """All tokens, without what they are."""

    tokens: list[Token]


class Revoked(NamedTuple):
    """A token that is worth nothing any more."""

    credential_id: str


def set_up(place: Place, *, role: str | None = None) -> Setup:
    """Makes or brings up the tables; in PostgreSQL lets a role use them."""
    embedded = connector.is_embedded(places.url_of(place, places.settings_of(place)))
    with places.database(place, create=embedded, checked=False) as (to, _):
        return administration.set_up(to.database, role)


def create_token(place: Place, principal: str, *, display: str, scopes: str, days: int) -> Token:
    """Makes a token. It is shown now and never again."""
    with places.database(place) as (to, _):
        return administration.create_token(to, principal, display, scopes, days)


def list_tokens(place: Place) -> Tokens:
    """Returns all tokens."""
    with places.database(place) as (to, _):
        return Tokens(administration.tokens(to))


def revoke_token(place: Place, credential_id: str) -> Revoked:
    """Makes a token worth nothing."""
    with places.database(place) as (to, _):
        administration.revoke_token(to, credential_id)
    return Revoked(credential_id)
