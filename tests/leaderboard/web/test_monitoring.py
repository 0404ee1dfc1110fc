"""`/healthz` and `/metrics`: who is answered, and with what."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from leaderboard.web.app import make_app
from leaderboard.web.hand_ins import Scope
from leaderboard.web.metrics import Metric, text_of
from tests.leaderboard.web.ladders import Intake


@dataclass
class Watched:
    said: list[str] = field(default_factory=list)

    def problems(self) -> Sequence[str]:
        return self.said

    def metrics(self) -> Sequence[Metric]:
        return [Metric("crosstown_bots", "gauge", "Bots.", ("division",), [(('a "name"\n',), 3)])]


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture
def ladder(tmp_path: Path) -> Iterator[Intake]:
    made = Intake(tmp_path / "ladder")
    yield made
    made.store.close()


@pytest.fixture
async def client(tmp_path: Path, ladder: Intake, watched: Watched) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=make_app(tmp_path, hand_ins=ladder, monitor=watched))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as made:
        yield made


def token(ladder: Intake, owner: str, scope: Scope, *, organiser: bool) -> dict[str, str]:
    ladder.accounts.add_owner(owner, organiser=organiser)
    return {"Authorization": f"Bearer {ladder.accounts.create_token(owner, '', scope, None).secret}"}


async def test_everybody_may_ask_whether_the_ladder_is_well(client: httpx.AsyncClient, watched: Watched) -> None:
    answer = await client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "problems": []})
    watched.said.append("the process that plays does not run")
    answer = await client.get("/healthz")
    assert answer.status_code == 503
    assert answer.json() == {"status": "failing", "problems": ["the process that plays does not run"]}


async def test_metrics_are_for_organisers_and_a_token_that_only_reads_is_enough(
    client: httpx.AsyncClient, ladder: Intake
) -> None:
    assert (await client.get("/metrics")).status_code == 401
    assert (await client.get("/metrics", headers=token(ladder, "ann", "manage", organiser=False))).status_code == 403
    answer = await client.get("/metrics", headers=token(ladder, "otto", "read", organiser=True))
    assert answer.status_code == 200
    found = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert [(one.labels, one.value) for one in found["crosstown_bots"].samples] == [({"division": 'a "name"\n'}, 3)]
    assert found["crosstown_streams"].samples[0].value == 0
    assert found["process_resident_memory_bytes"].samples[0].value > 0


def test_a_counter_and_a_summary_have_the_names_that_prometheus_expects() -> None:
    text = text_of(
        [
            Metric("crosstown_faults", "counter", "Faults.", ("division", "reason"), [(("toy", "crashed"), 2)]),
            Metric("crosstown_step_seconds", "summary", "Steps.", ("step",), [(("built",), 2.5)], [4]),
        ]
    ).decode()
    assert 'crosstown_faults_total{division="toy",reason="crashed"} 2.0' in text
    assert 'crosstown_step_seconds_count{step="built"} 4.0' in text
    assert 'crosstown_step_seconds_sum{step="built"} 2.5' in text


async def test_a_server_of_runs_alone_has_neither(tmp_path: Path) -> None:
    transport = httpx.ASGITransport(app=make_app(tmp_path))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        assert (await client.get("/healthz")).status_code == 404
        assert (await client.get("/metrics")).status_code == 404
