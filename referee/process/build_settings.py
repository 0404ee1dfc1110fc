"""The environment and the package manager settings that a build sees: where packages come from, but no credentials.

Each format has a function that takes the text of the machine's file and then the user's file, and returns one text with
both, in which the user's settings win. A text that cannot be parsed is left out as a whole.
"""

import os
import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from configparser import Error, RawConfigParser
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, time
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

from referee.folders import home_folder
from referee.process.needs import CERTIFICATES, rustup_home
from referee.process.paths import HOME
from referee.process.registries import Place, find_credentials, without_credentials, without_passwords
from referee.process.trees import remove_tree
from referee.texts import toml_text

SECRET = re.compile(r"token|secret|pass|pwd|(?:^|[-_.])pw(?:$|[-_.])|credential|auth|key", re.IGNORECASE)
"""What a name has in it that speaks of a secret."""

_SECRET_TABLE = re.compile(r"token|secret|passw|credential|auth", re.IGNORECASE)
"""The same of a table, whose name may be that of a registry, such as `turkey`."""

_PROXY = re.compile(r"(?:^|[-_])(?:no)?proxy$", re.IGNORECASE)
"""The name of a setting that names a proxy, or what is reached without one. In the sandbox only our own is reached, and
the address of another may have a password in it, in forms without `https://`."""

_JAVA_OPTION = re.compile(
    r"""
    " -D [^\s="']* = [^"]* "  |  ' -D [^\s="']* = [^']* '  |  -D [^\s=]* = (?: "[^"]*" | '[^']*' | \S )*
    """,
    re.VERBOSE,
)
"""Such as -Dhttps.proxyPassword=..., in the value of a variable."""

_MAVEN = frozenset({"servers", "username", "localRepository"})
# The last is a place that a build does not have.


def _may_be_seen(name: str) -> bool:
    """Whether a build sees the setting of this name."""
    return not (SECRET.search(name) or _PROXY.search(name))


def lines(texts: Sequence[str]) -> str:
    """`key = value` on a line each, as go and npm have them, without comments; the last of a key counts."""
    kept = []
    for text in texts:
        for line in text.splitlines():
            key, _, _ = line.partition("=")
            name = key.strip().strip("\"'")
            # npm has settings of one registry, as in //host/:_password, and of one scope, as in @turkey:registry.
            if name and not name.startswith(("#", ";")) and _may_be_seen(name.rpartition(":")[2]):
                kept.append(f"{line}\n")
    return "".join(kept)


def ini(texts: Sequence[str]) -> str:
    """As pip has them, without comments."""
    merged = RawConfigParser(strict=False, default_section="")
    merged.optionxform = str  # type: ignore[assignment, method-assign]
    for text in texts:
        one = RawConfigParser(strict=False, default_section="")
        try:
            one.read_string(text)
        except Error:
            continue
        for section in one.sections():
            if not merged.has_section(section):
                merged.add_section(section)
            for key, value in one.items(section):
                if _may_be_seen(key):
                    merged.set(section, key, value)
    written = StringIO()
    merged.write(written)
    return written.getvalue()


def toml(texts: Sequence[str]) -> str:
    """As cargo has them; of tables that several have, all keys."""
    merged: dict[str, object] = {}
    written = ""
    for text in texts:
        try:
            both = _over(merged, _open(tomllib.loads(text)))
            written = "".join(f"{_toml(key)} = {_toml(value)}\n" for key, value in both.items())
        except (ValueError, RecursionError):  # no TOML, a number of thousands of digits, tables without end
            continue
        merged = both
    return written


