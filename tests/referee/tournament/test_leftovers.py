"""What a worker leaves that is killed while it closes a record."""

from referee.run.records import clear_leftovers


def test_a_live_record_that_its_whole_copy_has_replaced_is_removed(run_folder):
    run_folder.matches.mkdir(parents=True, exist_ok=True)
    live, closed = run_folder.matches / "m1.jsonl", run_folder.matches / "m1.jsonl.gz"
    live.write_text("{}\n")
    clear_leftovers(run_folder, "m1")
    assert live.exists()
    closed.write_bytes(b"whole")
    other = run_folder.matches / "m2.jsonl"
    other.write_text("{}\n")
    part = run_folder.matches / ".m1.123.tmp"
    part.write_bytes(b"part")
    clear_leftovers(run_folder, "m1")
    assert sorted(path.name for path in run_folder.matches.iterdir()) == ["m1.jsonl.gz", "m2.jsonl"]
