"""Writers that change memories in every way, one of them with its working files put off, killed at any moment."""

import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from cyberos.core import store as stores
from cyberos.core.reader import AuditChainReader
from cyberos.core.writer import Writer
from cyberos.operations import doctor

# Changes memories for ever, and says of each change when it is acknowledged.
_CHANGER = """
import random, sys
from cyberos.core.writer import Writer
from cyberos.errors import CyberosError
store, seed, puts_files_off = sys.argv[1:]
dice = random.Random(int(seed))
writer = Writer(store, actor=seed, patience=60, puts_files_off=puts_files_off == "1")
path = lambda: f"memories/{dice.choice('xy')}/{dice.randrange(5)}.md"
number = 0
while True:
    number += 1
    change, chosen = dice.random(), path()
    try:
        if change < 0.6:
            # Some content comes again, also after it was purged.
            receipt = writer.put(chosen, f"{dice.randrange(60)}\\n" + "line\\n" * dice.randrange(9))
        elif change < 0.8:
            receipt = writer.move(chosen, path())
        else:
            receipt = writer.delete(chosen, mode="purge" if change < 0.9 else "tombstone", reason="dice")
    except CyberosError:
        continue
    if receipt.seq:
        sys.stdout.write(f"{receipt.seq} {receipt.chain}\\n")
        sys.stdout.flush()
"""


def _edit_by_hand(store: Path, dice: random.Random, number: int) -> None:
    """Replaces a working file while nobody writes: who edits beside a write cannot know which of the two is kept."""
    with (store / ".lock").open("a+b") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = store / f"memories/{dice.choice('xy')}/{dice.randrange(5)}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"by hand {number}\n")


def test_what_killed_writers_leave_is_put_right_by_the_next(tmp_path: Path) -> None:
    store = stores.init(tmp_path / "store")
    dice = random.Random(5)
    acknowledged: dict[int, str] = {}
    for generation in range(3):
        outputs = [tmp_path / f"out-{generation}-{place}" for place in range(2)]
        changers = []
        for place, output in enumerate(outputs):
            with output.open("wb") as stream:
                command = [sys.executable, "-W", "ignore", "-c", _CHANGER, os.fspath(store)]
                arguments = [str(generation * 10 + place), str(place)]
                changers.append(subprocess.Popen([*command, *arguments], stdout=stream))
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not all(output.stat().st_size for output in outputs):
            time.sleep(0.02)
        for number in range(10):
            _edit_by_hand(store, dice, number)
            time.sleep(dice.random() * 0.05)
        for changer in changers:
            changer.send_signal(signal.SIGKILL)
            assert changer.wait() == -signal.SIGKILL
            time.sleep(dice.random() * 0.05)
        for output in outputs:
            for line in output.read_text().splitlines(keepends=True):
                if line.endswith("\n"):
                    seq, chain = line.split()
                    acknowledged[int(seq)] = chain
        with Writer(store, patience=60) as writer:
            chains = {row["seq"]: row["chain"] for row in writer.reader().iter_rows()}
        assert {seq: chains.get(seq) for seq in acknowledged} == acknowledged
        assert list(AuditChainReader(store).native.verify(deep=True).findings) == []
        found = {finding.id for finding in doctor.examine(os.fspath(store)).findings if finding.counts}
        assert found <= {"view.edited", "view.stray"}
    assert len(acknowledged) > 12