def _open(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return {
        key: _open_any(each)
        for key, each in value.items()
        if (not _SECRET_TABLE.search(key) if isinstance(each, dict) else _may_be_seen(key))
    }


def _open_any(value: object) -> object:
    if isinstance(value, dict):
        return _open(value)
    return [_open_any(each) for each in value] if isinstance(value, list) else value


def _over(below: dict[str, object], above: dict[str, object]) -> dict[str, object]:
    merged = {**below, **above}
    for key, value in above.items():
        other = below.get(key)
        if isinstance(value, dict) and isinstance(other, dict):
            merged[key] = _over(other, value)
    return merged


def _toml(value: object) -> str:
    match value:
        case str():
            return toml_text(value)
        case bool():
            return str(value).lower()
        case dict():
            return "{" + ", ".join(f"{_toml(key)} = {_toml(each)}" for key, each in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case date() | time():
            return value.isoformat()
        case _:
            return str(value)


def maven(texts: Sequence[str]) -> str:
    """Maven's settings; of mirrors, proxies and profiles of the same id the user's."""
    merged: ElementTree.Element | None = None
    for text in reversed(texts):
        try:
            # The organiser's own files, never a bot's.
            found = _plain(ElementTree.fromstring(text))  # noqa: S314
            ElementTree.tostring(found)
        except (ElementTree.ParseError, ValueError, RecursionError):  # no XML, or elements without end
            continue
        if merged is None:
            merged = found
        else:
            _add(merged, found)
    return "" if merged is None else ElementTree.tostring(merged, encoding="unicode") + "\n"


def _plain(element: ElementTree.Element) -> ElementTree.Element:
    """Without secrets, at any depth, without attributes, and without the namespace, which Maven does not ask for."""
    made = ElementTree.Element(_name(element))
    made.text = element.text
    made.extend([_plain(child) for child in element if not (_name(child) in _MAVEN or SECRET.search(_name(child)))])
    return made


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _add(merged: ElementTree.Element, below: ElementTree.Element) -> None:
    for child in below:
        mine = merged.find(child.tag)
        if mine is None:
            merged.append(child)
            continue
        known = {each.findtext("id") for each in mine} - {None}
        mine.extend(each for each in child if each.findtext("id") not in known)


_KEPT = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "SOURCE_DATE_EPOCH")
_KEPT_PREFIXES = ("GO", "CARGO", "RUST", "JAVA", "MAVEN", "M2_", "NODE_", "npm_", "NPM_", "PIP_", "CROSSTOWN_BUILD_")
_KEPT_ENDINGS = ("_proxy", "_PROXY")
_NO_INSTALLATION = frozenset({"PIP_DRY_RUN", "PIP_ROOT", "PIP_USER"})  # or one elsewhere than in the bot's environment

MACHINE_SETTINGS = Path("/etc")

# Where tools keep what they write, or find their settings: in the sandbox all that is below its own home.
_PLACES = (
    *("HOME", "USER", "TMPDIR", "XDG_CACHE_HOME", "GOPATH", "GOBIN", "GOCACHE", "GOMODCACHE", "GOTMPDIR", "GOENV"),
    *("CARGO_HOME", "CARGO_INSTALL_ROOT", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR", "RUSTUP_HOME"),
    *("PIP_CACHE_DIR", "PIP_CONFIG_FILE", "PIP_TARGET", "PIP_PREFIX", "PIP_LOG", "MAVEN_USER_HOME"),
    *("npm_config_cache", "npm_config_prefix", "npm_config_userconfig", "npm_config_tmp", "npm_config_logs_dir"),
)
_PLACES_LOWER = frozenset(name.lower() for name in _PLACES)


_SETTINGS = (".config/go/env", ".cargo/config.toml", ".npmrc", ".m2/settings.xml", ".config/pip/pip.conf")


def environment(ours: Mapping[str, str], *, confined: bool) -> dict[str, str]:
    """Of `ours` what toolchains look at, and no variable whose name speaks of a secret. `confined`: in the sandbox,
    where no address has a password in it, except in what is passed on for builds on purpose."""
    kept = _looked_at(ours)
    if not confined:
        return kept
    kept = {
        name: value if name.startswith("CROSSTOWN_BUILD_") else _shown(value)
        for name, value in kept.items()
        if name.startswith("CROSSTOWN_BUILD_") or not (name.lower() in _PLACES_LOWER or _PROXY.search(name))
    }
    rustup = rustup_home(ours)
    return {
        **kept,
        "PATH": kept.get("PATH", os.defpath),
        "HOME": HOME,
        "TMPDIR": HOME,
        **({"RUSTUP_HOME": str(rustup)} if rustup.is_dir() else {}),
    }


def _shown(value: str) -> str:
    """The value of a variable without passwords in addresses, and without Java's options whose name speaks of one."""

    def may_be_seen(option: re.Match[str]) -> str:
        names = re.findall(r"-D([^\s=]*)=", option[0])  # one may be the value of another, as in Maven's argLine
        return "" if any(map(SECRET.search, names)) else option[0]

    return _JAVA_OPTION.sub(may_be_seen, without_passwords(value)).strip()


def _looked_at(ours: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in ours.items()
        if (name in _KEPT or name in CERTIFICATES or name.startswith(_KEPT_PREFIXES) or name.endswith(_KEPT_ENDINGS))
        and (not SECRET.search(name) or name.startswith("CROSSTOWN_BUILD_"))
        and name not in _NO_INSTALLATION
    }


@dataclass(frozen=True, slots=True)
class Settings:
    """What the organiser's settings say of package registries. `texts` have their addresses. `credentials` are for the
    proxy alone: by registry, what it has to say there."""

    texts: tuple[str, ...] = ()
    credentials: Mapping[Place, str] = field(default_factory=dict, repr=False)


def copy_settings(ours: Mapping[str, str], home: Path) -> Settings:
    """Lay the settings of package managers into the `home` of a build, those of the machine and of the user in one,
    without what they hold of credentials.

    Files that are not there or cannot be read are passed over; what an earlier build left at their places goes. Raises
    OSError where `home` cannot be written.
    """
    user = home_folder(ours)
    cargo = Path(ours.get("CARGO_HOME") or user / ".cargo")
    pip = Path(ours.get("PIP_CONFIG_FILE") or user / ".config/pip/pip.conf")
    npm = Path(ours.get("npm_config_userconfig") or user / ".npmrc")
    files: tuple[tuple[Callable[[Sequence[str]], str], tuple[Path, ...]], ...] = (
        (lines, (Path(ours.get("GOENV") or user / ".config/go/env"),)),
        (toml, (cargo / "config.toml",)),
        (lines, (*_beside("node", "etc/npmrc", ours), MACHINE_SETTINGS / "npmrc", npm)),
        (maven, (*_beside("mvn", "conf/settings.xml", ours), user / ".m2/settings.xml")),
        (ini, (MACHINE_SETTINGS / "pip.conf", pip)),
    )
    raw = [[text for text in map(_text, sources) if text] for _, sources in files]
    seen = [value for name, value in _looked_at(ours).items() if not name.lower().endswith("_proxy")]
    credentials = find_credentials([*seen, *(text for texts in raw for text in texts)], ours)
    laid = tuple(without_passwords(merged(texts)) for (merged, _), texts in zip(files, raw, strict=True))
    for name, text in zip(_SETTINGS, laid, strict=True):
        # Maven refuses registries without TLS.
        _lay(home, name, without_credentials(text, () if name.endswith(".xml") else credentials))
    return Settings(laid, credentials)


def _beside(program: str, name: str, ours: Mapping[str, str]) -> Iterator[Path]:
    """A file of the toolchain that a program on PATH belongs to."""
    found = shutil.which(program, path=ours.get("PATH", os.defpath))
    if found is not None:
        yield Path(os.path.realpath(found)).parent.parent / name


def _text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text("utf-8-sig", errors="replace") if path.is_file() else ""
    return ""


def _lay(home: Path, name: str, text: str) -> None:
    """Make the file, or no file where there is no text. A link that a bot left on the way would lead us astray."""
    *parents, last = Path(name).parts
    place = home
    for part in parents:
        place = place / part
        if place.is_symlink() or not place.is_dir():
            place.unlink(missing_ok=True)
            if not text:
                return
            place.mkdir()
    target = place / last
    if target.is_dir() and not target.is_symlink():
        remove_tree(target)
    else:
        target.unlink(missing_ok=True)
    if text:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
