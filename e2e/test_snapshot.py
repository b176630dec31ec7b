"""Later visits: Python goes on from where the first had imported everything, or starts anew."""

import time
from typing import Any

from site_page import GENOME, KEPT, NeatPage, case, source_text

import neat_onnx

MOVED = """async () => {
    const [name] = (await caches.keys()).filter((each) => each.includes("snapshot"));
    const cache = await caches.open(name);
    const [request] = await cache.keys();
    const data = new Uint8Array(await (await cache.match(request)).arrayBuffer());
    const length = new Uint32Array(data.buffer, 4, 1)[0];
    const places = data.subarray(8, 8 + length);
    const text = new TextDecoder().decode(places);
    const other = (_, most, last) => most + (last === "1" ? 2 : 1);
    const moved = text.replace(/(PyInit__multiarray_umath":\\d*)(\\d)/, other);
    if (moved === text) throw new Error("nothing was moved");
    places.set(new TextEncoder().encode(moved));
    await cache.put(request, new Response(data));
}"""


def snapshots(neat: NeatPage, wanted: int, patience: float = 60) -> int:
    """The number of snapshots that the browser keeps, once it is as wanted, or patience ends."""
    end = time.monotonic() + patience
    while (found := neat.page.evaluate(KEPT)) != wanted and time.monotonic() < end:
        neat.page.wait_for_timeout(100)
    return int(found)


def start_of(neat: NeatPage) -> dict[str, Any]:
    neat.wait_ready()
    return dict(neat.page.evaluate("performance.getEntriesByName('ready').at(-1).detail"))


def test_a_second_visit_goes_on_from_the_first_and_computes_the_same(fresh_browser, address):
    context = fresh_browser()
    first = NeatPage(context.new_page(), address)
    assert "wentOn" not in start_of(first)
    assert snapshots(first, 1) == 1
    first.page.close()

    second = NeatPage(context.new_page(), address)
    assert start_of(second)["wentOn"]
    for name in ("nts-net-lstm-2", "np-ff-19"):
        assert second.choose("winner.json", source_text(name)) == "done"
        assert second.text("verdict") == "passed"
        net = neat_onnx.load_network(case(name)["source"])
        assert second.download("onnx")[1] == neat_onnx.export(net).to_bytes()
    assert second.choose("genome.xml", GENOME) == "done"  # whose parser is fetched only now
    assert second.complaints == []
    second.page.evaluate(MOVED)
    second.page.close()

    third = NeatPage(context.new_page(), address)
    assert third.choose("early.json", source_text("nap-net-perceptron-4")) == "done"
    assert third.text("verdict") == "passed"  # another worker has answered
    assert "wentOn" not in start_of(third)
    (complaint,) = third.complaints
    assert "Python starts anew: PyInit__multiarray_umath is at" in complaint
    assert snapshots(third, 0) == 0
    third.page.close()

    fourth = NeatPage(context.new_page(), address)
    assert "wentOn" not in start_of(fourth)
    assert fourth.complaints == []  # it has not been tried again
    assert snapshots(fourth, 1, patience=5) == 0


def test_a_snapshot_holds_nobodys_network(fresh_browser, address):
    context = fresh_browser()
    neat = NeatPage(context.new_page(), address)
    assert neat.choose("early.json", source_text("nap-net-perceptron-4")) == "done"
    assert snapshots(neat, 1, patience=5) == 0
    neat.page.close()
    assert "wentOn" not in start_of(NeatPage(context.new_page(), address))
