"""`crosstown certificate`: the certificate of a remote run, before anything waits."""

import json
from pathlib import Path

from referee.tournament.entrants import load_tournament
from referee.tournament.remote import invite_all

REMOTE = """game = "toy"
seed = 1
blocks = 1
[remote]
listen = "127.0.0.1:7000"
[[bots]]
remote = true
name = "Ada"
token_env = "ADA_TOKEN"
[[bots]]
remote = true
name = "Bob"
token_env = "BOB_TOKEN"
"""


def test_the_certificate_that_is_made_beforehand_is_the_runs(crosstown, tmp_path, monkeypatch):
    (tmp_path / "cup.toml").write_text(REMOTE)
    printed = crosstown("certificate", "cup.toml")
    assert printed.code == 0, printed.err
    made = Path(printed.out.splitlines()[0].removeprefix("certificate: "))
    assert made == tmp_path / "runs" / "cup" / "tls" / "certificate.pem"
    assert "BEGIN CERTIFICATE" in made.read_text()
    assert "CROSSTOWN_ADDRESS=" in printed.out
    before = made.read_bytes()
    for name in ("ADA_TOKEN", "BOB_TOKEN"):
        monkeypatch.setenv(name, f"{name}-0123456789")
    guests = invite_all(load_tournament(tmp_path / "cup.toml"), tmp_path / "runs" / "cup" / "tls")
    assert guests is not None
    assert guests.listen.certificate == made
    assert json.loads(crosstown("certificate", "cup.toml", "--json").out)["certificate"] == str(made)
    assert made.read_bytes() == before


def test_a_certificate_that_the_file_names_is_the_one(crosstown, tmp_path):
    (tmp_path / "cup.toml").write_text(REMOTE)
    own = Path(json.loads(crosstown("certificate", "cup.toml", "--json").out)["certificate"])
    pair = f'certificate = "{own}"\nkey = "{own.parent / "key.pem"}"\n[[bots]]'
    (tmp_path / "cup.toml").write_text(REMOTE.replace("[[bots]]", pair, 1))
    assert json.loads(crosstown("certificate", "cup.toml", "--out", "elsewhere", "--json").out)["certificate"] == str(
        own
    )
    assert not (tmp_path / "elsewhere").exists()


def test_where_no_bot_needs_a_certificate_the_command_says_why(crosstown, write_tournament, tmp_path):
    write_tournament("cup")
    printed = crosstown("certificate", "cup.toml")
    assert (printed.code, "cup.toml has no [remote], so no bot connects" in printed.err) == (2, True)
    (tmp_path / "cup.toml").write_text(REMOTE.replace('7000"', '7000"\nplain = true'))
    printed = crosstown("certificate", "cup.toml")
    assert (printed.code, "plain = true in [remote], so there is no TLS" in printed.err) == (2, True)
