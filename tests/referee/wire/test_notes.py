"""What is told of a guest that comes and goes without end."""

from referee.wire.remote_bots import MOST_NOTES, SPAN_S, Notes


def test_a_guest_that_comes_and_goes_without_end_is_told_of_a_few_times() -> None:
    heard: list[str] = []
    now_s = 0.0
    notes = Notes(heard.append, lambda: now_s)
    for number in range(100):
        notes.tell(f"note {number}")
    assert heard == [f"note {number}" for number in range(MOST_NOTES)]
    now_s = SPAN_S
    notes.tell("has come back")
    notes.tell("is gone")
    assert heard[MOST_NOTES:] == [f"has come back ({100 - MOST_NOTES} notes of it were left out)", "is gone"]
