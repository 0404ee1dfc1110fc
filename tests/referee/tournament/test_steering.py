"""What an organiser orders while a run is played holds at once, is exact, and a kill leaves it done or not done."""

import itertools

import pytest

from referee.record import read_record
from referee.record.format import dumps
from referee.record.store import match_id_of
from referee.run import decisions
from referee.run.decisions import joining_values
from referee.run.journal import Journal, read_journal
from referee.run.luck import seeds_of
from referee.run.orders import Inbox, orders_folder
from referee.run.run import Run
from referee.schedule.schedule import Schedule
from referee.tournament.joining import load_joining, with_added
from referee.tournament.progress import after
from referee.tournament.steering import Steering

FORMATS = {
    "round-robin": "",
    "swiss": "[swiss]\nrounds = 4\n",
    "league": "[league]\nwindow = 2\nclose = true\n",
}
KINDS = ("withdraw", "disable", "add", "extend", "annul", "replay", "rejudge", "reinstate")


class Killed(Exception):
    """As near to a kill as a process can do to itself."""


@pytest.fixture
def organiser(make_tournament, play, run_folder, write_bot):
    return Organiser(make_tournament, play, run_folder, write_bot)


class Organiser:
    """Gives orders to a run that is played here, when a match begins."""

    def __init__(self, make_tournament, play, run_folder, write_bot):
        self.make_tournament, self.play_once, self.folder, self.write_bot = make_tournament, play, run_folder, write_bot
        self.tournament = None
        self.numbers = itertools.count(1)
        self.given = []

    def begin(self, style="round-robin", bots=4, blocks=3):
        more = FORMATS[style]
        self.write_bot("late")
        self.tournament = self.make_tournament(bots, format=style, blocks=blocks, more=more)

    def order(self, kind, /, **what):
        """Put an order where the runner finds it, as `orders.give` does."""
        id_ = f"{next(self.numbers):020}"
        text = dumps({"kind": kind, "what": what, "by": "ann", "reason": "why"})
        (orders_folder(self.folder) / f"{id_}.order").write_text(text)
        self.given.append(id_)

    def order_some(self, word):
        """The order of this word, about what is there."""
        played = sorted(match_id_of(path) for path in self.folder.matches.glob("*.gz"))
        match word:
            case "withdraw" | "disable":
                kind = "withdrawn" if word == "withdraw" else "disabled"
                self.order("leave", kind=kind, wanted="bot1", choice="keep")
            case "add":
                bot = load_joining(read_journal(self.folder.journal), self.folder.path.parents[1] / "bots/late", None)
                self.order("add", **joining_values(bot))
            case "extend":
                name = "rounds" if self.tournament.config.format == "swiss" else "blocks"
                self.order("extend", more={name: 1})
            case "annul" | "replay":
                self.order("annul", match_id=played[0], replay=word == "replay")
            case "rejudge":
                self.order("rejudge", match_id=played[0], ranking=[1, 1])
            case "reinstate":
                self.order("leave", kind="withdrawn", wanted="bot2", choice="keep")
                self.order("reinstate", wanted="bot2")

    def play(self, at=None, word="", slots=2):
        """Play to the end, as the command does: `word` is ordered when the match at the place `at` begins."""
        pending = [word] if word else []

        def begins(spec):
            if pending and spec.place >= at:
                self.order_some(pending.pop())
                return 50  # it is in play still when the order is looked at
            return spec.place % 3 + 1

        ticks = itertools.count()
        with Steering(self.folder, time_s=lambda: float(next(ticks))) as steering:
            self.steering = steering
            run = self.play_once(self.now(), steering=steering, order=begins, slots=slots)
            summary = run.summary
            while summary.changed:
                run = self.play_once(self.now(), steering=steering, order=begins, slots=slots, secrets=())
                summary = after(summary, run.summary)
        return summary

    def now(self):
        return with_added(self.tournament, read_journal(self.folder.journal))

    def answers(self):
        return [line for line in read_journal(self.folder.journal).events if line.fields.get("order") in self.given]

    def check(self):
        """What counts is what the schedule comes to with what was ordered, each match once."""
        run = Run(self.folder)
        assert run.finished
        seeds, epochs = seeds_of(run.journal)
        assert len(seeds.secrets) == epochs
        judged = {one.match_id: one for one in run.controls if one.match_id}
        records = {match_id_of(path): path for path in self.folder.matches.glob("*.gz")}
        schedule = Schedule(run.schedule_config, run.controls, seeds=seeds)
        while (spec := schedule.next()) is not None:
            verdict = judged.get(spec.match_id)
            path = records.pop(spec.match_id, None)
            if path is None:
                assert schedule.out(spec) or verdict.kind == "annulled"
                schedule.settle(spec)
            else:
                record = read_record(path)
                assert [seat.entry_id for seat in record.header.seats] == [seat.entry_id for seat in spec.seats]
                assert record.footer.seed == spec.seed
                rejudged = verdict is not None and verdict.kind == "rejudged"
                schedule.settle(spec, verdict.ranking if rejudged else record.footer.ranking)
            for _ in (*schedule.in_order(), *schedule.settled()):
                pass
        assert schedule.ended
        assert not records
        assert not run.check().wrong


