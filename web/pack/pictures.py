"""The pictures of the samples, and the network that lives on the page before Python is there."""

import base64
import json
from itertools import islice
from pathlib import Path

import neat_onnx
from neat_onnx.drawing.svg import small_multiples
from neat_onnx.page.drawing import drawing
from neat_onnx.page.plan import named_ports, plan_of

_MOST = 6  # networks of a population in its picture
LIVING = "xor"


def write(samples: Path, names: tuple[str, ...], target: Path) -> None:
    """Write samples/NAME.svg for files of samples, and living.json, into the site."""
    for name in names:
        nets = dict(islice(_networks(samples / name).items(), _MOST))
        columns = 1 if len(nets) == 1 else 3
        titled = {" " * place: net for place, net in enumerate(nets.values())}
        path = target / "samples" / f"{Path(name).stem}.svg"
        path.write_text(small_multiples(titled, columns), encoding="utf-8")
    net = neat_onnx.load_network(samples / f"{LIVING}.json")
    document, arrays = plan_of(net)
    living = {
        "drawing": drawing(net),
        "plan": document,
        "arrays": {name: base64.b64encode(data).decode() for name, data in arrays.items()},
        "ports": named_ports(net),
    }
    (target / "living.json").write_text(json.dumps(living, separators=(",", ":")))


def _networks(path: Path) -> dict[int, neat_onnx.Network]:
    content = path.read_bytes()
    document = json.loads(content) if path.suffix == ".json" else None
    if isinstance(document, dict) and "graph" in document:
        return {0: neat_onnx.import_model(neat_onnx.convert(document))}
    return neat_onnx.load_networks(content)
