"""Where secret keys are: a variable, a file of its owner's, or the operating system's keyring.

A key is 32 random bytes and has a reference, `PROVIDER:NAME`: `env:VARIABLE`, `file:NAME` or `keyring:NAME`. Files lie
in the user's configuration folder, never in a store, so that a copy of a store carries no key.
"""

import os
import re
import stat
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from cyberos import durable
from cyberos.errors import AlreadyExists, BadArgument, ExtraMissing, IoFailure, KeyMissing, KeyRefused

DEFAULT: Final = "file:default"
LENGTH: Final = 32
PROVIDERS: Final = ("file", "env", "keyring")

_FOLDER: Final = "keys"
_SUFFIX: Final = ".key"
_NAME: Final = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}"
_SERVICE: Final = "cyberos"
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class Keys(NamedTuple):
    """The keys of one user. `folder` is the user's configuration folder, `variables` are those of the environment."""

    folder: str
    variables: Mapping[str, str]

    def get(self, reference: str) -> bytes:
        """Returns a key; raises `KeyMissing`, or `KeyRefused` where it is malformed or others could have read it."""
        provider, name = parse(reference)
        if provider == "env":
            text = self.variables.get(name)
        elif provider == "keyring":
            text = _keyring().get_password(_SERVICE, name)
        else:
            text = self._read(name)
        if not text:
            raise KeyMissing(f"there is no key {reference}", key=reference, hint=_how_to_make(provider, name))
        return _decode(text, reference)

    def has(self, reference: str) -> bool:
        """Whether there is such a key, good or bad. Of a keyring that is not asked."""
        provider, name = parse(reference)
        if provider == "file":
            return os.path.lexists(self._path(name))
        return provider == "env" and bool(self.variables.get(name))

    def create(self, reference: str) -> bytes:
        """Makes a new random key and returns it; raises `AlreadyExists` where there is one."""
        import base64

        provider, name = parse(reference)
        key = os.urandom(LENGTH)
        text = base64.b64encode(key).decode()
        if provider == "env":
            raise BadArgument("a variable cannot be made for you", hint=f"set {name} to the key in base64")
        if provider == "keyring":
            ring = _keyring()
            if ring.get_password(_SERVICE, name) is not None:
                raise AlreadyExists(f"the keyring has a key {name} already", path=name, hint="choose another name")
            ring.set_password(_SERVICE, name, text)
        else:
            self._write(name, text)
        return key

    def list(self) -> list[str]:
        """Returns the references of the keys in files. A keyring does not tell what it has."""
        try:
            names = os.listdir(os.path.join(self.folder, _FOLDER))
        except FileNotFoundError:
            return []
        return [f"file:{name[: -len(_SUFFIX)]}" for name in sorted(names) if name.endswith(_SUFFIX)]

    def _path(self, name: str) -> str:
        return os.path.join(self.folder, _FOLDER, name + _SUFFIX)

    def _read(self, name: str) -> str | None:
        path = self._path(name)
        try:
            folder = os.stat(os.path.dirname(path))
            if folder.st_uid != os.geteuid() or folder.st_mode & _OTHERS_WRITE:
                folder_path = os.path.dirname(path)
                raise _unsafe(folder_path, "others can change the folder of the keys", f"chmod 700 {folder_path}")
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as handle:
                held = os.fstat(handle.fileno())
                if not stat.S_ISREG(held.st_mode):
                    raise _unsafe(path, "it is no plain file", "keep the key in a file of its own")
                if held.st_uid != os.geteuid():
                    raise _unsafe(path, "it belongs to another user", f"chown it, or make a new key: {_MAKE}")
                if held.st_mode & _OTHERS:
                    raise _unsafe(
                        path, f"other users can open it (mode {stat.S_IMODE(held.st_mode):04o})",
                        f"if nobody else has read it: chmod 600 {path}; else make a new key: {_MAKE}",
                    )  # fmt: skip
                return handle.read(4 * LENGTH).decode("ascii", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            if os.path.islink(path):
                raise _unsafe(path, "it is a symbolic link", "keep the key in a file of its own") from error
            raise IoFailure(f"cannot read {path}: {error.strerror}", file=path, errno=error.errno) from error

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
            raise IoFailure(f"cannot write {path}: {error.strerror}", file=path, errno=error.errno) from error


_MAKE: Final = "cyberos key create NAME"


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


def _decode(text: str, reference: str) -> bytes:
    import base64

    try:
        key = base64.b64decode(text.strip(), validate=True)
    except ValueError:
        key = b""
    if len(key) != LENGTH:
        raise KeyRefused(
            f"{reference} is no key: it must be {LENGTH} bytes in base64", key=reference,
            hint="put the right one in its place, or make a new one under another name",
        )  # fmt: skip
    return key


def _how_to_make(provider: str, name: str) -> str:
    if provider == "env":
        return f"set {name} to 32 random bytes in base64"
    return f"cyberos key create {name}" + (" --keyring" if provider == "keyring" else "")


def _unsafe(path: str, why: str, hint: str) -> KeyRefused:
    return KeyRefused(f"{path} is not safe to use: {why}", key=path, hint=hint)


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

    @staticmethod
    def _unusable(name: str, error: Exception) -> KeyMissing:
        return KeyMissing(
            f"the keyring cannot be used: {error}", key=f"keyring:{name}",
            hint="on a machine without one keep the key in a file: cyberos key create NAME",
        )  # fmt: skip


def _keyring() -> _Keyring:
    return _Keyring()