@pytest.mark.slow
@pytest.mark.parametrize("style", FORMATS)
@pytest.mark.parametrize("word", KINDS)
def test_an_order_to_a_run_that_is_played_holds_and_the_run_is_exact(organiser, style, word):
    organiser.begin(style)
    summary = organiser.play(4, word)
    assert summary.complete, organiser.folder.path
    lines = organiser.answers()
    assert {line.fields["order"] for line in lines} == set(organiser.given)
    assert all(line.fields["by"] == "ann" for line in lines if line.kind != "resumed")
    done = [Run(organiser.folder).carried_out(order) for order in organiser.given]
    assert {line.kind for line in done} == {control.kind for control in Run(organiser.folder).controls}
    organiser.check()
    assert summary.found + summary.played == len(list(organiser.folder.matches.glob("*.gz")))


def test_matches_in_play_end_and_count_and_no_other_begins_before_the_run_knows(organiser):
    organiser.begin(blocks=6)
    started = []
    original = decisions.carry_out

    def carried(folder, order, desk):
        started.append((desk.place, desk.playing))
        return original(folder, order, desk)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("referee.tournament.steering.carry_out", carried)
        organiser.play(6, "withdraw", slots=3)
    ((place, playing),) = started
    assert len(playing) >= 1
    there = {match_id_of(path): read_record(path) for path in organiser.folder.matches.glob("*.gz")}
    assert playing <= set(there)
    assert all(there[match].header.place < place for match in playing)
    after_it = [record for record in there.values() if record.header.place >= place]
    assert after_it
    assert all("bot1" not in record.header.names for record in after_it)


class Point:
    """A moment at which a runner is killed: when this function is called for the `number`th time, before or after."""

    def __init__(self, owner, name, when, journal_kind=""):
        self.owner, self.name, self.when, self.journal_kind = owner, name, when, journal_kind

    def __repr__(self):
        return f"{self.when} {self.name}"

    def arm(self, patch):
        original, armed = getattr(self.owner, self.name), [True]

        def fatal(*args, **keys):
            fires = armed and ("order" in keys or self.name != "append")
            if fires and self.when == "before":
                armed.clear()
                raise Killed
            found = original(*args, **keys)
            if fires:
                armed.clear()
                raise Killed
            return found

        patch.setattr(self.owner, self.name, fatal)


POINTS = [Point(Journal, "append", "before"), Point(Journal, "append", "after"), Point(Inbox, "answer", "after")]


