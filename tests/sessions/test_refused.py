"""Disks without room, and a keystore that is not there: what was asked is refused, and can be done later."""

import os
import resource

import pytest

from cyberos.core import session
from cyberos.core.writer import Writer
from cyberos.crypto.keystore import Keystore
from cyberos.errors import IoFailure, KeyMissing


def test_an_end_for_which_there_is_no_room_leaves_none_taken_and_can_be_tried_again(memory):
    session.start(memory, "one")
    session.append(memory, "one", "user", os.urandom(100_000).hex())
    before = {path for path in (memory.store_path / "sessions").rglob("*") if path.is_file()}
    allowed = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, allowed[1]))
    try:
        with pytest.raises(IoFailure, match="cannot write"):
            session.end(memory, "one")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, allowed)
    assert {path for path in (memory.store_path / "sessions").rglob("*") if path.is_file()} == before
    assert session.end(memory, "one").turns_count == 1


def test_where_a_sessions_keystore_is_gone_no_new_one_is_recommended(sealed, approved, tmp_path):
    session.start(sealed, "one", classification="restricted")
    with Writer(approved, actor="ann", keystore=Keystore(str(tmp_path / "elsewhere"), {})) as other:
        with pytest.raises(KeyMissing, match=r"not at .*elsewhere") as raised:
            session.append(other, "one", "user", "hello")
        assert not any("key init" in hint for hint in raised.value.hints)
    assert session.append(sealed, "one", "user", "hello") == 0
