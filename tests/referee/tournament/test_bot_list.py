"""A tournament file names many bots at once: by a pattern, by a list of entries, with defaults; bad ones may be left
out."""

import os
import random
import shutil
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import ConfigError
from referee.run.journal import BOT_DEFAULTS
from referee.run.participants import Participant, newest_participants
from referee.run.run import Run
from referee.tournament.bot_list import fits_pattern
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import describe
from referee.tournament.joining import load_joining, with_added

HEAD = 'game = "toy"\nseed = 1\nblocks = 1\n'
CLASS = '[[bots]]\npath = "bots/*"\n'
SKIP = 'on_bad_entry = "skip"\n'
OPTION = "[options]\ndepth = 3\n"


@pytest.fixture
def names(write_bot):
    for name in ("cyd", "ann", "bob"):
        write_bot(name)


def refused(path):
    with pytest.raises(ConfigError) as caught:
        load_tournament(path)
    return str(caught.value), caught.value.next_step


@pytest.mark.parametrize("line", ['entries = "odd"', 'data = "odd"', 'format = "swiss"\n[swiss]\nseeding = "odd"'])
def test_a_pipe_or_a_device_is_not_read_for_a_list_data_or_ratings(write_file, names, tmp_path, line):
    """Who reads them waits for ever, or until memory is full."""
    for make in (lambda path: os.mkfifo(path), lambda path: path.symlink_to("/dev/zero")):
        make(tmp_path / "odd")
        what, _ = refused(write_file(f"{HEAD}{line}\n{CLASS}"))
        assert "cannot be read (it is not an ordinary file)" in what
        (tmp_path / "odd").unlink()


def test_a_pipe_a_device_or_too_large_a_file_is_not_read_as_a_tournament_file(tmp_path):
    odd = tmp_path / "cup.toml"
    for make in (lambda path: os.mkfifo(path), lambda path: path.symlink_to("/dev/zero")):
        make(odd)
        assert "cup.toml: cannot be read (it is not an ordinary file)" in refused(odd)[0]
        odd.unlink()
    odd.touch()
    os.truncate(odd, 17 << 20)
    assert "cup.toml: cannot be read (it has more than 16 MiB)" in refused(odd)[0]


def test_a_pattern_stands_for_each_folder_in_order_of_names(write_file, names, tmp_path):
    (tmp_path / "bots" / "notes.txt").write_text("no bot")
    (tmp_path / "bots" / ".git").mkdir()
    tournament = load_tournament(write_file(HEAD + CLASS + "clock = { move_s = 2 }\n"))
    assert [entry.name for entry in tournament.entries] == ["ann", "bob", "cyd"]
    assert [bot.clock for bot in tournament.bots] == [{"move_s": 2}] * 3


def test_a_folder_that_has_a_table_of_its_own_is_not_found_by_a_pattern_again(write_file, names):
    own = '[[bots]]\npath = "bots/bob"\nname = "Bob"\n'
    for text in (HEAD + own + CLASS, HEAD + CLASS + own):
        found = sorted(entry.name for entry in load_tournament(write_file(text)).entries)
        assert found == ["Bob", "ann", "cyd"]


def test_a_folder_whose_name_looks_like_a_pattern_is_that_folder(write_file, write_bot, names):
    write_bot("[b]")
    text = HEAD + '[[bots]]\npath = "bots/[b]"\n[[bots]]\npath = "bots/a?n"\n'
    assert [entry.folder.name for entry in load_tournament(write_file(text)).entries] == ["[b]", "ann"]


def test_marks_in_the_names_of_folders_that_are_there_make_no_pattern(write_bot, tmp_path):
    for name in ("x1", "x2"):
        write_bot(name)
    here = tmp_path / "cup [2026] *"
    here.mkdir()
    (tmp_path / "bots").rename(here / "class [a]")
    file = here / "cup.toml"
    for path in ("class [a]/*", f"{here}/class [a]/x?"):
        file.write_text(f'{HEAD}[[bots]]\npath = "{path}"\n')
        tournament = load_tournament(file)
        assert [entry.name for entry in tournament.entries] == ["x1", "x2"]
        assert fits_pattern(here / "class [a]", ("x*",), here / "class [a]" / "x9")
        assert not fits_pattern(here / "class [a]", ("x*",), here / "class a" / "x9")


