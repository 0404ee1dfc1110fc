"""A ladder's file says what is played and by whom; whatever is wrong in it is reported with line, key and next step."""

from dataclasses import replace
from pathlib import Path

import pytest

from referee.errors import ConfigError
from referee.games.registry import game_ids
from referee.ladder.config import AccountsConfig, ProviderConfig, default_ladder, load_ladder
from referee.tournament.config import load_config

GOOD = """\
name = "class"
[[divisions]]
game = "toy"
[[bots]]
path = "bots/ann"
"""
REMOTE = '[remote]\nlisten = "127.0.0.1:7000"\n'


def test_without_a_file_every_game_is_a_division_and_the_shipped_bots_are_house_bots(tmp_path):
    shipped = Path(__file__).resolve().parents[3] / "bots" / "python"
    config = default_ladder(tmp_path / "ladder", shipped)
    assert [division.name for division in config.divisions] == game_ids()
    assert all(len(division.game.players) == 1 and division.shares_seeds for division in config.divisions)
    assert {bot.folder.name for bot in config.bots} == {"random", "walker", "greedy", "search"}
    assert all((bot.folder / "bot.toml").is_file() for bot in config.bots)
    assert (config.data, config.host) == (tmp_path / "ladder", "127.0.0.1")


def test_without_shipped_bots_the_default_ladder_has_no_house_bots(tmp_path):
    assert default_ladder(tmp_path, None).bots == ()


def test_a_short_file_gets_defaults(write_file):
    config = load_ladder(write_file(GOOD))
    (division,) = config.divisions
    assert (division.name, division.game.game, division.game.players) == ("toy", "toy", (2,))
    assert (config.host, config.port, config.matchmaking.placement_blocks) == ("127.0.0.1", 8000, 6)
    assert config.data == config.path.parent / "ladder"
    assert config.folder_of(division) == config.data / "divisions" / "toy"


def test_a_division_of_a_game_of_openspiel_has_a_name_that_can_be_a_folder(write_file):
    (division,) = load_ladder(write_file(GOOD.replace('"toy"', '"openspiel/tic_tac_toe"'))).divisions
    assert (division.name, division.game.game) == ("openspiel-tic_tac_toe", "openspiel/tic_tac_toe")


def test_everything_can_be_said(write_file):
    text = (
        'name = "class"\ndata = "kept"\nhost = "0.0.0.0"\nport = 80\nworkers = 3\nidle = 2\nfresh = true\n'
        "[matchmaking]\nseed = 7\nplacement_blocks = 4\nexploration = 0.5\nidle_below = 0.02\nalarm_min = 1\n"
        "[hand_ins]\narchive_mib = 1\nunpacked_mib = 2\nfiles = 3\nbuild_s = 4\n[storage]\npack_after_days = 2.5\n"
        "[clock]\nmove_s = 3\n[limits]\nmemory_mib = 64\n[faults]\nstrikes = 2\n[breaker]\nin_a_row = 5\n"
        '[sandbox]\nprofile = "plain"\n' + REMOTE + '[[divisions]]\ngame = "toy"\nname = "Toy for four"\n'
        'players = [2, 4]\nadmits = ["people", "remote"]\n'
        "[divisions.options]\nrounds = 6\n[divisions.clock]\nmove_s = 0.5\n"
        '[[divisions]]\ngame = "toy"\n[[bots]]\npath = "ann"\n'
    )
    config = load_ladder(write_file(text))
    four, two = config.divisions
    assert (config.data.name, config.host, config.port, config.workers) == ("kept", "0.0.0.0", 80, 3)
    assert (config.idle, config.fresh, config.sandbox.profile, config.breaker.in_a_row) == (2, True, "plain", 5)
    assert config.storage.pack_after_days == 2.5
    assert (config.faults.strikes, config.hand_ins.files, config.hand_ins.build_s) == (2, 3, 4)
    assert (config.matchmaking.seed, config.matchmaking.exploration, config.matchmaking.alarm_min) == (7, 0.5, 1)
    assert (four.name, four.game.players, four.game.options["rounds"]) == ("Toy for four", (2, 4), 6)
    assert (four.admits, four.shares_seeds, two.shares_seeds) == (("remote", "people"), False, True)
    assert (four.limits.move_s, two.limits.move_s, two.limits.memory_mib) == (0.5, 3, 64)


