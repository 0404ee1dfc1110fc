"""A Python bot with a requirements.txt: installed once, by content, into an environment with the SDK."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import google.protobuf
import pytest

from referee.folders import CACHE_VARIABLE
from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.match import EndReason, MatchSpec, SeatSpec, Table
from referee.process import build as build_module
from referee.process.build import BuildError, Yard, build, pip_failed
from referee.process.entry import EntryError, NotBuiltError, load_entry
from referee.process.fact_names import PACKAGES_OF
from referee.process.manifest import load_manifest
from referee.process.packages import read_requirements, write_wheels
from referee.process.sandbox import Profile, Sandbox
from referee.record import Answer, read_record
from tests.sentences import says

MANIFEST = 'name = "{name}"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "bot.py"]\n'
BOT = """
import json, pathlib, sys
import google.protobuf, tiny
from crosstown_bot import Bot, run

class Mine(Bot):
    def choose(self, turn):
        found = {"tiny": tiny.VERSION, "protobuf": google.protobuf.__version__, "prefix": sys.prefix}
        try:
            pathlib.Path(tiny.__file__).write_text("VERSION = 'mine'")
        except OSError as error:
            found["written"] = type(error).__name__
        turn.note = json.dumps(found)
        return 0

run(Mine)
"""
OFFLINE = "--no-index --find-links ./wheels\n"


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the SDK needs, with the oldest protobuf 5, so that no bot here asks an index; and a package of ours."""
    folder = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", str(folder)]
    subprocess.run([*command, "grpcio", "protobuf==5.26.1"], check=True, timeout=300)
    write_tiny(folder, "1.0")
    return folder


