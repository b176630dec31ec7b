"""Every network that the libraries' own code wrote, through the page's engine: green or amber.

`make test` sends a sample of them; CORPORA=all sends every one, which takes some minutes.
"""

import os
from collections import Counter

from site_page import CORPORA, NeatPage, case, source_text, write

EVERY = 24  # of the sample


def verdict(neat: NeatPage, name: str) -> str:
    """The verdict on a network, whose times are given if they are asked for."""
    outcome = neat.choose(f"{name}.json", source_text(name))
    if outcome == "asking":
        for field, value in times(name).items():
            write(neat.page.locator(f"#{field}"), repr(value))
        turns = neat.turns()
        neat["facts-form"].get_by_role("button", name="Convert").click()
        outcome = neat.outcome(turns)
    return neat.text("verdict") if outcome == "done" else f"refused: {neat.text('error')}"


def test_recorded_networks_are_equal_in_the_page(neat):
    names = sorted(path.stem for path in CORPORA.glob("n*-*.json"))
    assert len(names) == 194
    if os.environ.get("CORPORA") != "all":
        names = names[::EVERY]
    told = {name: verdict(neat, name) for name in names}
    print(Counter(told.values()))
    refused = {name for name, said in told.items() if said.startswith("refused")}
    contradictory = {name for name in names if "inconsistent" in case(name).get("graph_status", "")}
    assert refused == contradictory, {name: told[name] for name in refused}
    assert {*told.values()} - {told[name] for name in refused} == {"passed"}


def times(name: str) -> dict[str, float]:
    """What a person is asked for where the document does not say it."""
    advance = case(name).get("advance")
    if not advance:
        return {}
    step = advance.get("time_step", advance.get("dt_msec"))
    whole = advance.get("advance_time", step * advance.get("advances_per_row", 1))
    return {"time_step": step, "advance_time": whole}