def test_sections_that_a_tournament_has_too_mean_the_same(write_file, write_bot):
    more = "[clock]\nmove_s = 2\n[limits]\nmatch_s = 9\n[faults]\nstrikes = 1\n[breaker]\nin_a_row = 4\n"
    write_bot("ann")
    ladder = load_ladder(write_file(GOOD + more))
    cup = load_config(write_file('game = "toy"\nseed = 1\nblocks = 1\n' + '[[bots]]\npath = "bots/ann"\n' * 2 + more))
    assert (ladder.limits, ladder.faults, ladder.breaker) == (cup.limits, cup.faults, cup.breaker)
    assert replace(ladder.bots[0], line=0) == replace(cup.bots[0], line=0)


@pytest.mark.parametrize(
    ("old", "new", "line", "words", "step"),
    [
        ('name = "class"', "name = ", 1, "not TOML", "correct this line"),
        ('name = "class"', 'name = "a/b"', 1, "'name' must be fit for a folder", "name ="),
        ('name = "class"', "nane = 1", 1, "unknown key 'nane'", "did you mean 'name'?"),
        ('name = "class"', "zzz = 1", 1, "unknown key 'zzz'", "the keys here are: name, data"),
        ('name = "class"', "move_s = 1", 1, "'move_s' belongs in [clock], or for one bot or one division", "move it"),
        ('name = "class"', "memory_mib = 64", 1, "'memory_mib' belongs in [limits], or for one bot", "move it"),
        ('name = "class"', "in_a_row = 3", 1, "'in_a_row' belongs in [breaker]", "move it"),
        ('name = "class"', "game = 'toy'", 1, "'game' is in the wrong place: 'game' belongs in [[divisions]]", "move"),
        ('name = "class"', "seed = 1", 1, "'seed' belongs in [matchmaking]", "move it"),
        ('name = "class"', "port = 70000", 1, "'port' must be an integer from 0 to 65535, not 70000", "port = 8000"),
        ('name = "class"', "host = 7", 1, "'host' must be a text, not 7", 'host = "127.0.0.1"'),
        ('name = "class"', 'host = ""', 1, "'host' is empty", 'host = "127.0.0.1"'),
        ('name = "class"', "workers = 0", 1, "'workers' must be an integer from 1", "workers = 2"),
        ('name = "class"', 'data = "a\\u0000"', 1, "'data' has a zero byte", "remove it"),
        ("[[bots]]", "[matchmaking]\nexplore = 1\n[[bots]]", 5, "unknown key 'matchmaking.explore'", "'exploration'?"),
        ("[[bots]]", "[matchmaking]\nexploration = 2\n[[bots]]", 5, "must be a number from 0 to 1, not 2", "0.05"),
        ("[[bots]]", "[matchmaking]\nidle_below = true\n[[bots]]", 5, "must be a number from 0 to 1, not true", "0.01"),
        ("[[bots]]", "[matchmaking]\nplacement_blocks = 0\n[[bots]]", 5, "must be an integer from 1 to 1000", "= 6"),
        ("[[bots]]", "[matchmaking]\nseed = 1.5\n[[bots]]", 5, "'matchmaking.seed' must be an integer", "seed = 1"),
        ("[[bots]]", "[hand_ins]\nfiles = 0\n[[bots]]", 5, "'hand_ins.files' must be an integer", "files = 10000"),
        ("[[bots]]", "[hand_ins]\nmib = 0\n[[bots]]", 5, "unknown key 'hand_ins.mib'", "the keys here are: archive"),
        ("[[bots]]", "[hand_ins]\nbuild_s = 0\n[[bots]]", 5, "'hand_ins.build_s' must be a number from 1", "= 600"),
        ("[[bots]]", "[clock]\nmove_s = -1\n[[bots]]", 5, "'clock.move_s' must be at least 0.001, not -1", "move_s"),
        ('[[divisions]]\ngame = "toy"', "divisions = 3", 2, "'divisions' must be a list of tables, not 3", "[[div"),
        ('[[divisions]]\ngame = "toy"', "divisions = []", 2, "'divisions' must be a list of tables, not []", "[[div"),
        ('"toy"', '"tpy"', 3, "unknown game 'tpy'", "did you mean 'toy'?"),
        ('game = "toy"', "", 2, "the key 'divisions[1].game' is missing", 'game = "shibuya"'),
        ('"toy"', '"toy"\nplayers = 9', 4, "toy is not played by 9", "2, 3, 4"),
        ('"toy"', '"toy"\noptions = { round = 1 }', 4, "toy has no option 'round'", "did you mean 'rounds'?"),
        ('"toy"', '"toy"\nclock = { mov_s = 1 }', 4, "unknown key 'divisions[1].clock.mov_s'", "'move_s'?"),
        ('"toy"', '"toy"\nclock = { move_s = -1 }', 4, "clock.move_s' must be at least 0.001, not -1", "move_s"),
        ('"toy"', '"toy"\nname = ".."', 4, "'divisions[1].name' must be fit for a folder", "name ="),
        (
            '"toy"',
            '"toy"\n[[divisions]]\ngame = "toy"',
            4,
            "the divisions 'toy' and 'toy' are, or look, the",
            "another",
        ),
        ('"toy"', '"toy"\nname = "a"\n[[divisions]]\ngame = "toy"\nname = "A"', 7, "'a' and 'A' are, or look", "other"),
        ('"toy"', '"toy"\nadmits = "remote"', 4, "must be a list of remote, network, people", 'admits = ["remote"]'),
        ('"toy"', '"toy"\nadmits = ["remote"]', 4, "does not say where they connect", "add [remote]"),
        ('"toy"', '"toy"\nzzz = 3', 4, "unknown key 'divisions[1].zzz'", "the keys here are: name, game"),
        ('path = "bots/ann"', "", 4, "the key 'bots[1].path' is missing", "path ="),
        (
            'path = "bots/ann"',
            'name = "Ada"\nremote = true\ntoken_env = "ADA"\n' + REMOTE,
            6,
            "'bots[1]' is remote, and house bots are started here",
            "remove it",
        ),
        (
            'game = "toy"',
            'game = "toy"\nadmits = ["remote"]\n' + REMOTE + "[faults]\nponder = false",
            8,
            "'faults.ponder' is in the wrong place",
            "move it",
        ),
    ],
)
def test_whatever_is_wrong_is_reported_with_its_line_and_a_next_step(write_file, old, new, line, words, step):
    path = write_file(GOOD.replace(old, new, 1))
    with pytest.raises(ConfigError) as caught:
        load_ladder(path)
    text = str(caught.value)
    assert text.startswith(f"{path}:{line}: "), text
    assert words in text
    assert step in caught.value.next_step, caught.value.next_step


