"""Where secret keys are: a variable, a file of its owner's, or the operating system's keyring.

A key is 32 random bytes and has a reference, `PROVIDER:NAME`: `env:VARIABLE`, `file:NAME` or `keyring:NAME`. Files lie
in the user's configuration folder, never in a store, so that a copy of a store carries no key.
"""

import os
import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from cyberos import durable
from cyberos.crypto import private
from cyberos.errors import AlreadyExists, BadArgument, ExtraMissing, IoFailure, KeyMissing, KeyRefused

DEFAULT: Final = "file:default"
LENGTH: Final = 32
PROVIDERS: Final = ("file", "env", "keyring")

_SUFFIX: Final = ".key"
_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}"


class Kind(NamedTuple):
    """What keys are for; those of different kinds do not meet.

    They lie in a `folder` of their own, in the keyring under a `service` of their own, and `make` is what makes one.
    """

    folder: str
    service: str
    make: str


SIGNING: Final = Kind("keys", "cyberos", "cyberos key create NAME")
MASTER: Final = Kind("master", "cyberos-master", "cyberos key init")


class Keys(NamedTuple):
    """The keys of one user. `folder` is the user's configuration folder, `variables` are those of the environment."""

    folder: str
    variables: Mapping[str, str]
    kind: Kind = SIGNING

    def get(self, reference: str) -> bytes:
        """Returns a key; raises `KeyMissing`, or `KeyRefused` where it is malformed or others could have read it."""
        provider, name = parse(reference)
        if provider == "env":
            text = self.variables.get(name)
        elif provider == "keyring":
            text = _keyring().get_password(self.kind.service, name)
        else:
            text = self._read(name)
        if not text:
            raise KeyMissing(f"there is no key {reference}", key=reference, hint=self._how_to_make(provider, name))
        return _decode(text, reference)

    def has(self, reference: str) -> bool:
        """Whether there is such a key, good or bad. Of a keyring that is not asked."""
        provider, name = parse(reference)
        if provider == "file":
            return os.path.lexists(self._path(name))
        return provider == "env" and bool(self.variables.get(name))

    def create(self, reference: str) -> bytes:
        """Makes a new random key and returns it; raises `AlreadyExists` where there is one."""
        provider, name = parse(reference)
        key, text = _new()
        if provider == "env":
            raise BadArgument("a variable cannot be made for you", hint=f"set {name} to the key in base64")
        if provider == "keyring":
            ring = _keyring()
            if ring.get_password(self.kind.service, name) is not None:
                raise AlreadyExists(f"the keyring has a key {name} already", path=name, hint="choose another name")
            ring.set_password(self.kind.service, name, text)
        else:
            self._write(name, text)
        return key

    def replace(self, reference: str) -> bytes:
        """Makes a new random key in the place of one, which is gone then, and returns the new one."""
        provider, name = parse(reference)
        key, text = _new()
        if provider == "env":
            raise BadArgument("a variable cannot be changed for you", hint=f"set {name} to a new key in base64")
        if provider == "keyring":
            _keyring().set_password(self.kind.service, name, text)
        else:
            durable.replace(self._path(name), text.encode() + b"\n")
        return key

    def list(self) -> list[str]:
        """Returns the references of the keys in files. A keyring does not tell what it has."""
        try:
            names = os.listdir(os.path.join(self.folder, self.kind.folder))
        except FileNotFoundError:
            return []
        return [f"file:{name[: -len(_SUFFIX)]}" for name in sorted(names) if name.endswith(_SUFFIX)]

    def delete(self, reference: str) -> bool:
        """Removes a key, overwritten where that is possible; returns whether there was one. Not one of a variable."""
        provider, name = parse(reference)
        if provider == "env":
            raise BadArgument("a variable cannot be removed for you", hint=f"unset {name} where it is set")
        if provider == "keyring":
            ring = _keyring()
            found = ring.get_password(self.kind.service, name) is not None
            if found:
                ring.delete_password(self.kind.service, name)
            return found
        return durable.erase(self._path(name))

    def _how_to_make(self, provider: str, name: str) -> str:
        if provider == "env":
            return f"set {name} to 32 random bytes in base64"
        if self.kind is not SIGNING:
            return self.kind.make
        return f"cyberos key create {name}" + (" --keyring" if provider == "keyring" else "")

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, self.kind.folder, name + _SUFFIX)

    def _read(self, name: str) -> str | None:
        instead = f"make a new key: {self.kind.make}"
        content = private.read(self._path(name), longest=4 * LENGTH, instead=instead)
        return None if content is None else content.decode("ascii", "replace")

    def _write(self, name: str, text: str) -> None:
        path = self._path(name)
        folder = os.path.dirname(path)
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
            durable.create(path, text.encode() + b"\n")
            durable.sync_folder(folder)
        except FileExistsError as error:
            raise AlreadyExists(f"there is a key {name} already", path=path, hint="choose another name") from error
        except OSError as error:
            raise IoFailure.of("cannot write", path, error) from error


def parse(reference: str) -> tuple[str, str]:
    """Returns the provider and the name; a name alone is that of a file."""
    provider, colon, name = reference.partition(":")
    if not colon:
        provider, name = "file", reference
    if provider not in PROVIDERS or not re.fullmatch(_NAME, name):
        raise BadArgument(
            f"not a key's reference: {reference!r}",
            argument="key",
            hint="write file:NAME, env:VARIABLE or keyring:NAME, with letters, digits, _, . and - in the name",
        )
    return provider, name


def _new() -> tuple[bytes, str]:
    import base64

    key = os.urandom(LENGTH)
    return key, base64.b64encode(key).decode()


def _decode(text: str, reference: str) -> bytes:
    import base64

    text = text.strip()
    try:
        key = bytes.fromhex(text) if len(text) == 2 * LENGTH else base64.b64decode(text, validate=True)
    except ValueError:
        key = b""
    if len(key) != LENGTH:
        raise KeyRefused(
            f"{reference} is no key: it must be {LENGTH} bytes in base64 or hexadecimal", key=reference,
            hint="put the right one in its place, or make a new one under another name",
        )  # fmt: skip
    return key


class _Keyring:
    """The operating system's keyring, its failures turned into errors of ours."""

    def __init__(self) -> None:
        try:
            import keyring
        except ImportError:
            raise ExtraMissing(
                "keys in the keyring need the package keyring", extra="keyring", hint="pip install 'cyberos[keyring]'"
            ) from None
        self._module: Any = keyring

    def get_password(self, service: str, name: str) -> str | None:
        try:
            found: str | None = self._module.get_password(service, name)
        except self._module.errors.KeyringError as error:
            raise self._unusable(name, error) from error
        return found

    def set_password(self, service: str, name: str, text: str) -> None:
        try:
            self._module.set_password(service, name, text)
        except self._module.errors.KeyringError as error:
            raise self._unusable(name, error) from error

    def delete_password(self, service: str, name: str) -> None:
        try:
            self._module.delete_password(service, name)
        except self._module.errors.KeyringError as error:
            raise self._unusable(name, error) from error

    @staticmethod
    def _unusable(name: str, error: Exception) -> KeyMissing:
        return KeyMissing(
            f"the keyring cannot be used: {error}", key=f"keyring:{name}",
            hint="on a machine without one keep the key in a file",
        )  # fmt: skip


def _keyring() -> _Keyring:
    return _Keyring()
