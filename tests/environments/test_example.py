"""The worked example learns, and its bot plays."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from crosstown_env.table import Setup

from referee.games.registry import get_game

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def training() -> Iterator[ModuleType]:
    """The program as a module, with what it imports from the bot's folder."""
    before, known = list(sys.path), set(sys.modules)
    spec = importlib.util.spec_from_file_location("train_shibuya", EXAMPLES / "train_shibuya.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = before
    for name in {"net", "train_shibuya"} - known:
        del sys.modules[name]


def test_the_network_learns_what_positions_turned_out_to_be_worth(training: ModuleType) -> None:
    setup, eyes = Setup("shibuya", 2, None, "rank"), training.Eyes()
    net = training.Net.new(eyes.size, 8, seed=1)
    games = training.play(setup, net, eyes, [["greedy", "greedy"], ["net", "greedy"]], 1, explore=True)
    assert all(game.table.over for game in games)
    learner = training.Learner(net, seed=1)
    training.remember(games, net, eyes, learner)
    first = learner.learn(10, 1e-3)
    learner.learn(100, 1e-3)
    assert learner.learn(10, 1e-3) < 0.75 * first


def test_weights_are_the_same_after_they_were_stored(training: ModuleType, tmp_path: Path) -> None:
    eyes = training.Eyes()
    net = training.Net.new(eyes.size, 8, seed=2)
    net.save(tmp_path / "weights.npz")
    again = training.Net.load(tmp_path / "weights.npz")
    assert {name: part.shape for name, part in net.weights.items()} == {
        name: part.shape for name, part in again.weights.items()
    }
    assert all(np.allclose(part, again.weights[name], atol=1e-2) for name, part in net.weights.items())


def test_weights_are_stored_under_the_name_that_is_given(training: ModuleType, tmp_path: Path) -> None:
    """numpy adds .npz, and the program then looked for a file that was not there."""
    training.Net.new(training.Eyes().size, 8, seed=2).save(tmp_path / "mine")
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
    training.Net.load(tmp_path / "mine")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--minutes", "0"), "--minutes must be a number above 0"),
        (("--minutes", "nan"), "--minutes must be a number above 0"),
        (("--seed", "-1"), "--seed must be at least 0"),
        (("--out", "nowhere/weights.npz"), "--out nowhere/weights.npz: name a file in a folder that is there"),
        (("--out", "."), "--out .: name a file in a folder that is there"),
    ],
)
def test_wrong_options_are_refused_before_the_weights_are_replaced(
    training: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["train_shibuya.py", *words])
    with pytest.raises(SystemExit) as ended:
        training.main()
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def test_a_won_position_is_worth_more_than_any_other(training: ModuleType) -> None:
    setup, eyes = Setup("shibuya", 2, None, "rank"), training.Eyes()
    (game,) = training.play(setup, training.Net.new(eyes.size, 8, 3), eyes, [["greedy", "greedy"]], 5, explore=False)
    state = game.table.state
    assert state.ranking() in ((1, 2), (2, 1))
    worths = training.worth_of(training.Net.new(eyes.size, 8, 3), eyes, [(state, 0), (state, 1)])
    assert sorted(worths) == [-2, 2]


def test_the_shipped_weights_fit_the_arrays(training: ModuleType) -> None:
    """A new version of the arrays needs another training."""
    net, eyes = training.Net.load(EXAMPLES / "shibuya_net" / "weights.npz"), training.Eyes()
    assert net.weights["first"].shape[0] == eyes.size
    game = get_game("shibuya")
    setup = Setup("shibuya", 2, None, "rank")
    (played,) = training.play(setup, net, eyes, [["net", "net"]], 4, explore=False)
    seen = game.codec.decode_observation(game.codec.encode_observation(played.left[0][5].observation(0)))
    state = game.from_observation(seen, (), setup.options, played.rng)
    assert np.isfinite(training.worth_of(net, eyes, [(state, 0)])).all()
