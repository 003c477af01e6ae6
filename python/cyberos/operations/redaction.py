"""Trying out what would be redacted: the shape that surfaces share."""

from collections.abc import Iterable

from cyberos import config
from cyberos.core import inspection
from cyberos.errors import BadArgument
from cyberos.redaction import Allow, Redacted, redact_text


def redact(
    store: str | None, content: bytes, allow: Iterable[str] = (), allow_patterns: Iterable[str] = ()
) -> Redacted:
    """Returns a text in UTF-8 without secrets and personal data; what the store allows, and more, stays."""
    settings = config.Redaction()
    if store is not None:
        inspection.check_format(store)
        settings = config.load(store).redaction
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise BadArgument(f"the text is not UTF-8: byte {error.start}", argument="FILE") from None
    return redact_text(text, Allow.of(settings, allow, allow_patterns))
