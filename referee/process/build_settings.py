"""What a build sees of the environment, and of the settings in the user's home: where packages come from, no secret."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from referee.folders import home_folder
from referee.process.places import HOME
from referee.process.settings_formats import SECRET, ini, lines, maven, toml
from referee.process.trees import remove_tree

_KEPT = ("PATH", "HOME", "USER", "LANG", "LC_ALL", "TMPDIR", "XDG_CACHE_HOME", "SOURCE_DATE_EPOCH")
_KEPT_PREFIXES = ("GO", "CARGO", "RUST", "JAVA", "MAVEN", "M2_", "NODE_", "npm_", "NPM_", "PIP_", "CROSSTOWN_BUILD_")
_KEPT_ENDINGS = ("_proxy", "_PROXY")

CERTIFICATES = (
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CARGO_HTTP_CAINFO", "PIP_CERT"),
    *("CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "npm_config_cafile", "NPM_CONFIG_CAFILE"),
)
"""Variables that name files with certificate authorities: passed on, and their files shown."""

_MACHINE = Path("/etc")

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
    """Of `ours` what toolchains look at, and no variable whose name speaks of a secret. `confined`: in the sandbox."""
    kept = {
        name: value
        for name, value in ours.items()
        if (name in _KEPT or name in CERTIFICATES or name.startswith(_KEPT_PREFIXES) or name.endswith(_KEPT_ENDINGS))
        and (not SECRET.search(name) or name.startswith("CROSSTOWN_BUILD_"))
    }
    if not confined:
        return kept
    kept = {name: value for name, value in kept.items() if name.lower() not in _PLACES_LOWER}
    rustup = rustup_home(ours)
    return {
        **kept,
        "PATH": kept.get("PATH", os.defpath),
        "HOME": HOME,
        "TMPDIR": HOME,
        **({"RUSTUP_HOME": str(rustup)} if rustup.is_dir() else {}),
    }


def rustup_home(ours: Mapping[str, str]) -> Path:
    """Where rustup keeps its toolchains, if it is there at all."""
    return Path(ours.get("RUSTUP_HOME") or home_folder(ours) / ".rustup")


def copy_settings(ours: Mapping[str, str], home: Path) -> tuple[str, ...]:
    """Lay the settings of package managers into the `home` of a build, those of the machine and of the user in one,
    without what they hold of credentials. The texts that were laid.

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
        (lines, (*_beside("node", "etc/npmrc", ours), _MACHINE / "npmrc", npm)),
        (maven, (*_beside("mvn", "conf/settings.xml", ours), user / ".m2/settings.xml")),
        (ini, (_MACHINE / "pip.conf", pip)),
    )
    laid = tuple(merged([text for text in map(_text, sources) if text]) for merged, sources in files)
    for name, text in zip(_SETTINGS, laid, strict=True):
        _lay(home, name, text)
    return laid


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
