"""The configuration of a written genome, for 0.92 to 2.x: usual rates, or the user's own.

Of the user's, each rate and option is kept. It is changed where the network needs it, and completed
where a version of neat-python would refuse it: up to 0.92 many items may be left out, from 1.0 on
none of these.
"""

import configparser
import io

from neat_onnx.errors import DocumentError, OptionError, warn
from neat_onnx.libraries.neat_python.genes import Genes
from neat_onnx.libraries.neat_python.settings import EXPONENTIAL, NEWER, Version

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


def ini_text(genes: Genes) -> str:
    """Return the configuration of a genome: its shape, functions, and usual rates of mutation."""
    spiking = genes.kind == "iznn"
    items = {
        "num_inputs": str(len(genes.inputs)),
        "num_outputs": str(len(genes.outputs)),
        "feed_forward": str(genes.kind == "feedforward"),
        **_GENOME,
    }
    items |= _numbers(genes)
    for name in () if spiking else ("activation", "aggregation"):
        options = sorted({getattr(node, name).name for node in genes.nodes})
        items |= {
            f"{name}_default": options[0],
            f"{name}_mutate_rate": "0.05" if len(options) > 1 else "0.0",
            f"{name}_options": " ".join(options),
        }
    lines = "".join(f"{key} = {value}\n" for key, value in items.items())
    begin = _BEGIN.replace("DefaultGenome", "IZGenome") if spiking else _BEGIN
    return begin + lines + _END.format(threshold=_SPIKING_THRESHOLD if spiking else 3.0)


def _numbers(genes: Genes) -> dict[str, str]:
    """The settings of genes that are numbers, with bounds that hold the values of this genome."""
    values = {
        "bias": [node.bias for node in genes.nodes],
        "response": [node.response for node in genes.nodes],
        "weight": [gene.weight for gene in genes.connections],
    }
    items: dict[str, str] = {}
    for name, found in values.items():
        largest = max([30.0, *(2.0 * abs(value) for value in found)])
        changed = _FLOAT | (_RESPONSE | {"replace_rate": "0.0"} if name == "response" else {})
        bounds = {"max_value": repr(largest), "min_value": repr(-largest)}
        items |= {f"{name}_{key}": value for key, value in (changed | bounds).items()}
    for name in dict.fromkeys(name for node in genes.nodes for name in node.numbers):
        items |= _around(name, [node.numbers[name] for node in genes.nodes if node.numbers])
    if genes.kind == "iznn":
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


_NUMBERS = {f"{name}_init_type": "gaussian" for name in ("bias", "response", "weight")}
_DEFAULTS = {
    "NEAT": {"no_fitness_termination": "False"},
    "DefaultGenome": {
        "single_structural_mutation": "false",
        "structural_mutation_surer": "default",
        "initial_connection": "unconnected",
        "enabled_rate_to_true_add": "0.0",
        "enabled_rate_to_false_add": "0.0",
        "activation_default": "random",
        "aggregation_default": "random",
        **_NUMBERS,
    },
    "DefaultStagnation": {
        "species_fitness_func": "mean",
        "max_stagnation": "15",
        "species_elitism": "0",
    },
    "DefaultReproduction": {
        "elitism": "0",
        "survival_threshold": "0.2",
        "min_species_size": "1",  # 0.92 takes 2, with which newer ones refuse many small species
    },
}
"""The values that neat-python takes for items that are left out."""
_CAME_WITH: dict[Version, dict[str, tuple[str, ...]]] = {
    NEWER: {"NEAT": ("seed",)},
    EXPONENTIAL: {
        "DefaultReproduction": (
            *("fitness_sharing", "spawn_method", "interspecies_crossover_prob"),
        ),
        "DefaultSpeciesSet": (
            *("target_num_species", "threshold_adjust_rate", "threshold_min", "threshold_max"),
        ),
    },
}
"""Items that older versions refuse."""