def test_remote_bots_cannot_be_stopped_between_their_moves(write_file):
    text = "ponder = false\n" + GOOD.replace('"toy"', '"toy"\nadmits = ["remote"]') + REMOTE
    with pytest.raises(ConfigError, match="a remote bot cannot be stopped"):
        load_ladder(write_file(text))


def test_a_file_that_is_not_there_is_named_as_a_ladder_file(tmp_path):
    with pytest.raises(ConfigError, match="no such file") as caught:
        load_ladder(tmp_path / "LADDER.toml")
    assert caught.value.next_step == "check the path, or write a ladder file there"
    with pytest.raises(ConfigError, match="is a folder") as caught:
        load_ladder(tmp_path)
    assert caught.value.next_step == "name a ladder file"


# [accounts]


def load(folder, text):
    """A ladder's file in this folder with these lines."""
    path = folder / "ladder.toml"
    path.write_text(f'{text}[[divisions]]\ngame = "toy"\n', encoding="utf-8")
    return load_ladder(path)


def test_without_accounts_in_the_file_sign_up_is_by_invitation(tmp_path):
    assert load(tmp_path, "").accounts == AccountsConfig("invitation", 3, 50, ())


def test_accounts_and_providers_are_read_with_secrets_from_files_of_their_own(tmp_path):
    for name in ("school", "hub"):
        (tmp_path / name).write_text(f"secret of {name}\n")
        (tmp_path / name).chmod(0o600)
    found = load(
        tmp_path,
        '[accounts]\nsign_up = "open"\nbots_per_division = 2\nhand_ins_per_day = 5\n'
        '[[accounts.providers]]\nid = "school"\ntitle = "School"\nkind = "oidc"\n'
        'server = "https://gitlab.school.example"\nclient_id = "c1"\nsecret_file = "school"\n'
        '[[accounts.providers]]\nid = "hub"\nkind = "github"\nclient_id = "c2"\nsecret_file = "hub"\n',
    ).accounts
    assert (found.sign_up, found.bots_per_division, found.hand_ins_per_day) == ("open", 2, 5)
    assert found.providers == (
        ProviderConfig("school", "School", "oidc", "https://gitlab.school.example", "c1", "secret of school"),
        ProviderConfig("hub", "hub", "github", "https://github.com", "c2", "secret of hub", "https://api.github.com"),
    )
    assert "secret of" not in repr(found)