@pytest.mark.parametrize("left", [0, 1])
def test_a_run_goes_on_when_the_folders_that_its_pattern_found_are_gone(
    write_file, names, play, run_folder, tmp_path, left
):
    """Each bot plays on from the store."""
    path = write_file(HEAD + CLASS)
    begun = load_tournament(path)

    def order(spec):
        if spec.place == 1:
            raise KeyboardInterrupt
        return 0

    with pytest.raises(KeyboardInterrupt):
        play(begun, order=order)
    known = newest_participants(run_folder.path.parent, "cup")
    for name in ("ann", "bob", "cyd")[left:]:
        shutil.rmtree(tmp_path / "bots" / name)
    again = load_tournament(path, known)
    assert describe(again) == describe(begun)
    assert again.left_out == ()
    assert play(again).summary.complete
    assert left or "no folder fits the pattern" in refused(path)[0]


def test_a_folder_with_marks_in_its_name_is_still_that_bot_when_it_is_gone(write_file, write_bot, names, tmp_path):
    write_bot("[b]")
    path = write_file(HEAD + '[[bots]]\npath = "bots/[b]"\n[[bots]]\npath = "bots/a?n"\n')
    begun = load_tournament(path)
    known = [
        Participant(bot.id, bot.name, "1", dict(bot.options), folder=str(bot.folder), content=bot.content)
        for bot in begun.entries
    ]
    shutil.rmtree(tmp_path / "bots" / "[b]")
    assert describe(load_tournament(path, known)) == describe(begun)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('[[bots]]\npath = "pupils/*"\n', "no folder fits the pattern 'pupils/*'"),
        ('[[bots]]\npath = "bots/**"\n', "has '**' in it"),
        (CLASS + 'name = "x"\n', "is one name"),
        ('on_bad_entry = "drop"\n' + CLASS, "'on_bad_entry' must be refuse or skip"),
        (CLASS + "[bot_defaults]\npath = 'x'\n", "'path' belongs in [[bots]]"),
        (CLASS + "[bot_defaults]\nclock = { move_s = -1 }\n", "'bot_defaults.clock.move_s'"),
        (CLASS + "[bot_defaults]\nread = ['/nowhere']\n", "/nowhere does not exist"),
        ('entries = "none.csv"\n' + CLASS, "cannot be read"),
    ],
)
def test_what_is_wrong_with_the_file_itself_is_refused_in_any_case(write_file, names, text, what):
    for more in ("", SKIP if "on_bad" not in text else ""):
        assert what in refused(write_file(HEAD + more + text))[0]


def test_defaults_hold_for_every_bot_that_does_not_say_otherwise(write_file, write_bot, tmp_path):
    for name in ("ann", "bob", "cyd"):
        write_bot(name, options=OPTION)
    (tmp_path / "more.csv").write_text("path,clock.move_s,options.depth\nbots/cyd,4,9\n")
    text = (
        'entries = "more.csv"\n[bot_defaults]\noptions = { depth = 5 }\nclock = { move_s = 2, first_move_s = 6 }\n'
        'fresh = true\n[[bots]]\npath = "bots/ann"\n[[bots]]\npath = "bots/bob"\n'
        "clock = { move_s = 3 }\nfresh = false\n"
    )
    tournament = load_tournament(write_file(HEAD + text))
    assert [entry.options["depth"] for entry in tournament.entries] == [5, 5, 9]
    assert [bot.clock["move_s"] for bot in tournament.bots] == [2, 3, 4]
    assert [bot.clock["first_move_s"] for bot in tournament.bots] == [6, 6, 6]
    assert [bot.fresh for bot in tournament.bots] == [True, False, True]