@pytest.mark.slow
@pytest.mark.parametrize("point", POINTS, ids=repr)
@pytest.mark.parametrize("word", [*KINDS, "pause", "resume"])
def test_a_kill_during_an_order_leaves_it_done_or_not_done(organiser, point, word):
    organiser.begin()
    with pytest.MonkeyPatch.context() as patch:
        if word in ("pause", "resume"):
            patch.setattr(organiser, "order_some", organiser.order)
        if word == "resume":
            _resume_when_paused(organiser, patch, lambda: point.arm(patch))
        else:
            point.arm(patch)
        with pytest.raises(Killed):
            organiser.play(4, "pause" if word == "resume" else word)
    if word == "resume":
        organiser.given.pop(0)  # the pause
    done = {line.fields["order"] for line in organiser.answers()}
    if point.when == "before":
        assert done == set(), "not done"
    else:
        assert done == {organiser.given[0]}, "done"
    summary = organiser.play()
    assert summary.complete
    organiser.check()
    if word == "replay" and point.when == "before":  # the record lies aside, so the match is played again
        assert len(list(organiser.folder.void.glob("*annulled*"))) == 1
    wanted = {"withdraw": "withdrawn", "disable": "disabled", "add": "added", "extend": "extended"}.get(word)
    if wanted:
        kinds = [control.kind for control in Run(organiser.folder).controls]
        assert (wanted in kinds) == (point.when == "after")


def test_an_annulment_that_a_kill_cut_can_be_given_again(organiser):
    """The record was aside and the journal had no line: the command said that no such match counted."""
    organiser.begin()
    with pytest.MonkeyPatch.context() as patch:
        POINTS[0].arm(patch)
        with pytest.raises(Killed):
            organiser.play(4, "replay")
    (aside,) = organiser.folder.void.glob("*annulled*")
    match_id = aside.name.partition(".")[0]
    control = Run(organiser.folder).annul(match_id, replay=True, by="ann")
    assert (control.kind, control.match_id) == ("reopened", match_id)
    assert organiser.play().complete
    organiser.check()


def _resume_when_paused(organiser, patch, then):
    """Order a paused run to go on the first time that it looks for orders; call `then` just before."""
    original, ordered = Steering.obey, []

    def obey(steering, *args):
        if steering.paused and not ordered:
            ordered.append(True)
            then()
            organiser.order("resume")
        original(steering, *args)

    patch.setattr(Steering, "obey", obey)
    patch.setattr("referee.tournament.runner.LOOK_S", 0.01)


def test_a_paused_run_begins_nothing_and_goes_on_when_it_is_told(organiser):
    organiser.begin(blocks=6)
    organiser.order_some = lambda word: organiser.order(word)
    looks = []
    original = Steering.obey

    def obey(steering, *args):
        original(steering, *args)
        if steering.paused:
            looks.append(len(list(organiser.folder.matches.glob("*.gz"))))
            if len(looks) == 4:
                organiser.order("resume")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Steering, "obey", obey)
        patch.setattr("referee.tournament.runner.LOOK_S", 0.01)
        assert organiser.play(4, "pause").complete
    assert looks[-1] == looks[-2] < 36, "what was in play has ended, and nothing else"
    assert [line.kind for line in organiser.answers()] == ["held", "unheld"]
    organiser.check()


def test_an_order_that_makes_no_sense_is_refused_and_the_run_goes_on(organiser):
    organiser.begin()
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Inbox, "answer", lambda _self, _id, error=None: said.append(error))

        def nonsense(_word):
            organiser.order("leave", kind="withdrawn", wanted="nobody", choice=None)
            organiser.order("leave", wanted="bot1")
            organiser.order("annul", match_id="m00003-xyz", replay=False)
            organiser.order("resume")

        organiser.order_some = nonsense
        assert organiser.play(4, "nonsense").complete
    assert [str(error).partition(":")[0] for error in said] == [
        "no bot 'nobody' in this run",
        "the order 'leave' cannot be read",
        "no match 'm00003-xyz' counts in " + str(organiser.folder.path),
        "the run is not paused",
    ]
    assert organiser.answers() == []
    organiser.check()


def test_a_match_in_play_is_not_annulled(organiser):
    organiser.begin()
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Inbox, "answer", lambda _self, _id, error=None: said.append(error))

        def annul(_word):
            config = Run(organiser.folder).schedule_config
            walk = Schedule(config)
            specs = [walk.next() for _ in range(5)]
            organiser.order("annul", match_id=specs[4].match_id, replay=False)

        organiser.order_some = annul
        organiser.play(4, "annul")
    (error,) = said
    assert "is being played" in str(error)
