"""Any units of several sessions: undoing one leaves exactly what the definition says, and everything else as it was."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cyberos.core import store as stores
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.errors import PurgeRefused
from cyberos.operations import reverting

PATHS = [f"memories/{name}.md" for name in "abcd"]
SESSIONS = ["s-1", "s-1", "s-2", ""]
OPS = st.tuples(
    st.sampled_from(["put", "put", "move", "move", "delete", "purge"]),
    st.sampled_from(PATHS),
    st.sampled_from(PATHS),
    st.sampled_from(SESSIONS),
)


class Model:
    """What there is: which memory is where, what it holds, and what it was before each operation."""

    def __init__(self):
        self.place, self.content, self.name = {}, {}, {}
        self.operations = []  # the memory, the session, and where and what the memory was before
        self.purged = set()

    def memory(self, path):
        """The memory at a path; where there is none, the one that was deleted under that name."""
        return self.name.get(path)

    def alive(self, path):
        memory = self.memory(path)
        return memory is not None and self.place[memory] is not None

    def note(self, memory, session):
        self.operations.append((memory, session, self.place[memory], self.content.get(memory)))

    def put(self, path, content, session):
        if path not in self.name:
            self.name[path] = len(self.place)
            self.place[self.name[path]] = None
        memory = self.name[path]
        self.note(memory, session)
        self.place[memory], self.content[memory] = path, content

    def move(self, src, dst, session):
        memory = self.name.pop(src)
        self.note(memory, session)
        self.name[dst], self.place[memory] = memory, dst

    def delete(self, path, session):
        memory = self.name[path]
        self.note(memory, session)
        self.place[memory] = None

    def state(self):
        return {path: self.content[memory] for memory, path in self.place.items() if path is not None}

    def reverted(self, session):
        """What there must be once the session is undone, and the memories that stay as they are, by why."""
        before, since, skipped = {}, set(), {}
        for memory, who, path, content in self.operations:
            if memory in before and who != session:
                since.add(memory)
            elif who == session and memory not in before:
                before[memory] = (path, content) if path is not None else None
        now = {memory: (path, self.content[memory]) if path else None for memory, path in self.place.items()}
        wanted = {}
        for memory, was in before.items():
            if now[memory] == was:
                continue
            if memory in since:
                skipped[memory] = "changed_since"
            elif was and was[1] in self.purged:
                skipped[memory] = "purged"
            else:
                wanted[memory] = was
        while True:
            after, clash = {}, None
            for memory, was in now.items():
                if memory not in wanted and was:
                    after[was[0]] = memory
            # Who stays where it is comes before who would go there.
            staying = [each for each in wanted.items() if each[1] is None or each[1][0] == self.place[each[0]]]
            for memory, was in staying + [each for each in wanted.items() if each not in staying]:
                if was and was[0] in after:
                    clash = memory
                    break
                if was:
                    after[was[0]] = memory
            if clash is None:
                break
            del wanted[clash]
            skipped[clash] = "path_taken"
        held = {path: wanted.get(memory) or now[memory] for path, memory in after.items()}
        return {path: was[1] for path, was in held.items() if was}, sorted(skipped.values())


def carry_out(writer, model, operations):
    for number, (kind, path, other, session) in enumerate(operations):
        if kind == "put":
            content = f"{number}\n"
            model.put(path, content, session)
            writer.put(path, content, session_id=session)
        elif not model.alive(path):
            continue
        elif kind == "move" and not model.alive(other) and path != other:
            model.move(path, other, session)
            writer.move(path, other, session_id=session)
        elif kind == "delete":
            model.delete(path, session)
            writer.delete(path, session_id=session)
        elif kind == "purge":
            purge(writer, model, path, session)


def purge(writer, model, path, session):
    lineage = {entry.content_sha256 for entry in writer.reader().native.history(path)[0]}
    bodies = {sha256: writer.reader().native.body(sha256)[0] for sha256 in lineage if sha256}
    try:
        writer.delete(path, mode="purge", reason="why", session_id=session)
    except PurgeRefused:  # a memory that was once called so has the same version
        return
    model.delete(path, session)
    model.purged |= {body.decode() for body in bodies.values() if body is not None}


def state(store):
    reader = AuditChainReader(store)
    found, _ = reader.native.memories_at()
    return {version.path: (reader.native.body(version.content_sha256)[0] or b"").decode() for version in found}


@settings(max_examples=40)
@given(st.lists(OPS, max_size=14))
def test_undoing_a_session_leaves_what_the_definition_says(operations):
    with tempfile.TemporaryDirectory() as folder:
        store, model = stores.init(Path(folder) / "store"), Model()
        with Writer(store, actor="ann") as writer:
            carry_out(writer, model, operations)
            assert state(store) == model.state()
            if not any(session == "s-1" for _, session, *_ in model.operations):
                return
            expected, skipped = model.reverted("s-1")
            last = writer.head_seq()
            done = reverting.revert(str(store), "session_id", "s-1", actor="carol", dry_run=False)
            assert state(store) == expected
            assert sorted(each.reason for each in done.skipped) == skipped
            assert done.seqs == tuple(range(last + 1, last + 1 + len(done.seqs)))
            assert bool(done.seqs) == bool(done.reverted)
            again = reverting.revert(str(store), "session_id", "s-1", actor="carol", dry_run=False)
            assert (again.reverted, again.seqs) == ((), ())
            files = {str(file.relative_to(store)): file.read_text() for file in store.glob("memories/**/*.md")}
            assert files == expected
