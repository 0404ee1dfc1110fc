"""Orders reach a runner through the folder of its run: each is carried out once, or refused, or taken back."""

import os
import threading

import pytest

from referee.errors import BusyError, UsageError
from referee.run import orders
from referee.run.lock import RunLock
from referee.run.orders import Inbox, give, orders_folder

BY = {"by": "ann", "reason": "asked for"}


@pytest.fixture
def inbox(run_folder):
    """That of a runner at work in `run_folder`: this process."""
    run_folder.make()
    with RunLock(run_folder.lock), Inbox(run_folder) as made:
        yield made


class Giving(threading.Thread):
    """Somebody who gives an order and waits."""

    def __init__(self, folder, *order, **keys):
        super().__init__()
        self.folder, self.order, self.keys = folder, order, keys
        self.outcome = None
        self.start()

    def run(self):
        try:
            self.outcome = give(self.folder, *self.order, **BY, **self.keys)
        except (BusyError, UsageError) as error:
            self.outcome = error


def left_in(folder):
    """What lies in the folder of orders."""
    return list(orders_folder(folder).iterdir())


def take(inbox):
    """The first order that comes."""
    while True:
        for order in inbox.take():
            return order


def test_an_order_comes_as_it_was_given_and_is_answered(inbox, run_folder):
    giving = Giving(run_folder, "annul", {"match_id": "m0-ab", "replay": True})
    order = take(inbox)
    assert (order.kind, order.what, order.by, order.reason) == (
        "annul",
        {"match_id": "m0-ab", "replay": True},
        "ann",
        "asked for",
    )
    inbox.answer(order.id)
    giving.join()
    assert giving.outcome == (order.id, True)
    assert left_in(run_folder) == []


def test_a_refusal_is_the_error_of_whoever_gave_the_order(inbox, run_folder):
    giving = Giving(run_folder, "pause", {})
    inbox.answer(take(inbox).id, UsageError("the run is paused already", "nothing to do"))
    giving.join()
    assert isinstance(giving.outcome, UsageError)
    assert giving.outcome.sentence == "the run is paused already; nothing to do"


def test_an_order_that_is_not_taken_in_time_is_taken_back(inbox, run_folder):
    giving = Giving(run_folder, "pause", {}, wait_s=0.05)
    giving.join()
    assert isinstance(giving.outcome, BusyError)
    assert "has not taken the order within 0.05 s; it was taken back" in str(giving.outcome)
    assert list(inbox.take()) == []


def test_an_order_that_is_being_carried_out_is_not_taken_back(inbox, run_folder):
    giving = Giving(run_folder, "pause", {}, wait_s=0.05)
    order = take(inbox)
    giving.join(0.2)
    assert giving.is_alive(), "it waits for the answer"
    inbox.answer(order.id)
    giving.join()
    assert giving.outcome == (order.id, True)


@pytest.mark.parametrize("claimed", [False, True])
def test_whoever_waits_for_a_runner_that_dies_is_not_kept_waiting(inbox, run_folder, monkeypatch, claimed):
    giving = Giving(run_folder, "pause", {})
    while not left_in(run_folder):
        pass
    if claimed:
        take(inbox)
    monkeypatch.setattr(orders, "is_run", lambda _lock: False)
    giving.join()
    assert giving.outcome[1] is False
    assert left_in(run_folder) == []


def test_orders_that_an_earlier_runner_left_are_not_carried_out(run_folder):
    run_folder.make()
    orders_folder(run_folder).mkdir()
    (orders_folder(run_folder) / "1.order").write_text('{"kind":"pause","what":{}}')
    (orders_folder(run_folder) / "2.taken").write_text('{"kind":"pause","what":{}}')
    with Inbox(run_folder) as inbox:
        assert list(inbox.take()) == []
    assert not orders_folder(run_folder).exists()


@pytest.mark.parametrize("text", ["", "[]", "{", '{"kind":"dance","what":{}}', '{"kind":"pause"}', "[" * 9999])
def test_what_is_no_order_is_refused(inbox, run_folder, text):
    (orders_folder(run_folder) / "1.order").write_text(text)
    assert list(inbox.take()) == []
    assert "is not an order" in (orders_folder(run_folder) / "1.answer").read_text()


def test_a_pipe_in_the_place_of_an_order_keeps_no_run_waiting(inbox, run_folder):
    os.mkfifo(orders_folder(run_folder) / "1.order")
    assert list(inbox.take()) == []
    assert "is not an order" in (orders_folder(run_folder) / "1.answer").read_text()


def test_without_a_runner_that_takes_orders_the_error_says_to_stop_it(run_folder, monkeypatch):
    monkeypatch.setattr(orders, "_BEGIN_S", 0.05)
    run_folder.make()
    with RunLock(run_folder.lock), pytest.raises(BusyError) as refused:
        give(run_folder, "pause", {}, **BY)
    assert "stop it with Ctrl-C there" in refused.value.next_step
