import pickle

import pytest

from cyberos import errors
from cyberos.cli.main import EXIT_CODES
from cyberos.errors import CorruptLog, CyberosError, Kind, error_classes

CLASSES = sorted(error_classes(), key=lambda error: error.__name__)


def test_codes_are_unique():
    codes = [error.code for error in CLASSES]
    assert len(codes) == len(set(codes))


@pytest.mark.parametrize("error", CLASSES)
def test_every_class_is_complete(error):
    assert "code" in vars(error), "give the class a code of its own"
    assert error.code.isidentifier()
    assert error.code.islower()
    assert error.kind in EXIT_CODES
    assert (error.__doc__ or "").endswith("."), "the docstring is the message: one sentence"
    declared = {name for cls in error.__mro__ for name in vars(cls).get("__annotations__", {})}
    assert set(error.fields) <= declared, "annotate every field"


@pytest.mark.parametrize("error", CLASSES)
def test_every_class_survives_pickling_and_has_a_message(error):
    raised = error(hint="do this", **dict.fromkeys(error.fields, "x"))
    copy = pickle.loads(pickle.dumps(raised))
    assert copy.as_dict() == raised.as_dict()
    assert copy.message == error.__doc__.partition("\n")[0]
    assert copy.hints == ("do this",)


def test_the_family_is_runtime_errors():
    assert issubclass(CyberosError, RuntimeError)
    ours = {value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)}
    assert ours == set(CLASSES)


def test_only_known_fields_are_in_the_dictionary():
    error = CorruptLog("bad frame", file="audit/current.binlog", offset=0)
    assert error.as_dict() == {
        "code": "corrupt_log",
        "kind": "corrupt",
        "message": "bad frame",
        "hints": [],
        "file": "audit/current.binlog",
        "offset": 0,
    }
    assert error.seq is None


def test_a_field_that_the_class_does_not_have_is_a_mistake():
    with pytest.raises(TypeError, match="CorruptLog has no field path"):
        CorruptLog("bad frame", path="x")


def test_every_kind_has_an_exit_code_of_its_own():
    assert set(EXIT_CODES) == set(Kind)
    assert len(set(EXIT_CODES.values())) == len(Kind)
    assert 0 not in EXIT_CODES.values()
