"""C-1 to C-6: what holds across all of block memory. C-8 is in test_races.py: it is about who waits for a lock."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from cyberos.answers import encode_json, to_dict
from cyberos.blocks.facts import Fact
from tests.blocks import attacks
from tests.blocks.attacks import NEVER_CHANGED
from tests.blocks.home import next_number, outcome
from tests.blocks.test_forbidden import REFUSED

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "python" / "cyberos"
BLOCKS = PACKAGE / "blocks"
# The only functions that open a transaction which writes, each for all that is done through it.
WRITERS = {
    "engine.py": {"change"},
    "enrolment.py": {"_enrol", "adopt"},
    "administration.py": {"set_up", "create_token", "revoke_token", "disable_principal", "switch"},
    "schema/migrations.py": {"migrate"},
}
# Statements about rows that were found under their owner in the same transaction, and audits of a whole project.
ASKED_BEHIND_THE_FENCE = {"_SIDES", "_SETTLED", "_HEADER"}
FENCED = r"\b(?:FROM|JOIN|UPDATE)\s+(?:project|project_store|session|block|block_body|idempotency)\b"
OWN_TABLES = r"\b(?:INTO|FROM|JOIN|UPDATE)\s+(?:session|block|block_body|block_parent|integration_log|idempotency)\b"


def trees(folder: Path) -> Iterator[tuple[str, ast.Module]]:
    for file in sorted(folder.rglob("*.py")):
        yield file.relative_to(folder).as_posix(), ast.parse(file.read_text(encoding="utf-8"))


def texts(node: ast.AST) -> Iterator[str]:
    """Yields the texts in some code; what is filled into one is left out."""
    for each in ast.walk(node):
        if isinstance(each, ast.JoinedStr):
            parts = [part.value for part in each.values if isinstance(part, ast.Constant)]
            yield "".join(part for part in parts if isinstance(part, str))
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def test_c1_the_core_is_there_without_what_is_built_on_it():
    """The lifecycle, migrations, recovery and checks load no surface, no service and no adapter."""
    names = [name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name, _ in trees(BLOCKS)]
    layers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    (order,) = (each["layers"] for each in layers if each["type"] == "layers")
    above = order[: next(place for place, layer in enumerate(order) if "blocks" in layer)]
    assert "cli" in above
    assert "operations" in above
    code = (
        f"import importlib, sys\nfor name in {names!r}: importlib.import_module('cyberos.blocks.' + name)\n"
        f"found = [name for name in sys.modules if name.startswith('cyberos.') and name.split('.')[1] in {above!r}]\n"
        "print(found, 'click' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[] False"


def test_c2_there_is_one_way_to_change_a_project():
    """All writing goes through a few functions; all of a session's life through one of them."""
    found: dict[str, set[str]] = {}
    for name, tree in trees(PACKAGE):
        for function in (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)):
            for call in (each for each in ast.walk(function) if isinstance(each, ast.Call)):
                if ast.unparse(call) in ("database.write()", "to.database.write()", "engine.database.write()"):
                    found.setdefault(name.removeprefix("blocks/"), set()).add(function.name)
    assert found == WRITERS


def test_c2_nobody_else_knows_the_tables():
    elsewhere = [
        (name, text)
        for name, tree in trees(PACKAGE)
        if not name.startswith("blocks/")
        for text in texts(tree)
        if re.search(OWN_TABLES, text) and "project_id" in text
    ]
    assert elsewhere == []


