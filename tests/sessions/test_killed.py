"""Processes that are killed, and many at once: what was acknowledged is there, once and in order."""

import subprocess
import sys
from pathlib import Path

import pytest

from cyberos.core import session
from cyberos.core.writer import Writer
from tests.sessions import killed

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("work", "least"), [("start", 12), ("append", 4), ("end", 5), ("record", 10), ("purge", 6)])
def test_a_kill_at_any_point_is_gone_on_from(approved, keystore, tmp_path, work, least):
    assert work in killed.WORKS
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.sessions.killed", work, approved, tmp_path / "config"],
        check=False, capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= least


SPEAKER = """
import sys
from cyberos.core import session
from cyberos.core.writer import Writer
from cyberos.errors import CyberosError

store, name = sys.argv[1:]
sys.stdin.readline()
for number in range(15):
    for step in ("start", "append", "end"):
        with Writer(store, actor=name) as memory:
            try:
                if step == "start":
                    session.start(memory, f"{name}-{number}")
                elif step == "append":
                    for each in session.list_sessions(memory):
                        if each.state == "active":
                            turn = session.append(memory, each.id, "user", f"{name} {number}")
                            print("said", each.id, turn, f"{name} {number}", flush=True)
                            break
                else:
                    session.end(memory, f"{name}-{number}")
                    print("ended", f"{name}-{number}", flush=True)
            except CyberosError as error:
                print("refused", error.code, flush=True)
"""


def test_processes_that_start_append_and_end_at_once(approved, tmp_path):
    script = tmp_path / "speaker.py"
    script.write_text(SPEAKER)
    speakers = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", script, approved, name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for name in ("ann", "bob", "cy")
    ]  # fmt: skip
    for speaker in speakers:
        assert speaker.stdin is not None
        speaker.stdin.write("go\n")
        speaker.stdin.flush()
    said: dict[str, list[tuple[int, str]]] = {}
    ended = set()
    refused = set()
    for speaker in speakers:
        out, err = speaker.communicate(timeout=120)
        assert speaker.returncode == 0, err
        for line in out.splitlines():
            what, about, *rest = line.split(" ", 3)
            if what == "said":
                said.setdefault(about, []).append((int(rest[0]), rest[1]))
            elif what == "ended":
                ended.add(about)
            else:
                refused.add(about)
    assert refused <= {"session_state", "session_not_found"}
    with Writer(approved, actor="ann") as memory:
        found = {each.id: each for each in session.list_sessions(memory)}
        assert ended <= found.keys()
        assert {each.state for each in found.values()} <= {"ended", "active"}
        for name in found:
            turns = [(turn.turn_seq, turn.content) for turn in session.read(memory, name)]
            assert turns == sorted(said.get(name, []))
            assert [number for number, _ in turns] == list(range(len(turns)))
        assert sum(map(len, said.values())) > 0
        assert session.recover(memory) == []
