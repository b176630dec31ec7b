"""Genomes in neat-python's own code, of whichever version is imported.

    python neat_python_judge.py < tasks > answers

The first line of the output is the version. A line of the input is {genome, config, inputs,
sequence, advance}: a pickle in base64, the text of its configuration, rows (steps, or independent
samples), and for a ctrnn the advances of a row in time steps, for an iznn their number and the time
step. A line of the output is {outputs} or {error}; numbers that are not finite are texts.
"""

import base64
import json
import math
import pickle
import sys
import tempfile
from pathlib import Path
from typing import Any

import neat

KINDS = neat.DefaultReproduction, neat.DefaultSpeciesSet, neat.DefaultStagnation


def loaded(task: dict[str, Any]) -> tuple[Any, Any]:
    """The genome and its configuration."""
    genome = pickle.loads(base64.b64decode(task["genome"]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "winner.ini")
        path.write_text(task["config"], encoding="utf-8")
        return genome, neat.Config(type(genome), *KINDS, str(path))


def played(task: dict[str, Any]) -> list[Any]:
    """The outputs of each row."""
    genome, config = loaded(task)
    rows, advance = task["inputs"], task["advance"]
    if advance is None:
        return in_steps(genome, config, rows, task["sequence"])
    if len(advance) == 1:
        network = neat.ctrnn.CTRNN.create(genome, config)
        return [network.advance(row, *advance, 1.0) for row in rows]
    count, step = advance
    network, outputs = neat.iznn.IZNN.create(genome, config), []
    network.reset()
    for row in rows:
        network.set_inputs(row)
        outputs.append([network.advance(step) for _ in range(int(count))][-1])
    return outputs


def in_steps(genome: Any, config: Any, rows: list[list[float]], sequence: bool) -> list[Any]:
    """The outputs of a feed-forward or recurrent network."""
    static = config.genome_config.feed_forward
    kind = neat.nn.FeedForwardNetwork if static else neat.nn.RecurrentNetwork
    network, outputs = kind.create(genome, config), []
    for row in rows:
        if not (static or sequence):
            network.reset()
        outputs.append(network.activate(row))
    return outputs


def answer_to(task: dict[str, Any]) -> dict[str, Any]:
    """The outputs, or the error."""
    try:
        outputs = played(task)
    except OverflowError as error:
        return {"error": f"OverflowError: {error}"}
    finite = [[value if math.isfinite(value) else str(value) for value in row] for row in outputs]
    return {"outputs": finite}


if __name__ == "__main__":
    print(neat.__version__)
    for line in sys.stdin:
        print(json.dumps(answer_to(json.loads(line))))
