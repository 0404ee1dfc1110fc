"""Signing in with an account elsewhere, against a provider that the test starts."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from leaderboard.web.hand_ins import Account, HandInRefused, Refusal
from leaderboard.web.people import Returned
from referee.ladder.people import LadderPeople
from referee.ladder.store import LadderStore
from tests.referee.ladder.clock import Clock
from tests.referee.ladder.provider_server import ProviderServer, provider_server

BACK = "http://localhost:8000/sign-in/{}/back"
ANN = Account("ann", "manage", "0")


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    with provider_server() as made:
        yield made


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[LadderStore]:
    with LadderStore(tmp_path / "ladder.db", tmp_path / "content", clock=clock) as made:
        made.accounts.add_owner("ann")
        made.accounts.add_owner("bob")
        yield made


@pytest.fixture
def people(store: LadderStore, provider: ProviderServer) -> LadderPeople:
    return store.people(sign_up="open", providers=[provider.oidc, provider.github])


def go(people: LadderPeople, provider: ProviderServer, kind: str, account: Account | None = None,
       browser: str = "browser", **changes: str) -> Returned:  # fmt: skip
    """All of a sign-in. `changes` are of what the browser brings back."""
    url = people.begin(kind, "browser", BACK.format(kind), account)
    brought = provider.sign_in(url) | changes
    return people.finish(kind, browser, BACK.format(kind), brought["state"], brought["code"])


def finish(people: LadderPeople, provider: ProviderServer, url: str) -> Returned:
    """The end of a sign-in that began with this address of the school."""
    brought = provider.sign_in(url)
    return people.finish("school", "browser", BACK.format("school"), brought["state"], brought["code"])


def refused(refusal: Refusal, call: Callable[[], object]) -> str:
    with pytest.raises(HandInRefused) as caught:
        call()
    assert caught.value.refusal is refusal, str(caught.value)
    assert caught.value.next_step
    return str(caught.value)


@pytest.mark.parametrize("kind", ["school", "github"])
def test_somebody_new_chooses_a_name_and_is_known_the_next_time(
    people: LadderPeople, provider: ProviderServer, store: LadderStore, kind: str
) -> None:
    first = go(people, provider, kind)
    assert (first.session, first.added) == (None, False)
    assert people.pending(first.pending, "browser").subject == "1001"
    made = people.join("cleo", "", pending=first.pending, browser="browser")
    assert store.accounts.account(made.secret).owner == "cleo"
    refused(Refusal.UNAUTHENTICATED, lambda: people.join("dora", "", pending=first.pending, browser="browser"))
    again = go(people, provider, kind).session
    assert again is not None
    assert store.accounts.account(again.secret).owner == "cleo"
    provider.person = "1002"
    assert go(people, provider, kind).session is None


@pytest.mark.parametrize("kind", ["school", "github"])
def test_each_sign_in_has_a_state_a_challenge_and_with_openid_connect_a_nonce_of_its_own(
    people: LadderPeople, kind: str
) -> None:
    asked = [dict(parse_qsl(urlsplit(people.begin(kind, "b", BACK.format(kind))).query)) for _ in range(2)]
    names = ("state", "code_challenge", "nonce") if kind == "school" else ("state", "code_challenge")
    for name in names:
        assert asked[0][name] != asked[1][name]
        assert len(asked[0][name]) >= 43
    assert {one["code_challenge_method"] for one in asked} == {"S256"}


@pytest.mark.parametrize("kind", ["school", "github"])
def test_an_identity_is_added_to_the_account_that_is_signed_in_and_removed(
    people: LadderPeople, provider: ProviderServer, store: LadderStore, kind: str
) -> None:
    assert go(people, provider, kind, ANN) == Returned(added=True)
    (identity,) = people.ways(ANN).identities
    session = go(people, provider, kind).session
    assert session is not None
    assert session.owner == "ann"
    bob = Account("bob", "manage", "0")
    assert "another owner" in refused(Refusal.CONFLICT, lambda: go(people, provider, kind, bob))
    refused(Refusal.UNKNOWN, lambda: people.forget_identity(bob, identity.provider, identity.subject))
    people.forget_identity(ANN, identity.provider, identity.subject)
    assert go(people, provider, kind).session is None


def test_the_same_address_of_e_mail_is_not_the_same_person(people: LadderPeople, provider: ProviderServer) -> None:
    go(people, provider, "school", ANN)
    provider.person = "666"  # who claims ann's address, which the provider confirms
    provider.lies["claims"] = {"email": "ann@school.example", "email_verified": True, "preferred_username": "ann"}
    assert go(people, provider, "school").session is None


def test_the_same_number_at_another_provider_is_somebody_else(
    people: LadderPeople, provider: ProviderServer, store: LadderStore
) -> None:
    go(people, provider, "school", ANN)
    with provider_server() as other:
        elsewhere = store.people(sign_up="open", providers=[replace(other.oidc, id="other")])
        assert go(elsewhere, other, "other").session is None


LIES: list[tuple[str, dict[str, Any]]] = [
    ("a nonce of another sign-in", {"claims": {"nonce": "another"}}),
    ("no nonce", {"claims": {"nonce": None}}),
    ("another issuer", {"claims": {"iss": "https://elsewhere.example"}}),
    ("for another client", {"claims": {"aud": "another"}}),
    ("for several, authorised for another", {"claims": {"aud": ["crosstown", "x"], "azp": "x"}}),
    ("expired", {"claims": {"exp": 1000}}),
    ("of the future", {"claims": {"iat": 9999999999}}),
    ("without a subject", {"claims": {"sub": ""}}),
    ("with a subject of control characters", {"claims": {"sub": "a\nb"}}),
    ("with an endless subject", {"claims": {"sub": "a" * 300}}),
    ("for another access token", {"claims": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"}}),
    ("not signed", {"alg": "none"}),
    ("signed with the public key as a secret", {"alg": "HS256"}),
    ("signed by somebody else", {"key": "other"}),
]


@pytest.mark.parametrize("lie", [lie for _, lie in LIES], ids=[name for name, _ in LIES])
def test_an_id_token_that_is_not_right_signs_nobody_in(
    people: LadderPeople, provider: ProviderServer, lie: dict[str, Any]
) -> None:
    go(people, provider, "school", ANN)
    provider.lies = lie
    refused(Refusal.UNAUTHENTICATED, lambda: go(people, provider, "school"))
    provider.lies = {}
    assert go(people, provider, "school").session is not None  # the control


@pytest.mark.parametrize("kind", ["school", "github"])
def test_a_state_works_once_in_the_browser_that_began_within_ten_minutes(
    people: LadderPeople, provider: ProviderServer, clock: Clock, kind: str
) -> None:
    go(people, provider, kind, ANN)
    refused(Refusal.UNAUTHENTICATED, lambda: go(people, provider, kind, browser="another"))
    refused(Refusal.UNAUTHENTICATED, lambda: go(people, provider, kind, state="guessed"))
    refused(Refusal.UNAUTHENTICATED, lambda: go(people, provider, kind, state=""))
    brought = provider.sign_in(people.begin(kind, "browser", BACK.format(kind)))
    other = {"school": "github", "github": "school"}[kind]
    finish = (BACK.format(kind), brought["state"], brought["code"])
    refused(Refusal.UNAUTHENTICATED, lambda: people.finish(other, "browser", *finish))
    assert people.finish(kind, "browser", *finish).session is not None
    refused(Refusal.UNAUTHENTICATED, lambda: people.finish(kind, "browser", *finish))
    url = people.begin(kind, "browser", BACK.format(kind))
    clock.now += timedelta(minutes=11)
    late = provider.sign_in(url)
    refused(
        Refusal.UNAUTHENTICATED,
        lambda: people.finish(kind, "browser", BACK.format(kind), late["state"], late["code"]),
    )


def test_a_code_that_was_stolen_is_worth_nothing_without_the_verifier(
    people: LadderPeople, provider: ProviderServer
) -> None:
    stolen = provider.sign_in(people.begin("school", "victim", BACK.format("school")))
    mine = provider.sign_in(people.begin("school", "browser", BACK.format("school")))
    refused(
        Refusal.UNAUTHENTICATED,
        lambda: people.finish("school", "browser", BACK.format("school"), mine["state"], stolen["code"]),
    )


def test_the_code_of_somebody_who_chooses_a_name_is_good_in_that_browser_alone(
    people: LadderPeople, provider: ProviderServer
) -> None:
    pending = go(people, provider, "school").pending
    refused(Refusal.UNAUTHENTICATED, lambda: people.join("cleo", "", pending=pending, browser="another"))
    refused(Refusal.UNAUTHENTICATED, lambda: people.pending(pending, "another"))
    assert people.join("cleo", "", pending=pending, browser="browser").owner == "cleo"


def test_the_providers_refusal_and_its_silence_are_told(people: LadderPeople, provider: ProviderServer) -> None:
    assert "did not sign you in" in refused(Refusal.UNAUTHENTICATED, lambda: go(people, provider, "school", code=""))
    assert "invalid_grant" in refused(Refusal.UNAUTHENTICATED, lambda: go(people, provider, "github", code="wrong"))
    provider.lies["user"] = {"id": "1001"}
    assert "who signed in" in refused(Refusal.UNAUTHENTICATED, lambda: go(people, provider, "github"))


def test_a_provider_that_is_away_or_describes_itself_wrongly_is_unavailable(
    store: LadderStore, provider: ProviderServer
) -> None:
    away = store.people(providers=[replace(provider.oidc, server="http://127.0.0.1:9")])
    assert "School cannot be asked" in refused(
        Refusal.UNAVAILABLE, lambda: away.begin("school", "b", BACK.format("school"))
    )
    for lie in ({"issuer": "http://elsewhere.example"}, {"authorization_endpoint": "http://elsewhere.example/a"},
                {"authorization_endpoint": 3}):  # fmt: skip
        provider.lies["described"] = lie
        here = store.people(providers=[provider.oidc])
        refused(Refusal.UNAVAILABLE, lambda here=here: here.begin("school", "b", BACK.format("school")))  # type: ignore[misc]
    refused(Refusal.UNKNOWN, lambda: store.people().begin("school", "b", "x"))


def test_a_blocked_owner_cannot_sign_in_elsewhere_either(
    people: LadderPeople, provider: ProviderServer, store: LadderStore
) -> None:
    go(people, provider, "school", ANN)
    store.accounts.block("ann", "cheats")
    assert "cheats" in refused(Refusal.FORBIDDEN, lambda: go(people, provider, "school"))


def test_who_has_signed_in_with_a_token_adds_no_way_to_sign_in_that_outlasts_it(
    people: LadderPeople, provider: ProviderServer, store: LadderStore
) -> None:
    lent = store.accounts.create_token("ann", "lent", "manage", 7)
    session = store.accounts.account(store.accounts.session_of(lent.secret).secret)
    assert go(people, provider, "school", session) == Returned(added=True), "she has no other way"
    for account in (session, store.accounts.account(lent.secret)):
        refused(Refusal.FORBIDDEN, lambda account=account: people.begin("github", "b", "x", account))  # type: ignore[misc]
        refused(Refusal.FORBIDDEN, lambda account=account: people.change_password(account, "", "x" * 12))  # type: ignore[misc]
    signed_in = go(people, provider, "school").session
    assert signed_in is not None
    people.change_password(store.accounts.account(signed_in.secret), "", "correct horse battery")


@pytest.mark.parametrize("end", ["revoked", "signed out", "new password", "ban"])
def test_who_has_begun_to_add_an_identity_does_not_finish_it_after_their_access_has_ended(
    people: LadderPeople, provider: ProviderServer, store: LadderStore, end: str
) -> None:
    """Who had stolen a token or session could keep the account, in the ten minutes after that was noticed."""
    kind = "token" if end == "revoked" else "session"
    lost = store.accounts.create_token("ann", "lost", "manage", 7, kind=kind)  # type: ignore[arg-type]
    begun = [people.begin("school", "browser", BACK.format("school"), store.accounts.account(lost.secret))]
    begun.append(people.begin("school", "browser", BACK.format("school")))
    match end:
        case "revoked" | "signed out":
            store.accounts.revoke_token("ann", lost.token.id)
        case "new password":
            people.change_password(ANN, "", "correct horse battery")
        case "ban":
            store.accounts.block("ann", "cheats")
    refused(Refusal.UNAUTHENTICATED, lambda: finish(people, provider, begun[0]))
    assert people.ways(ANN).identities == ()
    assert finish(people, provider, begun[1]).pending, "somebody else's sign-in goes on"


def test_a_token_of_less_than_manage_adds_no_identity(people: LadderPeople) -> None:
    for account in (Account("ann", "submit", "0"), Account("ann", "manage", "0", bot="anna")):
        refused(Refusal.FORBIDDEN, lambda account=account: people.begin("school", "b", "x", account))  # type: ignore[misc]
