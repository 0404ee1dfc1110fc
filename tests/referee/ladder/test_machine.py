"""What comes from the machine of a ladder: its sandbox, which is not given up silently, and all else that changes."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.facts import facts_of
from referee.errors import PlatformError
from referee.ladder.bots import LadderBot
from referee.ladder.config import LadderConfig
from referee.ladder.members import Loaded
from referee.ladder.runner import HouseBots, Loader, accept_plain, check_groups, profile_to_play
from referee.process.checkup import Probe
from referee.process.fact_names import OUR_PACKAGES
from referee.process.sandbox import Sandbox
from tests.referee.ladder.conftest import load
from tests.sentences import says

WORKS, BROKEN = Probe(True), Probe(False, "bwrap is not installed", "install bubblewrap")
PYTHON = "/usr/bin/python3"


def with_profile(config: LadderConfig, profile: Any) -> LadderConfig:
    return replace(config, sandbox=replace(config.sandbox, profile=profile))


def test_a_ladder_does_not_play_without_a_sandbox_unless_that_is_asked_for(config: LadderConfig) -> None:
    assert profile_to_play(config, WORKS) == "strict"
    with pytest.raises(
        PlatformError, check=says("plays bots of strangers, and the sandbox does not work here: bwrap .*--accept-plain")
    ):
        profile_to_play(config, BROKEN)
    assert profile_to_play(accept_plain(config, BROKEN), BROKEN) == "plain"
    assert profile_to_play(with_profile(config, "plain"), BROKEN) == "plain"
    assert profile_to_play(accept_plain(config, WORKS), WORKS) == "strict", "it is accepted, and not needed"
    with pytest.raises(PlatformError, match="not installed"):
        profile_to_play(accept_plain(with_profile(config, "strict"), BROKEN), BROKEN)


def test_machines_that_have_the_sandbox_use_it_where_the_runner_has_none(config: LadderConfig) -> None:
    assert profile_to_play(config, BROKEN, elsewhere=True) == "strict"
    assert profile_to_play(with_profile(config, "plain"), WORKS, elsewhere=True) == "plain"


def on_machine(profile: str = "strict", **facts: Any) -> Callable[[LadderBot], Loaded]:
    """Loads a bot on a machine with these facts."""

    def load_there(bot: LadderBot) -> Loaded:
        found = load(bot)
        setup = replace(found.setup, sandbox=Sandbox(profile))  # type: ignore[arg-type]
        return replace(found, setup=setup, machine={"profile": profile, **facts})

    return load_there


def take_up(world: Any, loads: Callable[[LadderBot], Loaded], *bots: LadderBot) -> list[str]:
    """The messages of a division when these bots play in it on that machine."""
    with world.division() as division:
        division.reconcile(bots, loads)
        return list(division._observer.notes)


def test_what_changes_on_the_machine_is_told_kept_and_shown_for_each_bot(make_ladder: Any, bot: Any) -> None:
    world = make_ladder()
    ann, bob = bot("ann"), bot("bob")
    before = on_machine(runtime="CPython 3.11", outside={PYTHON: "11"})
    assert take_up(world, before, ann) == []
    assert take_up(world, before, ann, bob) == []
    assert world.lines("machine") == []
    told = take_up(world, on_machine("plain", runtime="CPython 3.12", outside={PYTHON: "12"}), ann, bob)
    assert told[:3] == [
        "changed since it played last: 'ann': sandbox: strict -> plain",
        "changed since it played last: 'ann': runtime: CPython 3.11 -> CPython 3.12",
        f"changed since it played last: 'ann': {PYTHON}: 11 -> 12",
    ]
    assert len(told) == 6
    kept = world.run().machine_changes
    assert kept[0] == "changed while the run went on: 'ann': sandbox: strict -> plain"
    assert not any(PYTHON in sentence for sentence in kept), "pages are for everybody"
    assert list(facts_of(world.folder().path).warnings) == kept
    assert take_up(world, on_machine("plain", runtime="CPython 3.12", outside={PYTHON: "12"}), ann, bob) == []


def test_a_ladder_does_not_go_on_without_control_groups_that_it_had(make_ladder: Any, bot: Any) -> None:
    world, had = make_ladder(), ("memory", "pids")
    check_groups(world.config, ())
    take_up(world, on_machine(**{"control groups": "memory, pids"}), bot("ann"), bot("bob"))
    check_groups(world.config, (*had, "cpu"))
    with pytest.raises(PlatformError, check=says("control groups that do not work here: memory. .*--accept-plain")):
        check_groups(world.config, ["pids"])
    take_up(world, on_machine(**{"control groups": "none"}), bot("ann"))  # it was accepted; bob is not there any more
    check_groups(world.config, ())


def test_of_what_an_older_version_has_played_the_profile_is_known(make_ladder: Any, bot: Any) -> None:
    world = make_ladder()

    def older(bot: LadderBot) -> Loaded:
        return replace(on_machine()(bot), machine={})

    assert take_up(world, older, bot("ann")) == []
    told = take_up(world, on_machine("plain", runtime="CPython 3.12"), bot("ann"))
    assert told == ["changed since it played last: 'ann': sandbox: strict -> plain"]


def test_pages_show_the_last_changes_of_many(make_ladder: Any, bot: Any) -> None:
    world = make_ladder()
    for number in range(8):
        take_up(world, on_machine(runtime=f"CPython 3.{number}"), bot("ann"))
    warnings = facts_of(world.folder().path).warnings
    assert len(warnings) == 6
    assert "3.6 -> CPython 3.7" in warnings[4]
    assert warnings[5] == "2 earlier changes like these"


def test_the_loader_says_what_plays_with_a_bot(config: LadderConfig, tmp_path: Path) -> None:
    folder = tmp_path / "house"
    folder.mkdir()
    (folder / "bot.toml").write_text('name = "house"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "bot.py"]\n')
    (folder / "bot.py").write_text("")
    house = LadderBot("house", "", 1, folder=folder, house=True)
    loader = Loader(config, "strict", HouseBots(config), controllers=("memory", "pids"))
    machine = loader(house).machine
    assert (machine["profile"], machine["control groups"]) == ("strict", "memory, pids")
    assert OUR_PACKAGES in machine["outside"]
    assert Loader(config, "strict", HouseBots(config), elsewhere=True)(house).machine == {}
