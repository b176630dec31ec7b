"""The visits of one browser, from its first: what each fetches, and where Python goes on from.

A visit whose file came early keeps no snapshot of Python; the next without one does, and later
visits go on from there, until it does not fit.
"""

import time
from typing import Any

from site_page import GENOME, KEPT, NeatPage, case, source_text

import neat_onnx

PACKAGES = """performance.getEntriesByType("resource")
  .filter(({ name }) => name.includes("/packages/"))
  .map(({ name, transferSize }) => [name, transferSize])"""
WATCH = """
window.shown = [];
document.addEventListener("DOMContentLoaded", () => {
  const look = () => {
    const bar = document.querySelector("progress");
    const stage = document.querySelector("#progress span")?.textContent;
    if (bar && document.body.dataset.state === "loading") shown.push([stage, bar.value]);
    requestAnimationFrame(look);
  };
  look();
});"""
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

GIVEN_UP = """async () => {
    const [name] = (await caches.keys()).filter((each) => each.includes("snapshot"));
    return (await (await caches.open(name)).matchAll()).map(({ status }) => status);
}"""


def test_visits_of_one_browser(neat, fresh_browser, address):
    context, link = fresh_browser(), link_of_a_conversion(neat)
    first = opens_a_link(visit(context, link))
    asks_for_no_package_again_and_keeps_a_snapshot(visit(context, address), first)
    goes_on_and_computes_the_same(visit(context, address))
    starts_anew(visit(context, address))


def visit(context, url: str) -> NeatPage:
    """A page at an address that watches its own progress."""
    page = context.new_page()
    page.add_init_script(WATCH)
    return NeatPage(page, url)


def link_of_a_conversion(neat: NeatPage) -> str:
    """The address of the shared page after a network was exported in float64."""
    neat.choose("winner.json", source_text("nts-net-dag-24"))
    neat.page.locator("#option-dtype").select_option("float64")
    turns = neat.turns()
    neat["export-button"].click()
    assert neat.outcome(turns) == "done"
    neat.page.wait_for_url("**options=*")
    return neat.page.evaluate("location.href")


def opens_a_link(neat: NeatPage) -> dict[str, int]:
    """A link opens the same genome in a browser that has seen nothing; gives what was fetched."""
    assert neat.outcome(0) == "done"
    assert_growing(neat.page.evaluate("shown"))
    net = neat_onnx.load_network(case("nts-net-dag-24")["source"])
    assert neat.download("network") == ("winner.network.json", net.to_json().encode())
    assert neat.download("onnx")[1] == neat_onnx.export(net, dtype="float64").to_bytes()
    assert neat.page.locator("#option-dtype").input_value() == "float64"
    sizes = dict(neat.page.evaluate(PACKAGES))
    assert all(size > 0 for size in sizes.values())
    assert snapshots(neat, 0) == 0
    assert neat.complaints == []
    neat.page.close()
    return sizes


def asks_for_no_package_again_and_keeps_a_snapshot(neat: NeatPage, sizes: dict[str, int]) -> None:
    assert "wentOn" not in start_of(neat)  # from memory with somebody's network in it
    assert snapshots(neat, 1) == 1
    again = dict(neat.page.evaluate(PACKAGES))
    assert set(again) >= {name for name in sizes if "numpy" in name}
    assert set(again.values()) == {0}
    assert neat.complaints == []
    neat.page.close()


def goes_on_and_computes_the_same(neat: NeatPage) -> None:
    """The snapshot is then changed, as if a library came to lie elsewhere."""
    assert start_of(neat)["wentOn"]
    files = {"winner.json": source_text("nts-net-lstm-2"), "genome.xml": GENOME}
    for name, data in files.items():  # the parser of the second is fetched only now
        assert neat.choose(name, data) == "done"
        assert neat.text("verdict") == "passed"
        model = neat_onnx.export(neat_onnx.load_network(data))
        assert neat.download("onnx")[1] == model.to_bytes()
    assert neat.complaints == []
    neat.page.evaluate(MOVED)
    neat.page.close()


def starts_anew(neat: NeatPage) -> None:
    assert neat.page.get_attribute("body", "data-state") == "loading"
    assert neat.choose("early.json", source_text("nap-net-perceptron-4")) == "done"
    assert neat.text("verdict") == "passed"  # another worker has answered
    assert "wentOn" not in start_of(neat)
    (complaint,) = neat.complaints
    assert "Python starts anew: PyInit__multiarray_umath is at" in complaint
    assert snapshots(neat, 0) == 0
    assert neat.page.evaluate(GIVEN_UP) == [410]  # which keeps the next visit from trying again
    neat.page.close()


def snapshots(neat: NeatPage, wanted: int) -> int:
    """The number of snapshots that the browser keeps, once it is as wanted, or a minute is over."""
    end = time.monotonic() + 60
    while (found := neat.page.evaluate(KEPT)) != wanted and time.monotonic() < end:
        neat.page.wait_for_timeout(100)
    return int(found)


def start_of(neat: NeatPage) -> dict[str, Any]:
    neat.wait_ready()
    return dict(neat.page.evaluate("performance.getEntriesByName('ready').at(-1).detail"))


def assert_growing(shown: list[list]) -> None:
    stages = [stage.partition(".")[0] for stage, _ in shown]
    assert stages == sorted(stages, key=["Loading Python", "Starting Python"].index)
    loading = [value for stage, value in shown if stage.startswith("Loading Python")]
    assert loading == sorted(loading)
    assert max(loading) > 0.5
