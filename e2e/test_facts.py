"""What a file does not say is asked for, kept in the link, and can be changed."""

from site_page import GENOME, ROOT, write

import neat_onnx

TENSORNEAT = ROOT / "web" / "samples" / "tensorneat.json"


def test_a_genome_of_tensorneat_asks_for_its_size(neat):
    source = TENSORNEAT.read_bytes()
    assert neat.choose("net.json", source) == "asking"
    assert not neat["error"].is_visible()
    assert "How many inputs and outputs" in neat.text("facts-form")
    for name, value in {"inputs": "7", "outputs": "1"}.items():
        write(neat.page.locator(f"#{name}"), value)
    convert = neat["facts-form"].get_by_role("button", name="Convert")
    assert neat.after(convert.click) == "error"
    assert neat["error"].is_visible()
    write(neat.page.locator("#inputs"), "2")
    assert neat.after(convert.click) == "done"
    net = neat_onnx.load_network(source, inputs=2, outputs=1)
    assert neat.download("network")[1] == net.to_json().encode()
    neat.page.wait_for_url("**/#*facts=*")
    link = neat.page.evaluate("location.hash")
    assert neat.follow("#sample=tensorneat") == "done"
    assert neat.download("network") == ("tensorneat.network.json", net.to_json().encode())
    assert neat.follow(link) == "done"
    assert neat.download("network")[0] == "net.network.json"


def test_a_cyclic_genome_asks_how_often_it_is_updated(neat):
    cycle = b'<Con id="6" src="2" tgt="2" wght="-0.5" /></Connections>'
    cyclic = GENOME.replace(b"</Connections>", cycle)
    assert neat.choose("sharpneat.xml", cyclic) == "asking"
    assert "how often its library updates it" in neat.text("facts-form")
    write(neat.page.locator("#cycles"), "3")
    assert neat.after(lambda: neat.page.keyboard.press("Enter")) == "done"
    net = neat_onnx.load_network(cyclic, cycles=3)
    assert neat.download("network")[1] == net.to_json().encode()
