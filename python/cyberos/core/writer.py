"""The one writer of a store's memories.

Every change is checked (path, size, access list), handed to the compiled core, and acknowledged when its row is
durable. Any number of threads may share a writer, and other processes may write to the same store at the same time.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from cyberos import _native, clock, config, layout
from cyberos.core import access, acl, paths, protocol
from cyberos.core.changes import Change, Delete, Mode, Move, Put, Record
from cyberos.core.reader import AuditChainReader, Row
from cyberos.crypto.keystore import Keystore
from cyberos.errors import BadArgument, CyberosError, IoFailure, StoreNotFound, StoreReadOnly
from cyberos.locking import READ_ONLY

Receipt = _native.Receipt

_DEFAULT_ACTOR: Final = "agent"


class Writer:
    """A store, open for writing.

    `actor` is who writes where a call does not say. Opening recovers what a crash left behind, and waits up to
    `patience` seconds for another process that is writing.
    """

    def __init__(
        self,
        store_path: str | os.PathLike[str],
        *,
        actor: str = _DEFAULT_ACTOR,
        patience: float = 10.0,
        puts_files_off: bool = False,
        signer: Callable[[int], object] | None = None,
        keystore: Keystore | None = None,
    ) -> None:
        """Opens it; raises `StoreNotFound`, `UnsupportedStore`, `StoreReadOnly`, `StoreLocked` or `CorruptLog`.

        With `puts_files_off` working files are written only by `write_files` and `close`, once each however often
        they change: for imports. Rows and bodies are durable as ever; after a crash the next writer writes the files.

        `signer` is called after each commit, once its rows are durable, with the number of the last row, to sign the
        log's head where that is due: a `cyberos.operations.automatic.Signer`. It must not raise. `keystore` has the
        keys of sessions.
        """
        self.store_path = Path(store_path)
        self.actor = actor
        self.keystore, self.patience = keystore, patience
        self._imports, self._signer = puts_files_off, signer
        if not layout.is_store(os.fspath(self.store_path)):
            raise StoreNotFound(f"no store at {self.store_path}", store=os.fspath(self.store_path))
        _native.check_format(self.store_path)  # the settings of a newer one need not make sense
        self._config = config.load(self.store_path)
        try:
            self._native = _native.Writer(
                self.store_path, patience=patience, actor=actor, puts_files_off=puts_files_off
            )
        except IoFailure as error:
            if getattr(error, "errno", None) not in READ_ONLY:
                raise
            raise StoreReadOnly(
                f"the store cannot be written to: {error}",
                store=os.fspath(self.store_path),
                hint="reading it works; to write, its files must be yours and their disk writable",
            ) from error
        self._reader: AuditChainReader | None = None
        # Names that are not on the disk yet are told apart too.
        self._names = paths.OnDisk(self.store_path) if puts_files_off else None

    def put(
        self,
        path: str,
        content: str | bytes,
        meta: Mapping[str, Any] | None = None,
        *,
        actor: str | None = None,
        session_id: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Gives a memory new content; `meta` becomes its frontmatter. Content that is already there writes no row."""
        return self.apply([Put(path, content, meta, extra=extra)], actor=actor, session_id=session_id)[0]

    def put_if(
        self,
        path: str,
        content: str | bytes,
        expected: str | None,
        meta: Mapping[str, Any] | None = None,
        *,
        actor: str | None = None,
        session_id: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """As `put`, but only where the content's SHA-256 is `expected` (`None`: where there is no memory).

        Raises `PreconditionFailed` otherwise, and records the attempt. A retry whose content is in place succeeds.
        """
        if expected == "":
            raise BadArgument("an empty text is no SHA-256", argument="expected", hint="None stands for no memory")
        change = Put(path, content, meta, expected=expected or "", extra=extra)
        return self.apply([change], actor=actor, session_id=session_id)[0]

    def move(
        self,
        src: str,
        dst: str,
        *,
        actor: str | None = None,
        session_id: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Gives a memory another path, where nothing may be."""
        return self.apply([Move(src, dst, extra=extra)], actor=actor, session_id=session_id)[0]

    def delete(
        self,
        path: str,
        *,
        mode: Mode = "tombstone",
        reason: str = "",
        actor: str | None = None,
        session_id: str | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> Receipt:
        """Deletes a memory: a tombstone keeps its versions readable, a purge erases them and needs a reason."""
        return self.apply([Delete(path, mode, reason, extra=extra)], actor=actor, session_id=session_id)[0]

    def emit_aux(self, kind: str, payload: Mapping[str, Any], actor: str | None = None) -> Receipt:
        """Records something that changes no memory: a row of `kind` whose `extra` is `payload`."""
        return self.apply([Record(kind, payload)], actor=actor, session_id="")[0]

    def batch(self, *, actor: str | None = None, session_id: str | None = None) -> "Batch":
        """Returns a context that collects changes and writes them in one commit, all or none, when it is left."""
        return Batch(self, actor, session_id)

    def apply(
        self,
        changes: Sequence[Change],
        *,
        actor: str | None = None,
        session_id: str | None = None,
        actors: Sequence[str] | None = None,
        times: Sequence[int] | None = None,
        accountable: str | None = None,
    ) -> list[Receipt]:
        """Carries out changes in order, all or none, in one commit.

        `actors` and `times` (nanoseconds since 1970) say who made each change and when, where that was not this
        writer's actor now. With `accountable` the access lists are asked about that name and not about `actors`: what
        an import says of them is not proved. `session_id` goes into each row; without it that of the active session,
        if any (`""`: none), and with that the number of its last turn.
        """
        rules = access.rules(self.store_path)
        shared = self._session(session_id)
        limit = self._config.memories.max_body_bytes
        # In a batch most paths come again and again; what was found out about one holds for the batch.
        permitted: set[tuple[str, str]] = set()  # actors and folders
        looked_at: set[str] = set()
        on_disk = self._names or paths.OnDisk(self.store_path)
        requests = []
        for place, change in enumerate(changes):
            who = actors[place] if actors else actor or self.actor
            change.check(limit)
            judged = accountable or who
            for path in change.written():
                where = (judged, path.rpartition("/")[0])
                if where not in permitted and self._permit(rules, judged, path, change.kind):
                    permitted.add(where)
                if path not in looked_at:
                    on_disk.check(path)
                    looked_at.add(path)
            when = times[place] if times else clock.now_ns()
            extra = {**shared, **change.extra} if change.extra else shared
            requests.append((change.kind, who, when, extra, *change.arguments()))
        if any(isinstance(change, Delete) and change.mode == "purge" for change in changes):
            from cyberos.core.search import keeping

            with keeping.forgetting(self.store_path, self.patience):
                receipts = self._native.submit(requests)
        else:
            receipts = self._native.submit(requests)
        if self._signer is not None and any(receipt.seq for receipt in receipts):
            self._signer(self._native.last_seq())
        return receipts

    def head_seq(self) -> int:
        """Returns the number of the last row; 0 for an empty log."""
        return self.reader().last_seq()

    def read_audit_row(self, seq: int) -> Row:
        """Returns one row."""
        return self.reader().row(seq)

    def read_recent_audit_rows(self, count: int) -> list[Row]:
        """Returns the last rows, oldest first."""
        return self.reader().recent(count)

    def reader(self) -> AuditChainReader:
        """Returns a reader of the same store."""
        if self._reader is None:
            self._reader = AuditChainReader(self.store_path)
        return self._reader

    def config(self) -> config.Config:
        """Returns the store's settings as they were when the writer was opened."""
        return self._config

    def recovery(self) -> tuple[int, bool, str | None]:
        """Returns what opening found: rows accepted beyond the tip, whether the log was taken over, a torn tail."""
        return self._native.recovery()

    def write_files(self) -> None:
        """Writes the working files that are put off."""
        self._native.write_files()

    def rebuild(self) -> None:
        """Recomputes the Merkle peaks and the path index from the log."""
        self._native.rebuild()

    def close(self) -> None:
        """Makes working files durable and the indexes current. Rows are durable without it."""
        self._native.close()
        # An import leaves the search index to whoever searches next.
        if not self._imports and os.path.exists(self.store_path / layout.SEARCH):
            from cyberos.core.search import keeping

            keeping.after_writing(self.store_path, self._native.last_seq())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
            return
        with suppress(CyberosError):  # it would hide the error at hand
            self.close()

    def _require_protocol_amendment_p22(self) -> None:
        """Raises `ProtocolNotApproved` where the store's AGENTS.md has no §18."""
        protocol.require(protocol.load(self.store_path), protocol.SESSIONS)

    def permit(self, actor: str, path: str, kind: str) -> None:
        """Raises `AclDenied` where the access lists refuse `actor` a row of `kind` about `path`, and records that."""
        self._permit(access.rules(self.store_path), actor, path, kind)

    def _permit(self, rules: acl.Acl, actor: str, path: str, kind: str) -> bool:
        """Raises `AclDenied`, or returns whether the access lists have nothing to say against it."""
        decision = rules.decide(actor, path)
        if not decision.refused:
            return True
        row = ("aux", actor, clock.now_ns(), decision.row_extra(kind), "memory.acl_denied", path)
        self._native.submit([row])
        if not decision.allowed:
            raise decision.error()
        return False

    def _session(self, named: str | None) -> dict[str, Any]:
        """Returns what rows say of the session they belong to: the one that was named, else the active one."""
        if named == "" or not os.path.lexists(self.store_path / layout.ACTIVE_SESSION):
            return {"session_id": named} if named else {}
        from cyberos.core.sessions import stamp

        return stamp.of(self.reader(), named)


class Batch:
    """Changes that are written together when the context is left without an error; `receipts` has one for each."""

    def __init__(self, writer: Writer, actor: str | None, session_id: str | None) -> None:
        self._writer, self._actor, self._session_id = writer, actor, session_id
        self._changes: list[Change] = []
        self.receipts: list[Receipt] = []

    def put(
        self,
        path: str,
        content: str | bytes,
        meta: Mapping[str, Any] | None = None,
        *,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds new content for a memory."""
        self._changes.append(Put(path, content, meta, extra=extra))

    def move(self, src: str, dst: str, *, extra: Mapping[str, Any] | None = None) -> None:
        """Adds another path for a memory."""
        self._changes.append(Move(src, dst, extra=extra))

    def delete(
        self, path: str, *, mode: Mode = "tombstone", reason: str = "", extra: Mapping[str, Any] | None = None
    ) -> None:
        """Adds a deletion."""
        self._changes.append(Delete(path, mode, reason, extra=extra))

    def emit_aux(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Adds a row that changes no memory."""
        self._changes.append(Record(kind, payload))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None and self._changes:
            self.receipts = self._writer.apply(self._changes, actor=self._actor, session_id=self._session_id)
        self._changes = []
