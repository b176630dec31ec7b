"""A model whose import needs to be told something: the page asks, and the link keeps the answer."""

import onnx.parser
from site_page import open_model, write

import neat_onnx

HEAD = '<ir_version: 8, opset_import: ["": 18]>'
ALONG_THE_BATCH = f"""{HEAD} agraph (float[N, 4] x) => (y, z) <int64 k = {{0}}> {{
    a = Gather <axis = 0> (x, k)
    y = Tanh (a)
    z = NonZero (x)
}}"""


def model(text: str) -> bytes:
    return onnx.parser.parse_model(text).SerializeToString()


def imported_again(neat) -> str:
    turns = neat.turns()
    neat["import-form"].get_by_role("button", name="Import again").click()
    return neat.outcome(turns)


def test_a_refused_model_is_imported_as_the_page_proposes(neat):
    data = model(ALONG_THE_BATCH.replace("z = NonZero (x)", "z = Tanh (x)"))
    assert neat.choose("mixed.onnx", data) == "error"
    assert "Import with “No batch”" in neat.text("error")
    assert neat.page.locator("#import-batch").input_value() == "none"
    assert imported_again(neat) == "done"
    assert not neat["error"].is_visible()
    net = neat_onnx.import_model(data, batch_axis=None)
    assert neat.download("network")[1] == net.to_json().encode()
    link = neat.page.evaluate("location.hash")
    assert "import=" in link

    neat.page.locator("#import-output-0").uncheck()  # the form stands below the result as well
    assert imported_again(neat) == "done"
    net = neat_onnx.import_model(data, batch_axis=None, outputs=["z"])
    assert neat.download("network")[1] == net.to_json().encode()
    assert imported_again(neat) == "done"  # an answer stays until it is changed
    assert neat.download("network")[1] == net.to_json().encode()

    assert neat.choose("other.json", net.to_json().encode()) == "done"
    assert not neat["import-form"].is_visible()
    assert neat.follow(link) == "done"
    assert neat.page.locator("#import-batch").input_value() == "none"


def test_outputs_that_can_be_imported_are_chosen(neat):
    assert (
        neat.choose(
            "partly.onnx", model(ALONG_THE_BATCH.replace("Gather <axis = 0> (x, k)", "Tanh (x)"))
        )
        == "error"
    )
    assert "Other outputs can be imported: y" in neat.text("error")
    checked = [neat.page.locator(f"#import-output-{place}").is_checked() for place in range(2)]
    assert checked == [True, False]
    assert imported_again(neat) == "done"


def test_axes_of_no_fixed_size_are_given_one(neat):
    data = open_model()
    assert neat.choose("open.onnx", data) == "error"
    assert "x: N × 16 × 16" in neat.text("error")
    field = neat.page.locator("#import-axes-0")
    assert field.input_value() == "N, 16, 16"
    write(field, "N, 16, 3, 4")
    assert imported_again(neat) == "error"
    assert "shapes.x" in neat.text("error")
    assert field.input_value() == "N, 16, 3, 4"  # what was given can be mended
    write(field, "N, 2, 3")
    assert imported_again(neat) == "done"
    assert neat.text("verdict") == "passed"
    net = neat_onnx.import_model(data, shapes={"x": ("N", 2, 3)})
    assert neat.download("network")[1] == net.to_json().encode()


def test_memory_is_given_and_taken(neat):
    data = model(
        f"{HEAD} agraph (float[N, 2] x, float[N, 2] before) => (float[N, 2] y, float[N, 2] after)"
        " { after = Add (x, before) y = Tanh (after) }"
    )
    assert neat.choose("policy.onnx", data) == "done"
    assert neat.page.locator("#import-memory-1").input_value() == ""
    neat.page.locator("#import-memory-1").select_option("after")
    assert imported_again(neat) == "done"
    net = neat_onnx.import_model(data, memory={"before": "after"})
    assert net.has_memory
    assert neat.download("network")[1] == net.to_json().encode()
    assert imported_again(neat) == "done"
    assert neat.download("network")[1] == net.to_json().encode()
    neat.page.locator("#import-memory-1").select_option("")
    assert imported_again(neat) == "done"
    net = neat_onnx.import_model(data, memory={})
    assert neat.download("network")[1] == net.to_json().encode()