def test_c3_what_is_written_is_never_rewritten(home, time):
    """After each command, and each that is refused, all rows of before are there as they were."""
    names = {"b": home.start("x:b"), "c": home.start("x:c")}
    conflicts: list[str] = []
    commands = [
        lambda: home.append("x:b", Fact("two", "t", "f"), key="k"), lambda: home.append("x:c", Fact("one", "t"), "c"),
        lambda: home.append("x:b", Fact("other", "t", "f")), lambda: home.append("x:b", "another", key="k"),
        lambda: home.bootstrap("x:b"), lambda: home.resume("x:b"), lambda: home.end("x:b", key="e"),
        lambda: home.end("x:b", key="e"), lambda: home.end("x:b"), lambda: home.append(names["b"], "late"),
        lambda: conflicts.extend(home.end("x:c", summary="done").conflicts), lambda: home.start("x:b"),
        lambda: home.append("x:b", Fact("two it is", "t", resolves=tuple(conflicts))), lambda: home.bootstrap("x:b"),
        lambda: home.abandon("x:b", reason="no"), lambda: home.abandon("x:b"), lambda: home.start("x:b"),
        lambda: home.append("x:d", "lazily"), lambda: time.pass_(1e7), lambda: home.end("x:d"),
    ]  # fmt: skip
    answers = []
    for command in commands:
        before = home.snapshot()
        answers.append(outcome(command))
        after = home.snapshot()
        for table in NEVER_CHANGED:
            kept = {repr(plain(row)) for row in after[table]}
            assert {repr(plain(row)) for row in before[table]} <= kept, (table, answers[-1])
        over = {row[0]: plain(row) for row in after["session"]}
        for row in before["session"]:
            if row[8] != "open":
                assert over[row[0]] == plain(row)
    codes = [each for each in answers if isinstance(each, str)]
    assert codes == ["idempotency_conflict", "idempotency_conflict", "session_ended", "session_ended",
                     "session_abandoned"]  # fmt: skip
    assert len(conflicts) == 1


def plain(row):
    return [bytes(each) if isinstance(each, memoryview) else each for each in row]


def test_c4_two_principals_of_one_database_never_meet(home, neighbour):
    """The same names, topics and keys on both sides: no edge, no head, no conflict and no word crosses over."""
    for side, word in ((home, "hers"), (neighbour, "his")):
        side.append("x:1", Fact(f"{word} 1", "t", "f"), key="k")
        side.append("x:2", Fact(f"{word} 2", "t", "f"), key="k2")
        side.append("x:open", f"{word} open")
    for side in (home, neighbour):
        assert side.end("x:1", key="e").conflicts == []
        assert len(side.end("x:2", key="e2").conflicts) == 1
    for side, word in ((home, "his"), (neighbour, "hers")):
        other = neighbour if side is home else home
        seen = encode_json(
            [to_dict(each) for each in (side.bootstrap("x:open"), side.bootstrap(), side.graph(), *side.conflicts())]
            + [to_dict(each) for each in side.blocks("x:1")]
        ).decode()
        assert word not in re.findall(r"\w+", seen)
        for (block_id,) in home.all("SELECT block_id FROM block WHERE project_id=?", other.project_id):
            assert block_id not in seen
    crossing = """SELECT count(*) FROM block_parent e
        JOIN block c ON c.block_id=e.child_id JOIN block p ON p.block_id=e.parent_id
        WHERE c.principal_id<>p.principal_id OR c.project_id<>p.project_id OR e.project_id<>c.project_id"""
    assert home.all(crossing) == [(0,)]
    foreign = """SELECT count(*) FROM block b JOIN project p ON p.project_id=b.project_id
        WHERE b.principal_id<>p.principal_id"""
    assert home.all(foreign) == [(0,)]


OF_HERS, OF_HIS = "SELECT 'new', project_id, principal_id", "SELECT 'new', project_id, '{his}'"
EDGE = """INSERT INTO block_parent(project_id, child_id, child_seq, ordinal, parent_id, parent_seq, role)
    SELECT '{mine}', 'new', 1000, 0, block_id, project_seq, 'branch' FROM block WHERE block_id='{his_tip}'"""
RECEIPT = """INSERT INTO receipt_block SELECT project_id, receipt_id, 1000, '{his_tip}' FROM receipt
    WHERE project_id='{mine}'"""
CROSSING = {
    "an edge to another project's block": [EDGE, attacks.block()],
    "another principal's session in a project": [attacks.session("1, '{head}'").replace(OF_HERS, OF_HIS)],
    "another principal's block in a project": [attacks.edge("{tip}"), attacks.block().replace(OF_HERS, OF_HIS)],
    "a session on another project's head": [attacks.change("open", "base_block_id='{his_head}'")],
    "a head of another project": ["UPDATE project SET integration_head='{his_head}' WHERE project_id='{mine}'"],
    "a receipt of another project's block": [RECEIPT],
}