@pytest.mark.parametrize("comma", [",", ";"])
def test_a_list_of_entries_has_a_row_for_each_bot(write_file, write_bot, tmp_path, comma):
    for name in ("ann", "bob"):
        write_bot(name, options='[options]\ndepth = 3\nstyle = "calm"\n')
    rows = [
        ["path", "name", "options.depth", "options.style", "limits.memory_mib"],
        ["../bots/ann", "2", "5", '"""7"""', ""],
        ["", "", "", "", ""],
        ["../bots/bob", "", "", "bold", "100"],
    ]
    (tmp_path / "lists").mkdir()
    text = "\r\n".join(comma.join(row) for row in rows)
    (tmp_path / "lists" / "class.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    tournament = load_tournament(write_file(HEAD + 'entries = "lists/class.csv"\n'))
    assert [(entry.name, dict(entry.options)) for entry in tournament.entries] == [
        ("2", {"depth": 5, "style": "7"}),
        ("bob", {"depth": 3, "style": "bold"}),
    ]
    assert tournament.bots[1].clock == {"memory_mib": 100}


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("path\nbots/ann\nbots/none\n", "class.csv:3: bot: "),
        ("name\nx\n", "class.csv:2: the key 'path' is missing"),
        ("path,clock.move_s\nbots/ann,fast\n", "class.csv:2: 'clock.move_s'"),
        ("path,options.deph\nbots/ann,3\n", "class.csv:2: bot: bot 'ann': it has no option 'deph'"),
        ("path\n\0\n", "class.csv:2: 'path' has a zero byte in it"),
        ("path\nbots/ann,3\n", "class.csv:2: the row has 2 cells"),
        ('path,name,version\n"bots/ann","a\nb",1\n', "class.csv:2: "),
        ("path,read\nbots/ann,/nowhere\n", "class.csv:2: 'read': /nowhere does not exist"),
        ("path\nbots/ann\nbots/ann\n", "class.csv:3: two bots are named 'ann'"),
        ("path,remote,name,token_env\n,true,x,X\n", "class.csv:2: a bot has remote = true"),
    ],
)
def test_a_bad_row_is_told_with_its_line_or_left_out(write_file, write_bot, tmp_path, rows, what):
    for name in ("ann", "bob", "cyd"):
        write_bot(name, options=OPTION)
    (tmp_path / "class.csv").write_text(rows)
    others = 'entries = "class.csv"\n[[bots]]\npath = "bots/bob"\n[[bots]]\npath = "bots/cyd"\n'
    assert what in refused(write_file(HEAD + others))[0]
    tournament = load_tournament(write_file(HEAD + SKIP + others))
    assert {"bob", "cyd"} <= {entry.name for entry in tournament.entries} <= {"ann", "bob", "cyd"}
    assert len(tournament.left_out) == 1
    assert what.split(": ", 1)[1].removeprefix("bot: ") in tournament.left_out[0].why


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("path,depth\nbots/ann,3\n", "class.csv:1: unknown column 'depth'"),
        ("path,path\nbots/ann,x\n", "class.csv:1: the column 'path' is there twice"),
        ("", "the list of entries is empty"),
        ("\npath,name\n", "class.csv:2: the list of entries has columns and no rows"),
        ('path,name\nbots/ann,x\n"bots/bob,y\nbots/cyd,z\n', "class.csv:3: not CSV: a quote in this row has no end"),
    ],
)
def test_a_list_without_proper_columns_is_refused_in_any_case(write_file, names, tmp_path, rows, what):
    (tmp_path / "class.csv").write_text(rows)
    for more in ("", SKIP):
        assert what in refused(write_file(HEAD + more + 'entries = "class.csv"\n' + CLASS))[0]


def test_bad_entries_are_left_out_with_their_reasons_and_the_others_play(write_file, write_bot, names, tmp_path):
    (tmp_path / "bots" / "empty").mkdir()
    (tmp_path / "bots" / "broken").mkdir()
    (tmp_path / "bots" / "broken" / "bot.toml").write_text("not TOML")
    write_bot("chess", games="manhattan_traffiq")
    write_bot("twin", name="ann")
    path = write_file(HEAD + SKIP + CLASS)
    tournament = load_tournament(path)
    assert [entry.name for entry in tournament.entries] == ["ann", "bob", "cyd"]
    assert [one.entry.rpartition("/")[2] for one in tournament.left_out] == ["broken", "chess", "empty", "twin"]
    why = " ".join(one.why for one in tournament.left_out)
    assert all(part in why for part in ("not TOML", "plays manhattan_traffiq", "no such file", "two bots are named"))
    what, step = refused(write_file(HEAD + CLASS))
    assert "broken" in what
    assert 'on_bad_entry = "skip"' in step


def test_too_few_good_entries_are_refused_with_the_first_reason(write_file, write_bot, tmp_path):
    write_bot("ann")
    (tmp_path / "bots" / "empty").mkdir()
    what, step = refused(write_file(HEAD + SKIP + CLASS))
    assert "needs 2 bots, the file has 1 that can play" in what
    assert "bots/empty" in what
    assert "1 bot" in step


@given(seed=st.integers(0, 10_000))
def test_whatever_becomes_of_the_folders_a_run_has_the_bots_with_which_it_began(tmp_path_factory, seed):
    """Good entries are spoilt or removed, bad ones mended, and new ones come."""
    chance = random.Random(seed)
    place = tmp_path_factory.mktemp("class")
    file = place / "cup.toml"
    file.write_text(HEAD + SKIP + CLASS)

    def put(name: str, *, good: bool) -> None:
        folder = place / "bots" / name
        folder.mkdir(parents=True, exist_ok=True)
        text = f'name = "{name}"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "bot.py"]\n'
        (folder / "bot.toml").write_text(text if good else "?")
        (folder / "bot.py").write_text("pass\n")

    fields = [f"b{number}" for number in range(6)]
    for name in fields:
        put(name, good=name < "b2" or chance.random() < 0.5)
    begun = load_tournament(file)
    known = [
        Participant(bot.id, bot.name, "1", dict(bot.options), folder=str(bot.folder), content=bot.content)
        for bot in begun.entries
    ]
    for name in fields:
        match chance.randrange(4):
            case 0:
                put(name, good=True)
            case 1:
                put(name, good=False)
            case 2:
                shutil.rmtree(place / "bots" / name)
    put(f"a{seed}", good=True)
    put(f"z{seed}", good=True)
    assert describe(load_tournament(file, known)) == describe(begun)


