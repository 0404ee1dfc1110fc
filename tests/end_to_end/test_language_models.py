"""Two prompts of a language model compared by the command, with a provider of the test: what each costs."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.llm_provider import Provider, say, send

LLM = Path(__file__).resolve().parents[2] / "bots" / "bridge" / "llm"


@pytest.fixture
def provider():
    made = Provider()
    yield made
    made.close()


@pytest.mark.strict_sandbox
def test_two_prompts_are_compared_on_paired_seeds_with_the_cost_of_each(workplace, provider):
    asked = Counter()

    def reply(request):
        careful = "Think twice." in request.body["messages"][0]["content"]
        asked[careful] += 1
        if asked[careful] == 2:
            send(request, 503, "busy")
        else:
            say(request, "ACTION: 0", prompt_tokens=1000 if careful else 500, completion_tokens=10)

    provider.reply = reply
    for name in ("careful", "plain"):
        shutil.copytree(LLM, workplace.folder / "bots" / name)
        text = (workplace.folder / "bots" / name / "bot.toml").read_text()
        text = text.replace('name = "llm"', f'name = "{name}"').replace('prompt_price = "0"', 'prompt_price = "2"')
        if name == "careful":
            text = text.replace('prompt = ""', 'prompt = "careful.md"')
        (workplace.folder / "bots" / name / "bot.toml").write_text(text)
    (workplace.folder / "bots" / "careful" / "careful.md").write_text("Think twice.")
    workplace.environment |= {"OPENAI_BASE_URL": provider.address, "OPENAI_MODEL": "small", "OPENAI_API_KEY": "key"}
    grants = [word for name in workplace.environment if name.startswith("OPENAI") for word in ("--env", name)]
    times = ("--clock", "first_move_s=60", "--clock", "move_s=60", "--workers", "1")
    printed = workplace.run(
        "compare", "bots/careful", "bots/plain", "--games", "toy", "--cap", "1", "--network", *grants, *times, "--json"
    )
    found = json.loads(printed.stdout)
    assert (found["matches"], found["complete"]) == (2, True), printed.stderr
    for side, careful, tokens in (("a", True, 1000), ("b", False, 500)):
        used = found[side]["usage"]
        assert (used["matches"], used["requests"], used["provider_errors"]) == (2, asked[careful], 1)
        assert used["prompt_tokens"] == tokens * (asked[careful] - 1)
        assert used["cost_dollars"] == pytest.approx(used["prompt_tokens"] * 2 / 1e6)
    assert all(headers["Authorization"] == "Bearer key" for _, headers, _ in provider.asked)
    shown = workplace.run("standings").stdout
    assert "requests  failed  prompt tok" in shown
