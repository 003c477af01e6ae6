"""Disks that are broken or full under SQLite: every write, sync and truncation of a request fails once, in turn.

What was acknowledged is there, once; what was not is there whole or not at all, and is answered when it is repeated.
"""

import apsw
import pytest

from cyberos.errors import CyberosError
from tests.blocks import vfs

# How many requests in a row that met no fault say that there are no more places where one could be.
ENOUGH = 3

pytestmark = [
    pytest.mark.parametrize("kind", ["sqlite"], indirect=True),
    pytest.mark.parametrize("sticky", [False, True], ids=["once", "for good"]),
    pytest.mark.parametrize("error", [apsw.SQLITE_IOERR, apsw.SQLITE_FULL], ids=["broken", "full"]),
]


@pytest.fixture
def failing(broken):
    """An engine whose disk fails when it is told to."""
    database = vfs.connect(broken.url)
    yield broken.engine._replace(database=database)
    vfs.PLAN.heal()
    database.close()


def everywhere(error, sticky, act):
    """Lets the first, second, third … operation fail until there are none left; returns what was acknowledged.

    `act` gets the number of the try.
    """
    acknowledged, failed, whole = {}, 0, 0
    for at in range(1, 1_000):
        vfs.PLAN.set(at, error, sticky=sticky)
        try:
            acknowledged[at] = act(at)
        except CyberosError as told:
            failed += 1
            assert told.code in ("io_failure", "disk_full", "blocks_unreachable"), told  # noqa: PT017
        finally:
            vfs.PLAN.heal()
        whole = whole + 1 if at in acknowledged and vfs.PLAN.done < at else 0
        if whole == ENOUGH:
            break
    assert whole == ENOUGH
    assert failed >= 10
    return acknowledged, at


def keys(home):
    return {key for (key,) in home.all("SELECT idem_key FROM idempotency WHERE project_id=?", home.project_id)}


def test_what_is_appended_is_there_once(broken, failing, error, sticky):
    home = broken
    session = home.append("x:0", "first", engine=failing)
    acknowledged, last = everywhere(
        error, sticky, lambda at: home.append(session, f"k{at}", key=f"k{at}", engine=failing)
    )
    assert {f"k{at}" for at in acknowledged} <= keys(home)
    assert home.problems() == []
    assert home.all("PRAGMA integrity_check") == [("ok",)]
    for at in range(1, last + 1):
        again = home.append(session, f"k{at}", key=f"k{at}")
        if at in acknowledged:
            assert again == acknowledged[at]._replace(replayed=True)
    expected = ["first", *(f"k{at}" for at in range(1, last + 1))]
    assert sorted(block.text for block in home.blocks(session)[1:]) == sorted(expected)


@pytest.mark.parametrize("over", ["end", "abandon"])
def test_a_session_is_over_once(broken, failing, error, sticky, over):
    home = broken
    act = getattr(home, over)
    for at in range(1, 120):
        home.append(f"x:{at}", f"of {at}")
    acknowledged, last = everywhere(error, sticky, lambda at: act(f"x:{at}", key=f"k{at}", engine=failing))
    assert {f"k{at}" for at in acknowledged} <= keys(home)
    for at in range(1, last + 1):
        again = act(f"x:{at}", key=f"k{at}")
        if at in acknowledged:
            assert again == acknowledged[at]._replace(replayed=True)
        kinds = [block.kind for block in home.blocks(f"x:{at}")]
        assert sum(kind in ("session_end", "abandon") for kind in kinds) == 1
    assert home.project().epoch == (last if over == "end" else 0)
    assert home.problems() == []


def test_a_session_is_begun_once(broken, failing, error, sticky):
    home = broken
    acknowledged, last = everywhere(error, sticky, lambda at: home.start(f"x:{at}", engine=failing))
    for at in range(1, last + 1):
        again = home.start(f"x:{at}")
        if at in acknowledged:
            assert (again.session_id, again.created) == (acknowledged[at].session_id, False)
    assert home.all("SELECT count(*) FROM session WHERE project_id=?", home.project_id) == [(last,)]
    assert home.problems() == []
