"""The usage of language models that bots report: counted, kept, and shown only if some bot reported it."""

import csv
import io
import sqlite3
from dataclasses import replace

import pytest

from leaderboard.controls import Counted
from leaderboard.records import match_row
from leaderboard.report import report_html
from leaderboard.standings import Standing, standings
from leaderboard.store import Store, read_rows
from leaderboard.usage import dollars, spent_in, spent_words, together, usage_text
from leaderboard.web.csv_files import standings_csv
from referee.cli.output import print_standings
from referee.cli.standings import columns_of, flat
from referee.record import Usage, read_record
from referee.record.format import parse_footer

USED = Usage(3, 1000, 20, 1, 0, 2_500_000, 490_000)


def using(row, *used):
    """The row, in which the seats have used this."""
    return row._replace(
        seats=tuple(seat._replace(usage=usage_text(one)) for seat, one in zip(row.seats, used, strict=True))
    )


@pytest.fixture
def table(make_row):
    rows = [using(make_row(place, {"ann": 1, "bob": 2}), USED, None) for place in range(2)]
    return standings(rows)


def test_the_sums_are_those_of_all_matches_and_none_for_a_bot_that_said_nothing(table):
    ann, bob = table
    assert ann.usage == {
        "matches": 2,
        "requests": 6,
        "prompt_tokens": 2000,
        "reply_tokens": 40,
        "provider_errors": 2,
        "unreadable": 0,
        "wait_s": 5.0,
        "cost_dollars": 0.00098,
    }
    assert bob.usage is None
    assert Standing.from_dict(ann.to_dict()) == ann
    assert "usage" not in bob.to_dict()


def test_the_terminal_has_the_columns_only_where_some_bot_said_something(table, make_row, capsys):
    print_standings(table, "")
    shown = capsys.readouterr().out.splitlines()
    assert "requests  failed  prompt tok  reply tok  wait s" in shown[0]
    assert "6       2        2000         40     5.0  $0.0010" in shown[1]
    print_standings(standings([make_row(0, {"ann": 1, "bob": 2})]), "")
    assert "requests" not in capsys.readouterr().out


def test_csv_has_the_columns_only_where_some_bot_said_something(table, make_row):
    assert columns_of(table)[-2:] == ("wait_s", "cost_dollars")
    ann, bob = (flat(row.to_dict()) for row in table)
    assert (ann["cost_dollars"], "cost_dollars" in bob) == (0.00098, False)
    plain = standings([make_row(0, {"ann": 1, "bob": 2})])
    assert "requests" not in columns_of(plain)
    lines = list(csv.DictReader(io.StringIO(standings_csv(table).body.decode())))
    assert [line["requests"] for line in lines] == ["6", ""]
    assert b"requests" not in standings_csv(plain).body


def test_the_report_has_a_table_only_where_some_bot_said_something(make_row):
    def page(rows):
        return report_html("cup", Counted(tuple(rows)), standings(rows), total=2, made_at="")

    rows = [make_row(place, {"ann": 1, "bob": 2}) for place in range(2)]
    assert "Language models" not in page(rows)
    shown = page([using(row, USED, None) for row in rows])
    (found,) = [part.partition("</table>")[0] for part in shown.split("<h3>Language models</h3>")[1:]]
    assert "<td>6</td><td>2</td><td>0</td><td>2000</td><td>40</td><td>5.0</td><td>0.0010</td>" in found
    assert "BOB" not in found


def test_a_record_keeps_it_and_the_row_has_it(tmp_path, write_record):
    path = write_record(tmp_path, 0)
    record = read_record(path)
    footer = replace(record.footer, usage=(None, USED))
    row = match_row(record.header, footer, None, record.lines)
    assert [seat.usage for seat in row.seats] == ["", usage_text(USED)]
    assert match_row(record.header, record.footer, None, record.lines).seats[1].usage == ""


@pytest.mark.parametrize("value", [7, [7], [{"requests": -1}], [{"requests": 1.5}], [{"requests": 10**14}], ["x"]])
def test_what_is_no_usage_is_refused_in_a_footer(value):
    with pytest.raises(TypeError):
        parse_footer({"status": "rated", "reason": "normal", "seed": "00", "usage": value})


def test_counts_that_this_version_does_not_know_are_left_out():
    footer = parse_footer({"status": "rated", "reason": "normal", "seed": "00", "usage": [None, {"thoughts": 7}]})
    assert footer.usage == (None, Usage())


def test_the_database_keeps_it_under_the_seal(tmp_path, make_row):
    row = using(make_row(0, {"ann": 1, "bob": 2}), USED, None)
    path = tmp_path / "crosstown.db"
    with Store(path) as store:
        store.put([row])
    assert read_rows(path) == [row]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT sum(usage ->> 'cost_nanos') FROM seats WHERE usage <> ''").fetchone() == (
            490_000,
        )
        connection.execute("UPDATE seats SET usage = '' WHERE seat = 0")
    connection.close()
    assert read_rows(path)[0].stamp != row.stamp


def test_rows_of_version_6_are_not_read_again(tmp_path, make_row):
    row = make_row(0, {"ann": 1, "bob": 2})
    path = tmp_path / "crosstown.db"
    with Store(path) as store:
        store.put([row])
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE seats DROP COLUMN usage")
    connection.execute("DROP TABLE batches")
    connection.execute("PRAGMA user_version = 6")
    connection.close()
    with Store(path) as store:
        assert store.rows() == [row]


def test_the_words_for_people():
    assert spent_words(spent_in(USED)) == "3 requests, 1 failed, 1000 + 20 tokens, 2.5 s, $0.0005"
    assert spent_words(spent_in(Usage(requests=1))) == "1 request, 0 + 0 tokens, 0.0 s, $0.0000"
    assert [dollars(amount) for amount in (0.00049, 1.5, 12.345)] == ["$0.0005", "$1.5000", "$12.35"]
    assert together([spent_in(USED), None, spent_in(USED)])["requests"] == 6
    assert together([None, None]) is None
