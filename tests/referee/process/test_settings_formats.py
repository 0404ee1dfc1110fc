"""Settings of package managers reach a build without credentials, at whatever depth and in whatever style."""

import configparser
import tomllib
from collections.abc import Callable, Sequence
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.process.build_settings import ini, lines, maven, toml

Merge = Callable[[Sequence[str]], str]

HIDDEN: list[tuple[Merge, str]] = [
    (toml, 'a = 1\n[registries]\nmine = { index = "https://x", token = "SECRET" }\n'),
    (toml, 'registries.mine."to\\u006ben" = "SECRET"\n'),
    (toml, 'a = 1\n[registry]\ncredential-provider = [\n  "SECRET", # ]\n  "SECRET",\n]\n'),
    (toml, '[registries.mine]\ntoken = """\nx\nSECRET"""\n'),
    (toml, '[[list]]\nx = [{ password = "SECRET" }]\n'),
    (toml, "# SECRET\n"),
    (toml, "this is = = no TOML: SECRET"),
    (lines, "//npm.test/:_authToken=SECRET\n_password = SECRET\n\"_auth\" = SECRET\n"),
    (lines, "key = SECRET\n//npm.test/:key=SECRET\n; SECRET\n  # SECRET\n"),
    (ini, "[global]\n# SECRET\npassword = x\n  SECRET\ntoken: SECRET\n"),
    (ini, "SECRET without a section"),
    (maven, "<settings><servers><server><password>SECRET</password></server></servers></settings>"),
    (maven, "<settings><proxies><proxy><username>SECRET</username><password>SECRET</password></proxy>"
     "</proxies></settings>"),
    (maven, "<settings><!-- </servers> SECRET --><servers><server><passphrase>SECRET</passphrase></server>"
     "</servers></settings>"),
    (maven, '<m:settings xmlns:m="x"><m:servers><m:password>SECRET</m:password></m:servers></m:settings>'),
    (maven, "<settings><profiles><profile><properties><my.apiKey>SECRET</my.apiKey></properties></profile>"
     "</profiles></settings>"),
    (maven, "<settings><servers>SECRET"),
    (toml, '[env]\nSIGN_KEY = "SECRET"\nDB_PASS = "SECRET"\nDB_PW = "SECRET"\n'),
    (lines, "//npm.test:8080/:keyfile=SECRET\nNPM_PASS=SECRET\n"),
    (ini, "[global]\npwd = SECRET\n"),
    (maven, "<settings><profiles><profile><properties><ftp.pwd>SECRET</ftp.pwd><gpg.key>SECRET</gpg.key></properties>"
     "</profile></profiles></settings>"),
    (toml, 'a = 1\n[http]\nproxy = "me:SECRET@proxy.test:3128"\n'),
    (lines, "https-proxy=me:SECRET@proxy.test\nproxy=SECRET\n"),
    (ini, "[global]\nproxy = me:SECRET@proxy.test:3128\n"),
]  # fmt: skip


@pytest.mark.parametrize(("merge", "text"), HIDDEN)
def test_no_secret_is_left(merge: Merge, text: str) -> None:
    assert "SECRET" in text
    assert "SECRET" not in merge([text])
    assert "SECRET" not in merge([text, text])


def test_of_toml_all_else_stays_as_it_is() -> None:
    text = (
        'a = 1\nb = [1.5, true, "é \\" \\u0001 \\u007f \\U0001F600"]\nwhen = 2026-01-02T03:04:05Z\nday = 2026-01-02\n'
        'at = 03:04:05\n[x."y z"]\nw = { v = [{ u = 1 }] }\n[source.my-proxy]\nregistry = "https://x"\n'
        '[registries.turkey]\nindex = "https://x"\n'
    )
    assert tomllib.loads(toml([text])) == tomllib.loads(text)


def test_of_maven_all_else_stays_without_the_namespace() -> None:
    text = '<settings xmlns="http://maven.apache.org/x"><mirrors><mirror><url>u</url></mirror></mirrors></settings>'
    assert ElementTree.fromstring(maven([text])).findtext("mirrors/mirror/url") == "u"


def test_of_ini_all_else_stays() -> None:
    read = configparser.RawConfigParser()
    read.read_string(
        ini(
            [
                "[global]\nindex-url = https://x/%20y\nextra-index-url =\n  https://a\n  https://b\n"
                "[install]\npre = yes\n"
            ]
        )
    )
    assert read["global"]["index-url"] == "https://x/%20y"
    assert read["global"]["extra-index-url"].split() == ["https://a", "https://b"]
    assert read["install"]["pre"] == "yes"


def test_the_users_settings_go_before_the_machines() -> None:
    assert tomllib.loads(toml(["[a]\nx = 1\ny = 1\n[b]\nz = 1\n", "[a]\nx = 2\n"])) == {
        "a": {"x": 2, "y": 1},
        "b": {"z": 1},
    }
    assert lines(["@turkey:registry=https://x\n//x:80/:_password=y\n"]) == "@turkey:registry=https://x\n"
    assert lines(["registry = one\nca = x\n", "registry = two\n"]) == "registry = one\nca = x\nregistry = two\n"
    read = configparser.RawConfigParser()
    read.read_string(ini(["[global]\na = 1\nb = 1\n", "[global]\na = 2\n"]))
    assert dict(read["global"]) == {"a": "2", "b": "1"}
    mirrors = "<settings><mirrors>{}</mirrors></settings>"
    mirror = "<mirror><id>{}</id><url>{}</url></mirror>"
    machine = mirrors.format(mirror.format("a", "machine") + mirror.format("b", "machine"))
    user = mirrors.format(mirror.format("a", "user"))
    found = ElementTree.fromstring(maven([machine, user]))
    assert [each.text for each in found.iter("url")] == ["user", "machine"]


@pytest.mark.parametrize("merge", [toml, lines, ini, maven])
def test_of_nothing_nothing_is_made(merge: Merge) -> None:
    assert merge([]) == ""


@pytest.mark.parametrize(
    ("merge", "good", "bad"),
    [
        (toml, "jobs = 1\n", f"x = {'9' * 5000}"),
        (toml, "jobs = 1\n", f"x = 0x{'f' * 5000}"),
        *((toml, "jobs = 1\n", f"x = {'[' * depth}{']' * depth}") for depth in (300, 450, 20_000)),
        *((toml, "jobs = 1\n", f"x{'.x' * depth} = 1") for depth in (300, 450, 2000)),
        *(
            (maven, "<settings><offline>true</offline></settings>", "<a>" * depth + "</a>" * depth)
            for depth in (450, 950, 20_000)
        ),
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_a_text_that_cannot_be_read_is_left_out_and_the_other_stays(
    merge: Merge, good: str, bad: str, first: bool
) -> None:
    """Or it is read, if it is nested no deeper than that."""
    merged = merge([bad, good] if first else [good, bad])
    assert ('"jobs" = 1' if merge is toml else "<offline>true</offline>") in merged


@given(st.text(alphabet="[]=<>/.\"'\\\n:#ax \x00é\ud7ff", max_size=60))
@pytest.mark.parametrize("merge", [toml, lines, ini, maven])
def test_any_text_is_merged_or_left_out(merge: Merge, text: str) -> None:
    merge([text, text])