def test_a_run_keeps_what_it_left_out_and_goes_on_without_it_when_it_is_mended(
    write_file, write_bot, names, play, run_folder, tmp_path
):
    write_bot("eve", games="manhattan_traffiq")
    path = write_file(HEAD + SKIP + CLASS)
    begun = load_tournament(path)
    play(begun)
    assert [one["entry"] for one in Run(run_folder).left_out] == [str(tmp_path / "bots" / "eve")]
    write_bot("eve")
    again = load_tournament(path, newest_participants(run_folder.path.parent, "cup"))
    assert describe(again) == describe(begun)
    assert "crosstown add RUN" in again.left_out[0].next_step
    summary = play(again).summary
    assert (summary.played, summary.complete) == (0, True)


def test_a_bot_that_was_added_is_not_told_to_be_left_out(write_file, write_bot, names, play, run_folder, tmp_path):
    write_bot("eve", games="manhattan_traffiq")
    path = write_file(HEAD + SKIP + CLASS)
    play(load_tournament(path))
    folder = write_bot("eve")
    run = Run(run_folder)
    run.add(load_joining(run.journal, folder, None), by="ann")
    assert not load_tournament(path, newest_participants(run_folder.path.parent, "cup")).left_out


def test_a_bot_that_joins_has_the_defaults_of_the_file_where_it_does_not_say_otherwise(
    write_file, write_bot, play, run_folder, tmp_path
):
    for name in ("ann", "bob", "late"):
        write_bot(name, options=OPTION if name != "late" else "[options]\ndepth = 3\nwidth = 1\n")
    (tmp_path / "model.bin").write_text("weights")
    text = (
        "[bot_defaults]\noptions = { depth = 5 }\nclock = { move_s = 2, first_move_s = 6 }\nfresh = true\ncopies = 2\n"
        'limits = { memory_mib = 512 }\nread = ["model.bin"]\nnetwork = true\n'
        '[[bots]]\npath = "bots/ann"\n[[bots]]\npath = "bots/bob"\n'
    )
    path = write_file(HEAD + text)
    file_text = path.read_text()
    play(load_tournament(path))
    run = Run(run_folder)
    run.add(load_joining(run.journal, tmp_path / "bots/late", None), by="ann")
    more = {"options": {"width": 7}, "clock": {"move_s": 3}, "fresh": False, "network": False}
    run = Run(run_folder)
    run.add(load_joining(run.journal, tmp_path / "bots/late", "own", more), by="ann")
    again = with_added(
        load_tournament(path, newest_participants(run_folder.path.parent, "cup")), Run(run_folder).journal
    )
    ann, _, late, own = again.bots
    for one in (late, own):
        assert (one.copies, one.sandbox.read) == (2, (str(tmp_path / "model.bin"),))
    assert (late.clock, late.fresh, late.sandbox, late.copies) == (ann.clock, ann.fresh, ann.sandbox, ann.copies)
    assert own.clock == {"move_s": 3, "first_move_s": 6, "memory_mib": 512}
    assert (own.fresh, own.sandbox.network) == (False, False)
    assert [dict(entry.options) for entry in again.entries[2:]] == [{"depth": 5, "width": 1}, {"depth": 5, "width": 7}]
    path.unlink()
    kept = load_joining(run.journal, tmp_path / "bots/late", "more")
    assert kept.fields["clock"] == dict(late.clock)
    older = dict(run.journal.created.fields)
    del older[BOT_DEFAULTS]
    text = replace(run.journal, events=(replace(run.journal.created, fields=older), *run.journal.events[1:]))
    assert "clock" not in load_joining(text, tmp_path / "bots/late", "more", None, path).fields
    path.write_text(file_text)
    assert load_joining(text, tmp_path / "bots/late", "more", None, path).fields["clock"] == dict(late.clock)


def test_defaults_that_come_into_the_file_after_the_run_began_hold_for_no_bot(
    write_file, write_bot, play, run_folder, tmp_path
):
    for name in ("ann", "bob", "late"):
        write_bot(name)
    path = write_file(HEAD + '[[bots]]\npath = "bots/ann"\n[[bots]]\npath = "bots/bob"\n')
    play(load_tournament(path))
    path.write_text(path.read_text() + "[bot_defaults]\nclock = { move_s = 2, first_move_s = 6 }\n")
    joined = load_joining(Run(run_folder).journal, tmp_path / "bots/late", None, None, path)
    assert "clock" not in joined.fields
