"""docs/gallery.md and its drawings: twelve of the page's samples.

python tests/generate/gallery.py
"""

import warnings
from collections.abc import Iterator
from pathlib import Path

import neat_onnx

ROOT = Path(__file__).absolute().parents[2]
DOCS, SAMPLES = ROOT / "docs", ROOT / "web" / "samples"
HEAD = """\
# Gallery

Twelve networks, drawn by `net.to_svg()`. *Open it* starts each in the page, \
where it is converted, proven equal and played.
"""
SHOWN = {
    "xor.json": ("XOR", "Evolved by neat-python until the four rows came out right."),
    "cppn.json": ("A CPPN", "Sines and Gaussians of two coordinates, which paint a picture."),
    "neataptic-ts-lstm.json": ("A memory cell", "The gates of an LSTM of NeatapticTS."),
    "neataptic-ts-conv.json": ("A convolution", "JSON ONNX of NeatapticTS, imported."),
    "neat-checkpoint-30": ("A population", "The best of a checkpoint of neat-python."),
    "neat-python.json": ("neat-python", "Skip connections, and many activations side by side."),
    "neataptic-ts.json": ("NeatapticTS", "A network that was mutated at random."),
    "neataptic.json": ("neataptic", "The library that NeatapticTS grew out of."),
    "synaptic.json": ("synaptic", "A perceptron."),
    "carrot.json": ("carrot", "A dense little network."),
    "wann.out": ("WANN", "Agnostic of its weights: the shape alone does the work."),
    "fann.net": ("FANN", "Layers, as libfann saves them."),
}


def files() -> Iterator[tuple[Path, str]]:
    """Each file of the gallery and its text."""
    parts = [HEAD]
    for name, (title, text) in SHOWN.items():
        stem = name.removesuffix(".json").rpartition(".")[0] or name.removesuffix(".json")
        net = network(SAMPLES / name)
        facts = f"{len(net)} neurons, {len(net.connections)} connections"
        parts.append(
            f"\n## {title}\n\n{text} {facts}{', with memory' if net.has_memory else ''}. "
            f'<a href="../index.html#sample={stem}">Open it</a>\n\n![{title}](gallery/{stem}.svg)\n'
        )
        yield DOCS / "gallery" / f"{stem}.svg", net.to_svg()
    yield DOCS / "gallery.md", "".join(parts)


def network(path: Path) -> neat_onnx.Network:
    """The network in a sample; what a document of NeatapticTS had repaired is no concern here."""
    with warnings.catch_warnings(action="ignore", category=neat_onnx.NeatOnnxWarning):
        if "conv" in path.name:
            return neat_onnx.import_model(path)
        return next(iter(neat_onnx.load_networks(path).values()))


def main() -> None:
    for path, text in files():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
