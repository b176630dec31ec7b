"""The configuration of a written genome: every item that neat-python 0.92 to 2.x asks for."""

from neat_onnx.libraries.neat_python.draft import Draft

_BEGIN = """\
[NEAT]
fitness_criterion = max
fitness_threshold = 1e9
pop_size = 150
reset_on_extinction = False
no_fitness_termination = False

[DefaultGenome]
"""
_GENOME = {
    "num_hidden": "0",
    "compatibility_disjoint_coefficient": "1.0",
    "compatibility_weight_coefficient": "0.5",
    "conn_add_prob": "0.5",
    "conn_delete_prob": "0.3",
    "node_add_prob": "0.2",
    "node_delete_prob": "0.1",
    "single_structural_mutation": "false",
    "structural_mutation_surer": "default",
    "initial_connection": "full_direct",
    "enabled_default": "True",
    "enabled_mutate_rate": "0.01",
    "enabled_rate_to_true_add": "0.0",
    "enabled_rate_to_false_add": "0.0",
}
_FLOAT = {
    "init_mean": "0.0",
    "init_stdev": "1.0",
    "init_type": "gaussian",
    "mutate_power": "0.5",
    "mutate_rate": "0.5",
    "replace_rate": "0.05",
}
_RESPONSE = {"init_mean": "1.0", "init_stdev": "0.0", "mutate_power": "0.0", "mutate_rate": "0.0"}
_END = """
[DefaultSpeciesSet]
compatibility_threshold = {threshold}

[DefaultStagnation]
species_fitness_func = max
max_stagnation = 20
species_elitism = 2

[DefaultReproduction]
elitism = 2
survival_threshold = 0.2
min_species_size = 2
"""
_SPIKING_THRESHOLD = 12.0
"""The numbers of spiking nodes are large: with 3.0 nearly each genome is a species, which 2.1
refuses."""


def ini_text(draft: Draft) -> str:
    """Return the configuration of a genome: its shape and functions, and usual rates of mutation.

    Args:
        draft: the genes.

    Returns:
        INI text that `neat.Config` reads, with `neat.DefaultGenome` and the default classes.
    """
    spiking = draft.timed == "iznn"
    items = {
        "num_inputs": str(len(draft.inputs)),
        "num_outputs": str(len(draft.outputs)),
        "feed_forward": str(draft.feed_forward),
        **_GENOME,
    }
    items |= _numbers(draft)
    for name in () if spiking else ("activation", "aggregation"):
        options = sorted({getattr(node, name) for node in draft.nodes})
        items |= {
            f"{name}_default": options[0],
            f"{name}_mutate_rate": "0.05" if len(options) > 1 else "0.0",
            f"{name}_options": " ".join(options),
        }
    lines = "".join(f"{key} = {value}\n" for key, value in items.items())
    begin = _BEGIN.replace("DefaultGenome", "IZGenome") if spiking else _BEGIN
    return begin + lines + _END.format(threshold=_SPIKING_THRESHOLD if spiking else 3.0)


def _numbers(draft: Draft) -> dict[str, str]:
    """The settings of genes that are numbers, with bounds that hold the values of this genome."""
    values = {
        "bias": [node.bias for node in draft.nodes],
        "response": [node.response for node in draft.nodes],
        "weight": [gene.weight for gene in draft.connections],
    }
    items: dict[str, str] = {}
    for name, found in values.items():
        largest = max([30.0, *(2.0 * abs(value) for value in found)])
        changed = _FLOAT | (_RESPONSE | {"replace_rate": "0.0"} if name == "response" else {})
        bounds = {"max_value": repr(largest), "min_value": repr(-largest)}
        items |= {f"{name}_{key}": value for key, value in (changed | bounds).items()}
    for name in dict.fromkeys(name for node in draft.nodes for name in node.numbers):
        items |= _around(name, [node.numbers[name] for node in draft.nodes if node.numbers])
    if draft.timed == "iznn":
        items = {key: value for key, value in items.items() if not key.startswith("response")}
    return items


def _around(name: str, values: list[float]) -> dict[str, str]:
    """The settings of a number of a ctrnn or an iznn: as in this genome, and about as large."""
    low, high = min(values), max(values)
    settings = _FLOAT | {
        "init_mean": repr(sum(values) / len(values)),
        "init_stdev": "0.0",
        "mutate_power": repr(0.1 * max(abs(low), abs(high))),
        "max_value": repr(high + 0.5 * abs(high)),
        "min_value": repr(low - 0.5 * abs(low)),
    }
    return {f"{name}_{key}": value for key, value in settings.items()}