@pytest.mark.parametrize("what", CROSSING)
def test_c4_the_database_refuses_what_would_cross(home, neighbour, what):
    for side in (home, neighbour):
        side.end(side.append("x:1", "a"))
        side.append("x:open", "b")
        side.bootstrap("x:open")
    names = {
        "ended": home.session("x:1").session_id, "open": home.session("x:open").session_id,
        "mine": home.project_id, "head": home.project().head, "his": neighbour.principal,
        "tip": home.session("x:open").tip_block_id, "note": home.session("x:open").tip_block_id,
        "his_tip": neighbour.session("x:open").tip_block_id, "his_head": neighbour.project().head,
    }  # fmt: skip
    before = home.snapshot(), neighbour.snapshot()
    connection = home.raw()
    if home.kind == "sqlite":
        connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("BEGIN")
    with pytest.raises(REFUSED) as caught:
        carry_out(connection, [each.format_map(names) for each in CROSSING[what]])
    assert not re.search("syntax|no such|does not exist|has no column|columns but", str(caught.value)), caught.value
    connection.close()
    assert (home.snapshot(), neighbour.snapshot()) == before


def carry_out(connection, statements):
    for statement in statements:
        connection.execute(statement)
    connection.execute("COMMIT")  # what is deferred is asked now


def test_c4_every_statement_names_the_owner():
    """Who is not the owner finds nothing, whatever the rest of the program does."""
    for name, tree in trees(BLOCKS):
        if name == "invariants.py":
            continue
        for assigned in (each for each in ast.walk(tree) if isinstance(each, ast.AnnAssign) and each.value):
            assert isinstance(assigned.value, ast.expr)
            for text in texts(assigned.value):
                if re.search(FENCED, text) and ast.unparse(assigned.target) not in ASKED_BEHIND_THE_FENCE:
                    assert re.search(r"principal_id\s*=\s*\?", text), (name, text)


def test_c5_a_database_of_ones_own_and_a_shared_one_do_the_same(kind, new_home, time):
    """The same commands and ids, alone and beside others who act in between."""
    left, number, began = [], next_number(), time.ns
    for shared in (False, True):
        time.ns = began
        home = new_home(kind, alone=True, number=number)
        others = [home.beside() for _ in range(2)] if shared else []
        answers = []
        for turn, act in enumerate(life(home)):
            for other in others:
                other.append(f"x:{turn}", Fact("of another", "t"), key=f"k{turn}")
                other.end(f"x:{turn}")
            answers.append(to_dict(act()))
        left.append((answers, {table: [plain(row) for row in rows] for table, rows in home.snapshot().items()}))
        for other in others:
            assert other.problems() == []
            other.close(shared=True)
    assert left[0] == left[1]


def life(home):
    yield lambda: home.start("x:b", key="1")
    yield lambda: home.append("x:b", Fact("two", "t"), key="2")
    yield lambda: home.append("x:c", Fact("one", "t"))
    yield lambda: home.end("x:b", key="3")
    yield lambda: home.end("x:c")
    yield lambda: home.end("x:b", key="3")
    yield lambda: home.start("x:d")
    yield lambda: home.bootstrap("x:d")
    yield lambda: home.abandon("x:d", reason="no")
    yield home.bootstrap
    yield home.graph


def test_c5_nothing_is_kept_between_requests_but_connections():
    for name, tree in trees(BLOCKS):
        assert not [each for each in ast.walk(tree) if isinstance(each, ast.Global | ast.Nonlocal)
                    and name != "connector/sqlite.py"], name  # fmt: skip
        for assigned in (each for each in tree.body if isinstance(each, ast.AnnAssign)):
            assert "Final" in ast.unparse(assigned.annotation), (name, ast.unparse(assigned))


OLD_WRITERS = {
    "starts from a leaf": (attacks.session("NULL, NULL"), "session_live_has_base|session_insert"),
    "ends without integrating": (
        attacks.change("open", f"status='ended', {attacks.CLAIM}"), "session_ended_is_integrated|session_transition"
    ),
    "reconciles what is open": (
        attacks.change("open", f"status='reconciled', {attacks.CLAIM}"), "session_reconciled|session_transition"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", OLD_WRITERS)
def test_c6_a_program_of_before_cannot_write(home, what):
    """Also where nobody thought of the switch: what older programs did is refused by the tables."""
    home.end(home.append("x:1", "a"))
    home.append("x:open", "b")
    names = {"ended": home.session("x:1").session_id, "open": home.session("x:open").session_id}
    statement, by = OLD_WRITERS[what]
    connection = home.raw()
    with pytest.raises(REFUSED, match=by):
        connection.execute(statement.format_map(names))
    connection.close()
