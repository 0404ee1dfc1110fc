"""Control events: what changes a tournament, readable without the runner."""

import json
import math

import pytest

from referee.record.format import CHAIN_START, dumps, seal
from referee.record.journal import Control, JournalDamage, control_fields, parse_control, read_controls, read_lines

CONTROLS = (
    Control("withdrawn", 12, entry_id="ab", choice="losses", name="Ann", by="organiser", reason="asked for"),
    Control("annulled", 3, match_id="m000003-00000000", by="organiser"),
    Control("annulled", 3, match_id="m000003-00000000", out=()),
    Control("annulled", 3, match_id="m000003-00000000", out=("ab", "cd")),
    Control("breaker", 7, entry_id="cd", by="rule", reason="3 faults in a row"),
    Control("rejudged", 4, match_id="m000004-00000000", ranking=(2, 1)),
    Control("added", 20, entry_id="ef"),
    Control("decided", 40),
    Control("reinstated", 7, entry_id="cd", by="organiser", forgiven=("m000003-00000000",)),
)


def write(path, rows):
    chain = CHAIN_START
    text = ""
    for kind, fields in rows:
        line, chain = seal(chain, dumps([kind, "2026-01-01T00:00:00+00:00", fields])[:-1])
        text += line
    path.write_text(text)


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.kind)
def test_a_control_is_read_as_it_was_written(control):
    assert parse_control(control.kind, "", json.loads(dumps(control_fields(control)))) == control


def test_controls_are_found_among_other_lines_in_their_order(tmp_path):
    path = tmp_path / "tournament.jsonl"
    rows = [("created", {"format": 1})]
    for control in CONTROLS:
        rows += [(control.kind, control_fields(control)), ("void", {"match": "m1"})]
    write(path, rows)
    found = read_controls(path)
    assert [control.kind for control in found] == [control.kind for control in CONTROLS]
    assert found[0].place == 12
    assert {control.at for control in found} == {"2026-01-01T00:00:00+00:00"}
    assert len(read_lines(path)) == len(rows)


def test_no_journal_has_no_controls(tmp_path):
    assert read_controls(tmp_path / "tournament.jsonl") == ()


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"place": "3"},
        {"place": True},
        {"place": 3, "choice": "burn"},
        {"place": 3, "entry_id": 7},
        {"place": 3, "ranking": ["1"]},
        {"place": 3, "ranking": 1},
        {"place": 3, "forgiven": "m000003-00000000"},
        {"place": 3, "forgiven": [3]},
    ],
)
def test_a_control_that_lacks_a_field_is_named_with_its_line(tmp_path, fields):
    path = tmp_path / "tournament.jsonl"
    write(path, [("created", {}), ("withdrawn", fields)])
    with pytest.raises(JournalDamage, match=":2: the journal is damaged: a 'withdrawn' line"):
        read_controls(path)


@pytest.mark.parametrize("out", ["ab", [3]])
def test_an_annulment_with_an_unusable_list_of_bots_that_were_out_is_named(tmp_path, out):
    path = tmp_path / "tournament.jsonl"
    write(path, [("annulled", {"place": 3, "match_id": "m000003-00000000", "out": out})])
    with pytest.raises(JournalDamage, match=":1: the journal is damaged: a 'annulled' line without a usable out"):
        read_controls(path)


@pytest.mark.parametrize("value", [math.nan, math.inf, "3"])
def test_a_length_that_is_no_finite_number_is_named(tmp_path, value):
    path = tmp_path / "tournament.jsonl"
    write(path, [("extended", {"place": 3, "blocks": value})])
    with pytest.raises(JournalDamage, match=":1: the journal is damaged: a 'extended' line without a usable blocks"):
        read_controls(path)


def test_a_cut_line_is_dropped_and_a_changed_one_named(tmp_path):
    path = tmp_path / "tournament.jsonl"
    write(path, [("created", {}), ("withdrawn", {"place": 3})])
    whole = path.read_bytes()
    path.write_bytes(whole[:-2])
    assert read_controls(path) == ()
    path.write_bytes(whole.replace(b'"place":3', b'"place":4'))
    with pytest.raises(JournalDamage) as caught:
        read_controls(path)
    assert caught.value.line == 2