def ini_of_user(text: str, genes: Genes, version: Version | None) -> str:
    """Return a user's configuration, fitted to a genome and to a version of neat-python.

    Without a version it is a text that all versions read, but for items of newer ones that it has.
    """
    ini = configparser.RawConfigParser()
    try:
        ini.read_string(text)
        (section, *_) = [name for name in ini.sections() if ini.has_option(name, "num_inputs")]
    except (configparser.Error, ValueError) as error:
        what = f"not a configuration of neat-python: {' '.join(str(error).split())}"
        raise DocumentError(what, where="config") from None
    changes: list[str] = []
    section = _renamed(ini, section, genes, changes)
    _fit(ini, section, genes, changes)
    added = _completed(ini, section, genes)
    for since, sections in _CAME_WITH.items():
        for place, keys in sections.items() if version is not None and version < since else ():
            gone = [key for key in keys if ini.remove_option(place, key)]
            changes += [f"{key} left out, which came with {since[0]}.{since[1]}" for key in gone]
    if changes:
        warn(f"changed in the configuration: {'; '.join(changes)}")
    if added:
        warn(
            "added to the configuration, as neat-python 1.0 and newer ask for them: "
            + ", ".join(added)
        )
    written = io.StringIO()
    ini.write(written)
    return written.getvalue()


def _completed(ini: configparser.RawConfigParser, section: str, genes: Genes) -> list[str]:
    """Add the items that newer versions ask for, and return them."""
    added = []
    for name, items in _DEFAULTS.items():
        place = section if name == "DefaultGenome" else name
        if not ini.has_section(place):
            ini.add_section(place)
        for key, value in items.items():
            if not ini.has_option(place, key) and not (genes.kind == "iznn" and place == section):
                ini.set(place, key, value)
                added.append(f"{key} = {value}")
    return added


def _renamed(
    ini: configparser.RawConfigParser, section: str, genes: Genes, changes: list[str]
) -> str:
    """The section of the genome, under the name that its class has."""
    wanted = "IZGenome" if genes.kind == "iznn" else "DefaultGenome"
    if (wanted == "IZGenome") != ini.has_option(section, "a_init_mean"):
        raise OptionError(
            f"this is not the configuration of a {wanted}",
            where="config",
            hint="Leave config out, and one is written with usual rates",
        )
    if section != wanted:
        ini.add_section(wanted)
        for key, value in ini.items(section):
            ini.set(wanted, key, value)
        ini.remove_section(section)
        changes.append(f"[{section}] is [{wanted}]")
    return wanted


def _fit(ini: configparser.RawConfigParser, section: str, genes: Genes, changes: list[str]) -> None:
    """Set the counts, the kind of network and the options of functions where they do not fit."""

    def change(key: str, value: str) -> None:
        before = ini.get(section, key, fallback="")
        if before.lower() != value.lower():
            ini.set(section, key, value)
            changes.append(f"{key} {before} is {value}")

    change("num_inputs", str(len(genes.inputs)))
    change("num_outputs", str(len(genes.outputs)))
    if not _is_either(genes):
        change("feed_forward", str(genes.kind == "feedforward"))
    for name in () if genes.kind == "iznn" else ("activation", "aggregation"):
        default = ini.get(section, f"{name}_default", fallback="random")
        own = ini.get(section, f"{name}_options", fallback="").split()
        used = sorted({getattr(node, name).name for node in genes.nodes})
        if default.lower() in ("none", "random"):
            change(f"{name}_default", "random")
        else:
            used = [default, *used]
        ini.set(section, f"{name}_options", " ".join(own))
        change(f"{name}_options", " ".join(dict.fromkeys([*own, *used])))
        if not ini.has_option(section, f"{name}_mutate_rate"):
            ini.set(section, f"{name}_mutate_rate", "0.0")


def _is_either(genes: Genes) -> bool:
    """Whether the genes compute the same as a feed-forward and as a recurrent network."""
    fed = {gene.target for gene in genes.connections if gene.enabled}
    inputs = set(genes.inputs)
    reads = all(gene.source in inputs for gene in genes.connections)
    return reads and all(node.key in fed for node in genes.nodes)
