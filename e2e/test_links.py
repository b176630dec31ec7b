"""Addresses that bring a conversion back, and pictures of the drawing."""

from site_page import NeatPage, case, source_text

import neat_onnx


def test_back_and_forward_bring_everything_back(neat):
    for name in ("nap-net-perceptron-4", "nts-net-dag-24"):
        neat.choose(f"{name}.json", source_text(name))
        neat.page.wait_for_url(f"**name={name}*")
    for go, name in (
        (neat.page.go_back, "nap-net-perceptron-4"),
        (neat.page.go_forward, "nts-net-dag-24"),
    ):
        assert neat.after(go) == "done"
        assert neat.download("onnx")[0] == f"{name}.onnx"


def test_a_link_of_two_files_compares_them_again(neat):
    first, second = (
        neat_onnx.load_network(case(name)["source"]) for name in ("np-ff-07", "np-ff-11")
    )
    files = {"one.json": first.to_json().encode(), "two.json": second.to_json().encode()}
    assert neat.choose_all(files) == "done"
    neat.page.wait_for_url("**/#*")
    both, seen = neat.page.evaluate("location.href"), neat.text("difference")
    assert "Compared with two.json" in seen
    assert neat.choose("alone.json", first.to_json().encode()) == "done"
    assert neat.follow(both) == "done"
    assert neat.text("difference") == seen
    assert neat.download("network") == ("one.network.json", first.to_json().encode())


def test_a_broken_link_is_told(context, address):
    page = context.new_page()
    page.route("**/pyodide/**", lambda route: route.abort())  # it is told before Python is there
    neat = NeatPage(page, f"{address}/#net=!!!")
    assert neat.outcome(0) == "error"
    assert not neat["verdict"].is_visible()
    for broken in ("#net=AAAA&name=x.json", "#sample=none-such"):
        assert neat.follow(broken) == "error"
    neat.page.close()


def test_what_is_too_large_for_a_link_is_told(neat):
    wide = neat_onnx.Network.mlp([80, 80, 1], activation="tanh", seed=0)
    neat.choose("wide.json", wide.to_json().encode())
    neat.reveal("copy-link").click()
    neat.page.get_by_text("too large for a link").wait_for()
    assert "#" not in neat.page.url


def test_pictures_are_saved(neat):
    neat.given_case("nap-net-perceptron-4")
    for kind, begin in (("svg", b"<svg "), ("png", b"\x89PNG")):
        name, data = neat.saved(f"save-{kind}")
        assert name == f"nap-net-perceptron-4.{kind}"
        assert data.startswith(begin)
