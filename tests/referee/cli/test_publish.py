"""`crosstown publish`."""

import json


def test_a_run_becomes_a_folder_with_an_index(make_run, crosstown, tmp_path):
    make_run(played=4)
    said = crosstown("publish", "runs/cup", "site", "--json", "--jobs", "2")
    assert said.code == 0, said.err
    made = json.loads(said.out)
    assert (made["replays"], made["kept"], made["index"]) == (4, 0, "site/index.html")
    assert (tmp_path / "site" / "index.html").is_file()
    said = crosstown("publish", "runs", "site")
    assert "4 replays (4 as before)" in said.out


def test_a_run_that_is_not_there_is_a_mistake_in_use(crosstown):
    said = crosstown("publish", "nowhere", "site")
    assert said.code == 2
    assert "nowhere is not a folder" in said.err


def test_a_folder_without_runs_is_a_mistake_in_use(crosstown, tmp_path):
    (tmp_path / "empty").mkdir()
    said = crosstown("publish", "empty", "site")
    assert said.code == 2
    assert "empty has no run with records" in said.err
    assert not (tmp_path / "site").exists()
