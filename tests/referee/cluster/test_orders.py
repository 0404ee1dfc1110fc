"""What goes over the wire between the executor and a machine."""

import json
from dataclasses import replace

import pytest

from referee.cluster.orders import Answer, Order
from referee.match.result import Fault, MatchResult
from referee.process.sandbox import Sandbox
from referee.record import SeatStats
from referee.record.reasons import EndReason
from referee.schedule.spec import MatchSpec, SeatSpec
from referee.tournament.messages import BotSetup

SPEC = MatchSpec("m1", "toy", {"size": 3}, (SeatSpec("aa", "Ada", "1"), SeatSpec("bb", "Bob", "2")), seed="ab" * 16)
BOX = Sandbox("strict", env=("NAME",), read=("/data",))
BOTS = (
    BotSetup("", "Ada", {"depth": 3}, "aa", BOX, content="c1", fresh=True),
    BotSetup("", "Bob", {}, "bb", Sandbox(), content="c2"),
)
RESULT = MatchResult(
    "m1",
    "void",
    EndReason.START_FAILED,
    "it does not start",
    (),
    (),
    (Fault(0, EndReason.START_FAILED, "it does not start", {"stderr": "no weights\n"}), None),
    (SeatStats(), SeatStats(3, 40)),
    7,
    1.5,
    "",
    (100, 0),
)


def test_an_order_comes_as_it_was_sent():
    order = Order("k", SPEC, 12.5, BOTS, follow=True, builds={"c1": "abcd"})
    assert Order.from_bytes(order.to_bytes()) == order


def test_an_answer_comes_as_it_was_sent_with_its_record():
    answer = Answer("k", "played", "a", result=replace(RESULT, faults=(None, None)), record=b"\x1f\x8b\n\n\0")
    assert Answer.from_bytes(answer.to_bytes()) == answer
    lost = Answer("k", "lost", "a", "it died", flood=(1, "too much"))
    assert Answer.from_bytes(lost.to_bytes()) == lost
    assert Answer.from_bytes(Answer("k", "lacks", "a", lacks=("c1", "c2")).to_bytes()).lacks == ("c1", "c2")


def test_the_last_words_of_a_bot_that_did_not_start_come_home():
    found = Answer.from_bytes(Answer("k", "played", "a", result=RESULT).to_bytes()).result
    assert found.faults[0].last_lines() == ("no weights",)


@pytest.mark.parametrize("place", [0, 5, -3, -1])
def test_a_damaged_answer_is_refused(place):
    data = bytearray(Answer("k", "played", "a", result=RESULT, record=b"record").to_bytes())
    data[place] ^= 1
    with pytest.raises(ValueError, match=r"damaged|answer|Expecting|Extra|Invalid|codec"):
        Answer.from_bytes(bytes(data))


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b"null", b"\xff", b'{"key": 1}'])
def test_what_is_no_message_is_refused(data):
    with pytest.raises(ValueError, match=r".+"):
        Order.from_bytes(data)
    with pytest.raises(ValueError, match=r".+"):
        Answer.from_bytes(data)


@pytest.mark.parametrize(
    "changed",
    [
        {"decisions": "7"},
        {"ranking": ["1", "2"]},
        {"startup_us": [1.5, 0]},
        {"seat_stats": [{"total_us": "x"}, {}]},
        {"detail": ["no"]},
        {"faults": [{"seat": 0, "reason": "start_failed", "detail": {}}, None]},
        {"reason": "nonsense"},
    ],
)
def test_a_result_of_wrong_types_is_refused(changed):
    line = json.loads(Answer("k", "played", "a", result=RESULT).to_bytes().partition(b"\n")[0])
    line["result"] = json.dumps({**json.loads(line["result"]), **changed})
    with pytest.raises(ValueError, match=r".+"):
        Answer.from_bytes(json.dumps(line).encode() + b"\n")


def test_an_order_has_the_seed_of_its_match_and_no_secret():
    text = Order("k", SPEC, 1.0, BOTS).to_bytes().decode()
    assert SPEC.seed in text
    assert "secret" not in text
