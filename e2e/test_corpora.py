"""Every network that the libraries' own code wrote, through the page's engine: green or amber.

`make test` sends a sample of them; CORPORA=all sends every one, which takes some minutes.
"""

import json
import os
from collections import Counter

from site_page import CORPORA, case

EVERY = 12  # of the sample

SEND = """async ({ url, files }) => {
    const { Engine } = await import(new URL("engine.js", url).href);
    let failed = null;
    const engine = new Engine(({ phase, message }) => {
        if (phase === "failed") failed = message;
    });
    engine.start();
    const told = {};
    for (const { name, text, facts } of files) {
        const data = new TextEncoder().encode(text).buffer;
        const params = { name: `${name}.json`, file: `${name}.onnx`, options: {}, facts };
        told[name] = await engine.call("convert", params, data).then(
            ({ result: { report } }) => report.verdict, ({ message }) => `refused: ${message}`);
    }
    engine.end();
    return failed ?? told;
}"""


def test_recorded_networks_are_equal_in_the_page(neat, address):
    names = sorted(path.stem for path in CORPORA.glob("n*-*.json"))
    assert len(names) == 194
    if os.environ.get("CORPORA") != "all":
        names = names[::EVERY]
    files = [
        {"name": name, "text": json.dumps(case(name)["source"]), "facts": times(name)}
        for name in names
    ]
    told = neat.page.evaluate(SEND, {"url": f"{address}/", "files": files})
    print(Counter(told.values()))
    refused = {name for name, verdict in told.items() if verdict.startswith("refused")}
    contradictory = {name for name in names if "inconsistent" in case(name).get("graph_status", "")}
    assert refused == contradictory, {name: told[name] for name in refused}
    assert {*told.values()} - {told[name] for name in refused} <= {"equal", "equal within float32"}


def times(name: str) -> dict[str, float]:
    """What a person is asked for where the document does not say it."""
    advance = case(name).get("advance")
    if not advance:
        return {}
    step = advance.get("time_step", advance.get("dt_msec"))
    whole = advance.get("advance_time", step * advance.get("advances_per_row", 1))
    return {"time_step": step, "advance_time": whole}
