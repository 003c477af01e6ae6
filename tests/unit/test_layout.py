import pytest

from cyberos import layout
from cyberos.errors import StoreNotFound
from cyberos.layout import find_store


@pytest.fixture
def project(tmp_path):
    store = tmp_path / "project" / layout.IN_PROJECT
    store.mkdir(parents=True)
    (store / layout.MANIFEST).write_text("{}")
    deep = tmp_path / "project" / "src" / "deep"
    deep.mkdir(parents=True)
    return store, deep


def test_the_named_store_wins(project, bare_store):
    assert find_store(bare_store, project[1]) == str(bare_store)


def test_a_name_is_relative_to_the_current_folder(bare_store, monkeypatch):
    monkeypatch.chdir(bare_store.parent)
    assert find_store("store", "/") == str(bare_store)


def test_the_nearest_store_upwards_is_found(project):
    store, deep = project
    assert find_store(None, deep) == str(store)
    assert find_store(None, store.parent) == str(store)


def test_a_broken_store_nearby_does_not_send_writes_to_another_one(project):
    _, deep = project
    broken = deep / layout.IN_PROJECT
    broken.mkdir(parents=True)
    with pytest.raises(StoreNotFound, match="no store at") as caught:
        find_store(None, deep)
    assert caught.value.store == str(broken)


def test_no_store_says_how_to_get_one(tmp_path):
    with pytest.raises(StoreNotFound, match="or above it") as caught:
        find_store(None, tmp_path)
    assert any("cyberos init" in hint for hint in caught.value.hints)
    with pytest.raises(StoreNotFound) as caught:
        find_store(tmp_path / "none", tmp_path)
    assert caught.value.store == str(tmp_path / "none")


def test_a_store_that_lost_its_manifest_is_still_a_store(tmp_path):
    log = tmp_path / layout.ACTIVE_SEGMENT
    log.parent.mkdir()
    log.touch()
    assert find_store(tmp_path, "/") == str(tmp_path)


def test_who_stands_in_a_store_is_told_how_to_name_it(store, tmp_path):
    with pytest.raises(StoreNotFound, match="is itself a store") as caught:
        find_store(None, store)
    assert caught.value.hints == ("name it: --store .",)
    (tmp_path / layout.MANIFEST).write_text("{}")  # of a browser's extension, say
    with pytest.raises(StoreNotFound, match="or above it"):
        find_store(None, tmp_path)
