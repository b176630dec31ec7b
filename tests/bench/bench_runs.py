"""Whole runs of neat-python: its own loop over genomes against a population at a time.

    python tests/bench/bench_runs.py        exits 1 if a bound is missed

A pole is balanced on a cart: 150 genomes, 4 episodes of at most 200 steps each, 40 generations.
Everything counts: reproduction and speciation, reading the genomes, the physics. Both runs have the
same seeds, and end with the same champion.
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import neat
import numpy as np
from bench_engine import Row, table

from neat_onnx import Population

GENERATIONS, MEMBERS, EPISODES, STEPS = 40, 150, 4, 200
STARTS = np.random.default_rng(0).uniform(-0.4, 0.4, (EPISODES, 4))
INI = f"""
[NEAT]
fitness_criterion = max
fitness_threshold = 1e9
pop_size = {MEMBERS}
reset_on_extinction = False
no_fitness_termination = True
[DefaultGenome]
num_inputs = 4
num_hidden = 0
num_outputs = 1
initial_connection = full_direct
feed_forward = FEED_FORWARD
compatibility_disjoint_coefficient = 1.0
compatibility_weight_coefficient = 0.6
compatibility_enable_penalty = 0.0
conn_add_prob = 0.3
conn_delete_prob = 0.1
node_add_prob = 0.3
node_delete_prob = 0.1
single_structural_mutation = False
structural_mutation_surer = False
activation_default = tanh
activation_mutate_rate = 0.05
activation_options = tanh sigmoid
aggregation_default = sum
aggregation_mutate_rate = 0.0
aggregation_options = sum
bias_init_type = gaussian
bias_init_mean = 0.0
bias_init_stdev = 1.0
bias_replace_rate = 0.1
bias_mutate_rate = 0.7
bias_mutate_power = 0.5
bias_max_value = 30.0
bias_min_value = -30.0
response_init_type = gaussian
response_init_mean = 1.0
response_init_stdev = 0.0
response_replace_rate = 0.0
response_mutate_rate = 0.0
response_mutate_power = 0.0
response_max_value = 30.0
response_min_value = -30.0
weight_init_type = gaussian
weight_init_mean = 0.0
weight_init_stdev = 1.0
weight_max_value = 30
weight_min_value = -30
weight_mutate_power = 0.5
weight_mutate_rate = 0.8
weight_replace_rate = 0.1
time_constant_init_type = gaussian
time_constant_init_mean = 1.0
time_constant_init_stdev = 0.0
time_constant_replace_rate = 0.0
time_constant_mutate_rate = 0.0
time_constant_mutate_power = 0.0
time_constant_max_value = 30.0
time_constant_min_value = 0.01
enabled_default = True
enabled_mutate_rate = 0.01
enabled_rate_to_true_add = 0.0
enabled_rate_to_false_add = 0.0
[DefaultSpeciesSet]
compatibility_threshold = 3.0
[DefaultStagnation]
species_fitness_func = max
max_stagnation = 20
species_elitism = 2
[DefaultReproduction]
elitism = 2
survival_threshold = 0.2
min_species_size = 2
"""


def moved(state: Any, force: Any, sin: Any, cos: Any) -> Any:
    """One step of cart and pole, of numbers or of arrays: (x, velocity, angle, its velocity)."""
    x, dx, angle, spin = state
    s, c = sin(angle), cos(angle)
    pushed = (force + 0.05 * spin * spin * s) / 1.1
    turn = (9.8 * s - c * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1))
    return (
        x + 0.02 * dx,
        dx + 0.02 * (pushed - 0.05 * turn * c / 1.1),
        angle + 0.02 * spin,
        spin + 0.02 * turn,
    )


def own_loop(genomes: list[Any], config: Any) -> None:
    """The fitness as neat-python's users compute it."""
    import math

    create = (
        neat.nn.FeedForwardNetwork.create
        if config.genome_config.feed_forward
        else neat.nn.RecurrentNetwork.create
    )
    for _, genome in genomes:
        net = create(genome, config)
        total = 0
        for start in STARTS.tolist():
            state = tuple(start)
            if hasattr(net, "reset"):
                net.reset()
            for _ in range(STEPS):
                force = 10.0 if net.activate(state)[0] > 0.0 else -10.0
                state = moved(state, force, math.sin, math.cos)
                if abs(state[0]) > 2.4 or abs(state[2]) > 0.6:
                    break
                total += 1
        genome.fitness = total - 0.01 * abs(state[0])


def together(genomes: list[Any], config: Any) -> None:
    """The same, all genomes and episodes at once."""
    population = Population.from_neat_python(genomes, config)
    memory = population.initial_state(EPISODES)
    state = np.repeat(STARTS.T[:, None], len(genomes), axis=1)
    balanced = np.ones(state.shape[1:], np.bool_)
    total, end = np.zeros(len(genomes)), np.zeros(len(genomes))
    for _ in range(STEPS):
        outputs, memory = population.step(np.moveaxis(state, 0, -1), memory)
        force = np.where(outputs[..., 0] > 0.0, 10.0, -10.0)
        after = np.array(moved(state, force, np.sin, np.cos))
        state = np.where(balanced, after, state)
        balanced &= (np.abs(state[0]) <= 2.4) & (np.abs(state[2]) <= 0.6)
        total += balanced.sum(axis=1)
        if not balanced.any():
            break
    end = np.abs(state[0, :, -1])
    for (_, genome), steps, place in zip(genomes, total.tolist(), end.tolist(), strict=True):
        genome.fitness = steps - 0.01 * place


def run(fitness: Callable[[list[Any], Any], None], feed_forward: bool) -> tuple[float, Any]:
    """Processor seconds of a whole run, and its champion: others may use the machine."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "config"
        path.write_text(INI.replace("FEED_FORWARD", str(feed_forward)))
        config = neat.Config(
            neat.DefaultGenome,
            neat.DefaultReproduction,
            neat.DefaultSpeciesSet,
            neat.DefaultStagnation,
            path,
        )
    random.seed(1)
    begin = time.process_time()
    champion = neat.Population(config, seed=1).run(fitness, GENERATIONS)
    return time.process_time() - begin, champion


def rows() -> list[Row]:
    found = []
    for feed_forward in (True, False):
        slow, champion = run(own_loop, feed_forward)
        fast, other = run(together, feed_forward)
        assert (champion.key, champion.fitness) == (other.key, other.fitness)
        kind = "feed-forward" if feed_forward else "recurrent"
        what = f"a whole {kind} run of neat-python, {MEMBERS} genomes × {GENERATIONS} generations"
        detail = f"{fast:.1f} s to {slow:.1f} s, champion {champion.key}"
        found.append(Row(f"{what}, times faster", slow / fast, 3, True, detail))
    return found


if __name__ == "__main__":
    sys.exit(table(rows()))