PROVIDER = '[[accounts.providers]]\nid = "a"\nkind = "oidc"\nserver = "https://x.example"\nclient_id = "c"\n'


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[accounts]\nsign_up = "all"\n', "'accounts.sign_up' must be one of invitation, open, closed"),
        ("[accounts]\nbots_per_division = 0\n", "'accounts.bots_per_division' must be an integer from 1"),
        ('[accounts]\nproviders = "x"\n', "'accounts.providers' must be a list of tables"),
        (PROVIDER, "the key 'accounts.providers[1].secret_file' is missing"),
        (f'{PROVIDER}secret_file = "none"\n', "cannot be read"),
        (f'{PROVIDER}secret_file = "{"x" * 3000}"\n', "x, cannot be read (File name too long)"),
        (f'{PROVIDER}secret_file = "open"\n', "can be read by others"),
        (f'{PROVIDER}secret_file = "empty"\n', "has 0 characters"),
        (PROVIDER.replace("https:", "http:") + 'secret_file = "good"\n', "must begin with https://"),
        (PROVIDER.replace('"a"', '"A/b"') + 'secret_file = "good"\n', "must be 1 to 40 of a-z, 0-9 and -"),
        (PROVIDER.replace("oidc", "saml") + 'secret_file = "good"\n', 'must be "oidc" or "github"'),
        (f'{PROVIDER}secret_file = "good"\napi = "https://x.example"\n', "is for kind = \"github\" alone"),
        (f'{PROVIDER}secret_file = "good"\n' * 2, "two providers have the id"),
        (f'{PROVIDER}secret = "x"\n', "secret"),
    ],
)  # fmt: skip
def test_a_mistake_in_accounts_names_the_value(tmp_path, text, what):
    for name, content, mode in (("open", "x", 0o644), ("empty", "\n", 0o600), ("good", "x", 0o600)):
        (tmp_path / name).write_text(content)
        (tmp_path / name).chmod(mode)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert what in str(caught.value)
    assert len(str(caught.value)) < 800
    assert caught.value.next_step


def test_a_ladder_refuses_void_matches_after_provider_errors(write_file):
    with pytest.raises(ConfigError, match=r"'faults\.provider_errors' must be loss in a ladder") as caught:
        load_ladder(write_file(GOOD.replace("[[divisions]]", '[faults]\nprovider_errors = "void"\n[[divisions]]', 1)))
    assert caught.value.line == 3
    assert caught.value.next_step == "leave provider_errors out"
    plain = GOOD.replace("[[divisions]]", '[faults]\nprovider_errors = "loss"\n[[divisions]]', 1)
    assert load_ladder(write_file(plain)).faults.provider_errors == "loss"