def write_tiny(folder: Path, version: str) -> None:
    about = f"tiny-{version}.dist-info"
    with ZipFile(folder / f"tiny-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr("tiny.py", f"VERSION = {version!r}\n")
        wheel.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: tiny\nVersion: {version}\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", f"tiny.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")


def write_source(folder: Path, first: str = "pass") -> None:
    """A package without a wheel, which makes one of itself, and does `first` before."""
    backend = (
        "import os, shutil, sys\n"
        "def build_wheel(folder, *_):\n"
        f"    {first}\n"
        "    shutil.copy('made.whl', f'{folder}/plain-1.0-py3-none-any.whl')\n"
        "    return 'plain-1.0-py3-none-any.whl'\n"
    )
    about, wheel = "plain-1.0.dist-info", BytesIO()
    metadata = "Metadata-Version: 2.1\nName: plain\nVersion: 1.0\n"
    with ZipFile(wheel, "w") as made:
        made.writestr("plain.py", "")
        made.writestr(f"{about}/METADATA", metadata)
        made.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        made.writestr(f"{about}/RECORD", f"plain.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n{about}/RECORD,,\n")
    project = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    texts = {"pyproject.toml": project, "backend.py": backend, "PKG-INFO": metadata}
    files = {"made.whl": wheel.getvalue(), **{name: text.encode() for name, text in texts.items()}}
    with tarfile.open(folder / "plain-1.0.tar.gz", "w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(f"plain-1.0/{name}")
            member.size = len(content)
            archive.addfile(member, BytesIO(content))


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One for the file, so that an environment is installed once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield Path(os.environ[CACHE_VARIABLE])


@pytest.fixture
def bot(tmp_path: Path, wheels: Path, cache: Path) -> Path:
    return make_bot(tmp_path / "a bot", wheels)


def make_bot(folder: Path, wheels: Path, requirements: str = f"{OFFLINE}tiny  # ours\nprotobuf==5.26.1\n") -> Path:
    folder.mkdir()
    shutil.copytree(wheels, folder / "wheels")
    (folder / "bot.toml").write_text(MANIFEST.format(name=folder.name))
    (folder / "bot.py").write_text(BOT)
    (folder / "requirements.txt").write_text(requirements)
    return folder


def asked(folder: Path) -> Any:
    return read_requirements(folder, load_manifest(folder))


async def notes(folder: Path, out: Path, sandbox: Sandbox) -> list[dict[str, str]]:
    """What a bot noted in a match against itself."""
    entry = load_entry(folder)
    options = resolve_options("shibuya", get_game("shibuya").options, {})
    seats = (SeatSpec(entry.id, "a", "1"),) * 2
    async with Table({entry.id: entry}, sandboxes={entry.id: sandbox}) as table:
        spec = MatchSpec("m", "shibuya", options, seats, "07")
        result = await table.play(spec, out)
    record = read_record(out / "m.jsonl.gz")
    assert result.reason is EndReason.NORMAL, result.detail
    assert record.header.seats[0].build == "; ".join(map(str, entry.builds))
    return [json.loads(line.note) for line in record.lines if isinstance(line, Answer)]


@pytest.mark.slow
@pytest.mark.strict_sandbox
async def test_a_bot_plays_with_its_packages_and_the_sdk_in_the_sandbox(bot: Path, tmp_path: Path) -> None:
    built, fresh = build(bot, Yard("strict"))
    assert fresh
    assert built.sandbox == "strict"
    for note in await notes(bot, tmp_path, Sandbox("strict")):
        assert (note["tiny"], note["protobuf"]) == ("1.0", "5.26.1")
        assert note["prefix"] == str(built.folder / "python")
        assert note["written"] == "OSError"  # of a read-only file system
    assert built.toolchain.endswith("packages")


@pytest.fixture
def own(wheels: Path, tmp_path: Path) -> Path:
    """A virtual environment as an author makes one, with the SDK and an old protobuf."""
    own = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(own)], check=True)
    write_wheels(tmp_path / "sdk")
    pip = [str(own / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-index"]
    places = ["--find-links", str(wheels), "--find-links", str(tmp_path / "sdk")]
    subprocess.run([*pip, *places, "crosstown-bot", "tiny", "protobuf==5.26.1"], check=True, timeout=120)
    return own


@pytest.mark.slow
@pytest.mark.strict_sandbox
@pytest.mark.parametrize("profile", ["plain", "strict"])
async def test_a_bot_plays_with_a_virtual_environment_of_its_own(
    own: Path, cache: Path, tmp_path: Path, profile: Profile
) -> None:
    folder = tmp_path / "bot"
    folder.mkdir()
    (folder / "bot.py").write_text(BOT)
    (folder / "bot.toml").write_text(MANIFEST.format(name="bot").replace("{python}", str(own / "bin" / "python")))
    found = await notes(folder, tmp_path, Sandbox(profile))
    assert found
    for note in found:
        assert (note["tiny"], note["protobuf"], note["prefix"]) == ("1.0", "5.26.1", str(own))
    assert google.protobuf.__version__ != "5.26.1"
    outside = read_record(tmp_path / "m.jsonl.gz").header.seats[0].outside
    assert any(name.startswith(PACKAGES_OF) for name in outside), "its packages count by their content"


@pytest.mark.slow
def test_a_list_with_hashes_is_held_to_them_and_gets_the_sdk_as_well(bot: Path) -> None:
    wheels = sorted((bot / "wheels").glob("*.whl"))
    lines = [f"./wheels/{path.name} --hash=sha256:{sha256(path.read_bytes()).hexdigest()}\n" for path in wheels]
    (bot / "requirements.txt").write_text("--no-index\n" + "".join(lines) + "crosstown-bot\n")
    built, _ = build(bot, Yard("plain"))
    assert list(built.folder.glob("python/lib/python*/site-packages/crosstown_bot"))
    changed = lines[-1].replace(lines[-1].strip()[-4:], "0000")
    (bot / "requirements.txt").write_text("--no-index\n" + "".join([*lines[:-1], changed]))
    with pytest.raises(BuildError):
        build(bot, Yard("plain"))


def test_a_bot_is_not_built_until_its_requirements_are_installed(bot: Path) -> None:
    (bot / "requirements.txt").write_text(f"{OFFLINE}tiny==1.0\n")
    with pytest.raises(
        NotBuiltError, check=says(r"requirements.txt: is not installed, .* crosstown bots build '.*a bot'")
    ):
        load_entry(bot)


def test_the_environment_is_kept_by_content(bot: Path, wheels: Path, tmp_path: Path) -> None:
    first, _ = build(bot, Yard("plain"))
    other = make_bot(tmp_path / "another", wheels)
    (other / "bot.py").write_text("# another program\n")
    assert load_entry(other).environment == load_entry(bot).environment
    assert build(other, Yard("plain")) == (first, False)
    write_tiny(bot / "wheels", "1.1")
    with pytest.raises(NotBuiltError):
        load_entry(bot)


@pytest.mark.slow
@pytest.mark.strict_sandbox
def test_what_a_bot_left_in_its_home_goes_into_no_environment(
    bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bots with the same list share it, and pip would read its settings there."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))  # another test may have made this environment before
    list_of_packages = bot / "requirements.txt"
    text = list_of_packages.read_text()
    list_of_packages.unlink()
    manifest = (bot / "bot.toml").read_text()
    script = (
        "mkdir -p $HOME/.pip && printf '[install]\\nno-such-option = 1\\ntarget = /elsewhere\\n' > $HOME/.pip/pip.conf"
    )
    made = "mkdir -p build && touch build/x"
    (bot / "bot.toml").write_text(f'{manifest}build = ["sh", "-c", {json.dumps(f"{script} && {made}")}]\n')
    build(bot, Yard("strict"))
    (bot / "bot.toml").write_text(manifest)
    list_of_packages.write_text(text)
    built, fresh = build(bot, Yard("strict"), again=False)
    assert (fresh, built.warm) == (True, False)
    assert "from a clean home" in built.log.read_text()


def test_requirements_are_the_file_and_what_it_names(bot: Path) -> None:
    (bot / "requirements.txt").write_text("-r more/base.txt\n-cpins.txt\ntiny\n./wheels/tiny-1.0-py3-none-any.whl\n")
    (bot / "more").mkdir()
    (bot / "more" / "base.txt").write_text("-c pins.txt\n--requirement=../last.txt\n")
    for name in ("more/pins.txt", "last.txt", "unnamed.txt"):
        (bot / name).write_text("")
    (bot / "tiny").mkdir()
    (bot / "tiny" / "unasked.py").write_text("")  # the package of that name is asked for
    names = ("last.txt", "more/base.txt", "more/pins.txt", "requirements.txt", "wheels/tiny-1.0-py3-none-any.whl")
    assert asked(bot).files == names
    before = asked(bot).id
    (bot / "unnamed.txt").write_text("other")
    assert asked(bot).id == before
    (bot / "last.txt").write_text("other")
    assert asked(bot).id != before


def test_a_bot_that_does_not_run_our_python_has_none(bot: Path) -> None:
    text = (bot / "bot.toml").read_text()
    (bot / "bot.toml").write_text(text.replace("{python}", "/usr/bin/python3"))
    assert asked(bot) is None


def failed(folder: Path) -> BuildError:
    with pytest.raises(BuildError) as caught:
        build(folder, Yard("plain"))
    return caught.value


def test_what_pip_said_last_is_told_with_the_next_step(bot: Path) -> None:
    (bot / "requirements.txt").write_text("--no-index --find-links ./wheels\ntiny==7\n")
    error = failed(bot)
    assert "pip could not install requirements.txt (No matching distribution found for tiny==7)" in str(error)
    assert "choose a version that has a wheel for Python 3." in error.next_step
    assert "ERROR: No matching distribution found for tiny==7" in error.tail
    assert error.log is not None


@pytest.mark.slow
@pytest.mark.parametrize("confined", [False, True])
def test_pip_settings_of_another_place_or_of_no_installation_do_not_count(
    bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, confined: bool
) -> None:
    """The packages lay elsewhere, or nowhere, and the bot was called built."""
    settings = tmp_path / "pip.conf"
    settings.write_text(f"[install]\ntarget = {tmp_path}/elsewhere\n")
    (bot / "requirements.txt").write_text(f"{OFFLINE}tiny\n")
    for name, value in {"CONFIG_FILE": settings, "USER": 1, "PREFIX": tmp_path / "elsewhere", "DRY_RUN": 1}.items():
        monkeypatch.setenv(f"PIP_{name}", str(value))
    built, _ = build(bot, Yard("strict" if confined else "plain"), again=True)
    for package in ("tiny.py", "crosstown_bot"):
        assert list(built.folder.glob(f"python/lib/python*/site-packages/{package}"))
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.slow
def test_an_installation_of_nothing_is_no_build(bot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pip.conf").write_text("[install]\ndry-run = true\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    (bot / "requirements.txt").write_text(f"{OFFLINE}tiny>0\n")
    error = failed(bot)
    assert "pip has installed nothing" in str(error)
    assert "pip.conf" in error.next_step


def test_a_line_that_is_no_requirement_is_told(bot: Path) -> None:
    (bot / "requirements.txt").write_text("tiny = 1\n")
    error = failed(bot)
    assert "Invalid requirement" in str(error)
    assert error.next_step == "correct requirements.txt"


@pytest.fixture(scope="module")
def generous(wheels: Path, cache: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A bot that allows a source, beside another package by the name of the SDK; and what its installation printed."""
    folder = make_bot(tmp_path_factory.mktemp("bots") / "generous", wheels)
    write_source(folder / "wheels")
    fake = folder / "wheels" / "crosstown_bot-99.0-py3-none-any.whl"
    shutil.copy(folder / "wheels" / "tiny-1.0-py3-none-any.whl", fake)
    (folder / "requirements.txt").write_text(f"{OFFLINE}crosstown-bot\nplain\n--no-binary plain\n")
    built, _ = build(folder, Yard("plain"))
    return folder, built.log.read_text()


def test_only_wheels_are_taken(bot: Path) -> None:
    write_source(bot / "wheels")
    (bot / "requirements.txt").write_text(f"{OFFLINE}plain\n")
    assert "No matching distribution found for plain" in str(failed(bot))


@pytest.mark.slow
@pytest.mark.parametrize(
    "deed",
    [
        "open(f'{sys.prefix}/pyvenv.cfg', 'w').write('home = /srv/app/bin')",
        "os.rename(f'{sys.prefix}/bin', f'{sys.prefix}/b'); os.symlink('b', f'{sys.prefix}/bin')",
    ],
)
def test_no_package_leads_the_environment_to_another_python(bot: Path, deed: str) -> None:
    """Each bot with that list was shown /srv/app, which nobody had granted."""
    write_source(bot / "wheels", deed)
    (bot / "requirements.txt").write_text(f"{OFFLINE}plain\n--no-binary plain\n")
    with pytest.raises(EntryError, check=says("has changed which Python is used")):
        build(bot, Yard("plain"))
    with pytest.raises(NotBuiltError):
        load_entry(bot)


@pytest.mark.slow
def test_a_source_is_taken_where_the_file_allows_it(generous: tuple[Path, str]) -> None:
    assert "plain-1.0" in generous[1].partition("Successfully installed")[2]


def test_the_sdk_of_the_referee_is_taken_and_no_other_of_that_name(generous: tuple[Path, str]) -> None:
    """Whoever has laid claim to the name on an index would else have a program in each bot."""
    assert "crosstown-bot-99.0" not in generous[1]
    load_entry(generous[0])


@pytest.mark.slow
def test_where_our_own_environment_has_no_pip_the_bots_has(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_module, "find_spec", lambda name: None)
    (bot / "requirements.txt").write_text(f"{OFFLINE}tiny<2\n")
    built, _ = build(bot, Yard("plain"))
    assert list(built.folder.glob("python/lib/python*/site-packages/tiny.py"))


def test_a_bot_that_is_compiled_too_finds_its_packages_then(bot: Path) -> None:
    compiles = 'build = ["{python}", "-c", "import tiny, os; os.mkdir(\'build\')"]\n'
    (bot / "bot.toml").write_text((bot / "bot.toml").read_text() + compiles)
    build(bot, Yard("plain"))
    entry = load_entry(bot)
    assert len(entry.builds) == 2
    assert entry.argv[0].startswith(str(entry.builds[1].folder))


def test_the_rules_can_be_asked_for(tmp_path: Path) -> None:
    constraints = write_wheels(tmp_path / "wheels").read_text()
    (library,) = (tmp_path / "wheels").glob("crosstown_arena-*.whl")
    assert f"crosstown-arena @ {library.as_uri()}" in constraints
    with ZipFile(library) as wheel:
        assert {"referee/games/shibuya/rules.py", "crosstown_env/__init__.py", "crosstown_greedy/__init__.py"} <= set(
            wheel.namelist()
        )
        metadata = wheel.read("crosstown_arena-0.1.0.dist-info/METADATA").decode()
        needed = re.findall(r"^Requires-Dist: ([\w-]+)[^;\n]*$", metadata, flags=re.MULTILINE)
        assert set(needed) == {"crosstown-bot", "numpy", "protobuf"}
        about = next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))
        assert b"crosstown.games" in wheel.read(about)


def test_a_proxy_that_does_not_reach_the_index_is_no_missing_wheel() -> None:
    why = "ERROR: No matching distribution found for tiny==7\n"
    retry = "WARNING: Retrying (Retry(total={}, connect=None)) after connection broken by 'ProxyError(502)': /simple/\n"
    assert "whether this machine reaches the package index" in pip_failed(retry.format(1) + retry.format(0) + why)[1]
    assert "whether this machine reaches the package index" not in pip_failed(retry.format(1) + why)[1]


def test_a_package_without_any_version_may_have_a_wrong_name() -> None:
    said = "ERROR: Could not find a version that satisfies the requirement {} (from versions: {})\n"
    said += "ERROR: No matching distribution found for {}\n"
    assert "check the name of the package, or choose" in pip_failed(said.format("tniy", "none", "tniy"))[1]
    assert "choose a version that has a wheel" in pip_failed(said.format("tiny==7", "1.0", "tiny==7"))[1]
