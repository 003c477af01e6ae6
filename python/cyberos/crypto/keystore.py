"""The keys of sessions: each session has one of its own, kept wrapped by the master key, outside every store.

The keystore is one file in the user's configuration folder. It is replaced as a whole, so a crash leaves it as it was
or as it is to be. Copies of a store hold none of these keys: who erases a session's key erases all copies of its
content, except for those who also have an older copy of the keystore and the master key of that time. Rotating the
master key ends that.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, NamedTuple, Self

from cyberos import durable, locking
from cyberos.crypto import keystore_file, master, private
from cyberos.crypto.envelope import SessionCipher
from cyberos.crypto.keys import LENGTH, MASTER, Keys
from cyberos.crypto.keystore_file import State
from cyberos.errors import CyberosError, KeyErased, KeyMissing, KeyRefused, KeystoreLocked

FOLDER: Final = "sessions"
_FILE: Final = "keystore"
_PATIENCE_S: Final = 10.0


class Erased(NamedTuple):
    """An erased key: the files that held it, none if there was no key.

    `until` is when older copies of those files stopped being of use, in nanoseconds. It is null: they are of use
    until the master key is rotated.
    """

    places: tuple[str, ...]
    until: int | None


class Keystore:
    """The keys of the sessions of one user. Nothing is kept in memory: each call reads the file as it is then."""

    def __init__(self, folder: str, variables: Mapping[str, str]) -> None:
        """Takes the user's configuration folder and the variables of the environment."""
        self.path = os.path.join(folder, FOLDER, _FILE)
        self.masters = Keys(folder, variables, MASTER)

    @classmethod
    def locate(cls, folder: str, variables: Mapping[str, str], *, store: str | os.PathLike[str] | None = None) -> Self:
        """Returns a user's keystore; raises `KeyRefused` where it would lie in the store, and go with its copies."""
        found = cls(folder, variables)
        if store is not None:
            inside = os.path.realpath(store)
            if os.path.commonpath([inside, os.path.realpath(found.path)]) == inside:
                raise KeyRefused(
                    f"keys must not lie in a store: {found.path}", key=found.path,
                    hint="set CYBEROS_CONFIG to a folder outside of it",
                )  # fmt: skip
        return found

    def available(self) -> bool:
        """Whether there is a keystore; that its master key can be had is not asked."""
        return os.path.lexists(self.path)

    def create(self, store_id: str, session_id: str) -> SessionCipher:
        """Returns the cipher of a new session, its key made durable.

        A session whose start was interrupted has a key already, and keeps it. Raises `KeyMissing` where there is no
        keystore or no master key, `WrongKey` or `KeyRetired` where the master key is another one, `KeyRefused`,
        `CorruptKeystore` and `KeystoreLocked`.
        """
        with self.changing() as state:
            master_key = self.master_key(state)
            wrapped = state.keys.get(store_id, session_id)
            if wrapped is not None:
                key = master.unwrap(master_key, wrapped, store_id, session_id, self.path)
            else:
                key = os.urandom(LENGTH)
                wrapped = master.wrap(master_key, key, store_id, session_id)
                self.save(state.with_key(store_id, session_id, wrapped))
        return SessionCipher(key, store_id, session_id)

    def open(self, store_id: str, session_id: str) -> SessionCipher:
        """Returns the cipher of a session; raises `KeyErased`, and all that `create` raises."""
        state = self.load()
        master_key = None
        while master_key is None:
            try:
                master_key = self.master_key(state)
            except CyberosError:
                generation, state = state.generation, self.load()
                if state.generation == generation:  # else it was rotated after the file was read
                    raise
        wrapped = state.keys.get(store_id, session_id)
        if wrapped is None:
            raise _no_key(state, store_id, session_id)
        return SessionCipher(master.unwrap(master_key, wrapped, store_id, session_id, self.path), store_id, session_id)

    def erase(self, store_id: str, session_id: str) -> Erased:
        """Erases the key of a session, for good; asked again it says the same. The master key is not needed."""
        if not self.available():
            return Erased((), None)
        with self.changing() as state:
            if state.keys.get(store_id, session_id) is not None:
                self.save(state.with_key(store_id, session_id, None))
            elif session_id not in state.erased.get(store_id, {}):
                return Erased((), None)
        return Erased((self.path,), None)

    def load(self) -> State:
        """Returns what the file holds; raises `KeyMissing` where there is none, `KeyRefused` and `CorruptKeystore`."""
        return keystore_file.parse(self._content(keystore_file.LONGEST), self.path)

    def save(self, state: State) -> None:
        """Makes the file hold a state, durably; keep others out meanwhile. Raises `IoFailure`."""
        durable.replace(self.path, keystore_file.encode(state))

    def master_key(self, state: State) -> bytes:
        """Returns the master key; raises `KeyMissing`, `WrongKey`, `KeyRetired` or `KeyRefused`."""
        return master.get(self.masters, state)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keeps others from changing the keystore; raises `KeystoreLocked`."""

        def busy() -> CyberosError:
            return KeystoreLocked(
                f"another process is changing {self.path}", file=self.path, hint="try again in a moment"
            )

        with locking.locked(self.path + ".lock", _PATIENCE_S, busy):
            yield

    @contextmanager
    def changing(self) -> Iterator[State]:
        """Keeps others out and gives what the file holds, after finishing a rotation that was interrupted."""
        self._content(0)  # where there is none, or none that is safe, no lock is left behind
        with self.locked():
            yield self.retire(self.load())

    def retire(self, state: State) -> State:
        """Destroys the master keys that are retiring, and returns the state then; hold the lock.

        One that cannot be destroyed now, because its keyring is closed, stays noted.
        """
        if not state.retiring:
            return state
        left = [key for key in state.retiring if not master.destroyed(self.masters, key)]
        if left != state.retiring:
            state = state.settled(left)
            self.save(state)
        return state

    def _content(self, longest: int) -> bytes:
        instead = "rotate the master key afterwards: cyberos key rotate --kind master"
        content = private.read(self.path, longest=longest, instead=instead)
        if content is None:
            raise KeyMissing(
                f"there is no key to seal sessions with: no keystore at {self.path}", key=self.path,
                hint="make one: cyberos key init (--provider file, keyring or env)",
            )  # fmt: skip
        return content


def _no_key(state: State, store_id: str, session_id: str) -> CyberosError:
    if session_id in state.erased.get(store_id, {}):
        return KeyErased(
            f"the key of session {session_id} was erased: nobody can read it any more", session_id=session_id
        )
    return KeyMissing(
        f"the keystore has no key of session {session_id}", key=session_id,
        hint="it is in another keystore, or was erased: `cyberos session list` says whether the session was purged",
    )  # fmt: skip
