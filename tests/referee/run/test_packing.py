"""What of a run may be packed, besides what `crosstown pack` does of it."""

import gzip
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

from referee.record.journal import digest_of
from referee.run.folder import RunFolder
from referee.run.packing import pack_records

LATER = datetime.now(UTC) + timedelta(days=1)


def test_a_record_with_another_digest_than_the_journal_has_is_kept_and_one_without_a_digest_left(
    tmp_path: Path,
) -> None:
    folder = RunFolder(tmp_path)
    folder.make()
    for name in ("m000001", "m000002", "m000003", "m000004"):
        (folder.matches / f"{name}.jsonl.gz").write_bytes(gzip.compress(name.encode()))
    cut = folder.matches / "m000004.jsonl.gz"
    cut.write_bytes(cut.read_bytes()[:-1])
    digests = {name: digest_of(name.encode()) for name in ("m000001", "m000004")} | {"m000002": digest_of(b"other")}
    packing = pack_records(folder, ["m000001", "m000002", "m000003", "m000004", "m000005"], digests, LATER)
    assert (packing.records, packing.archives, packing.kept) == (1, 1, ("m000002", "m000004"))
    assert folder.records.packed() == {"m000001"}
    assert len(folder.records.paths()) == 4


def test_only_records_that_were_closed_before_the_time_are_packed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.make()
    digests = {}
    for number in range(4):
        path = folder.matches / f"m{number:06d}.jsonl.gz"
        path.write_bytes(gzip.compress(b"x"))
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        digests[f"m{number:06d}"] = digest_of(b"x")
    pack_records(folder, digests, digests, datetime.fromtimestamp(1_700_000_002, UTC))
    assert folder.records.packed() == {"m000000", "m000001"}
