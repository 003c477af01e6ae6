"""Errors: one shape, and one table of statuses."""

import json

import pytest

from cyberos.api.answers import error_answer
from cyberos.api.statuses import STATUSES, status_of
from cyberos.errors import CyberosError, DiskFull, Kind, UnknownFilter, error_classes


@pytest.mark.parametrize("error", list(error_classes()), ids=lambda error: error.code)
def test_every_class_has_a_status_and_the_one_shape(error):
    raised = error("what happened", hint="what to do", **dict.fromkeys(error.fields, "x"))
    answer = error_answer(raised)
    assert 400 <= answer.status_code < 600
    assert answer.status_code == status_of(error)
    assert answer.body == error_answer(raised).body
    assert json.loads(bytes(answer.body)) == {"error": raised.as_dict()}


def test_every_kind_has_a_status():
    assert set(STATUSES) == set(Kind)


def test_a_class_below_another_has_its_status_unless_it_has_one_of_its_own():
    assert status_of(UnknownFilter) == 422
    assert status_of(DiskFull) == 507

    assert status_of(type("Below", (DiskFull,), {})) == 507
    assert status_of(CyberosError) == 500


def test_the_unforeseen_is_told_here_and_its_details_only_there(serving, store, caplog):
    with serving(store, unforeseen=True) as rest:
        answer = rest.get("unforeseen")
        assert rest.get("health").status == 200
    assert answer.error == (500, "error")
    assert b"secret" not in answer.body
    assert b"Traceback" not in answer.body
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "a secret of the server" in caplog.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
def test_there_is_only_reading(shared, method):
    answer = shared.get("memories/memories/facts/x.md", method=method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET"
    assert method == "HEAD" or answer.error == (405, "method_refused")


@pytest.mark.parametrize("url", ["", "nothing", "rows/", "healthy", "../v1/health", "memories/", "docs"])
def test_what_is_not_served_is_told(shared, url):
    answer = shared.get(url)
    assert answer.error in ((404, "endpoint_not_found"), (422, "path_refused"))


@pytest.mark.parametrize("url", ["memories", "memories/memories/facts/x.md/history", "rows", "health", "verify"])
def test_a_store_that_is_gone_is_the_servers_fault_and_not_an_empty_one(serving, store, url):
    with serving(store) as rest:
        store.rename(store.parent / "elsewhere")
        assert rest.get(url).error == (500, "store_not_found")


def test_what_was_purged_is_gone(rest, writer):
    writer.put("memories/a.md", "a\n")
    writer.delete("memories/a.md", mode="purge", reason="asked for")
    assert rest.memory("memories/a.md", "show", at=1).error == (410, "body_purged")
    assert rest.memory("memories/a.md").error == (404, "memory_not_found")
    assert rest.memory("memories/a.md", at=9).error == (404, "version_not_found")
