"""Secrets and personal data in a text, replaced by what they are: `ann@example.com` by `<EMAIL>`.

The compiled core proposes, validators confirm, the store's owner allows; whatever is doubtful counts as found.
docs/redaction.md says what is found and what is not.
"""

from cyberos.redaction.allowing import Allow as Allow
from cyberos.redaction.redacting import Redacted as Redacted
from cyberos.redaction.redacting import redact_text as redact_text
