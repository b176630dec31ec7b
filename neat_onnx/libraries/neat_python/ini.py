"""The configuration of a written genome, for 0.92 to 2.x: usual rates, or the user's own.

Of the user's, each rate and option is kept. It is changed where the network needs it, and completed
where a version of neat-python would refuse it: up to 0.92 many items may be left out, from 1.0 on
none of these.
"""

import configparser
import io

from neat_onnx.errors import OptionError, warn
from neat_onnx.libraries.neat_python import functions
from neat_onnx.libraries.neat_python.genes import KINDS, Genes
from neat_onnx.libraries.neat_python.settings import parsed_ini

_Ini = configparser.RawConfigParser
_GENOME = "DefaultGenome"
_USUAL = {
    "NEAT": {
        "fitness_criterion": "max",
        "fitness_threshold": "1e9",
        "pop_size": "150",
        "reset_on_extinction": "False",
    },
    _GENOME: {
        "num_hidden": "0",
        "compatibility_disjoint_coefficient": "1.0",
        "compatibility_weight_coefficient": "0.5",
        "conn_add_prob": "0.5",
        "conn_delete_prob": "0.3",
        "node_add_prob": "0.2",
        "node_delete_prob": "0.1",
        "initial_connection": "full_direct",
        "enabled_default": "True",
        "enabled_mutate_rate": "0.01",
    },
    "DefaultSpeciesSet": {"compatibility_threshold": "3.0"},
    "DefaultStagnation": {"species_fitness_func": "max", "max_stagnation": "20"}
    | {"species_elitism": "2"},
    "DefaultReproduction": {"elitism": "2", "min_species_size": "2"},
}
"""The configuration without the user's: the items that have no default, or another one."""
_SPIKING_THRESHOLD = "12.0"
"""The numbers of spiking nodes are large: with 3.0 nearly each genome is a species, which 2.1
refuses."""
_NUMBER = {
    "init_mean": "0.0",
    "init_stdev": "1.0",
    "mutate_power": "0.5",
    "mutate_rate": "0.5",
    "replace_rate": "0.05",
}
_CONSTANT = dict.fromkeys(("init_stdev", "mutate_power", "mutate_rate", "replace_rate"), "0.0")
_DEFAULTS = {
    "NEAT": {"no_fitness_termination": "False"},
    _GENOME: {
        "single_structural_mutation": "false",
        "structural_mutation_surer": "default",
        "initial_connection": "unconnected",
        "enabled_rate_to_true_add": "0.0",
        "enabled_rate_to_false_add": "0.0",
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


def ini_text(genes: Genes, config: tuple[str, str] | None) -> str:
    """Return the configuration of a genome, a text that all versions read.

    Args:
        genes: the genome.
        config: the user's configuration, fitted to the genome, and its place for errors; None for
            the shape and functions of the genome with usual rates.
    """
    section, changes = KINDS[genes.kind].genome.rpartition(".")[2], list[str]()
    if config is None:
        ini = _usual(genes, section)
    else:
        ini, own, _ = parsed_ini(*config)
        _rename(ini, own, section, changes)
    _fit(ini, section, genes, changes)
    added = _completed(ini, section, genes)
    if changes and config is not None:
        warn(f"changed in the configuration: {'; '.join(changes)}")
    if added and config is not None:
        warn(
            "added to the configuration, as neat-python 1.0 and newer ask for them: "
            + ", ".join(added)
        )
    written = io.StringIO()
    ini.write(written)
    return written.getvalue()


def _functions(genes: Genes) -> tuple[functions.Kind, ...]:
    """The kinds of functions that nodes have."""
    return () if genes.kind == "iznn" else functions.KINDS


def _used(genes: Genes, kind: functions.Kind) -> list[str]:
    """The names of the functions of the nodes."""
    return sorted({getattr(node, kind).name for node in genes.nodes})


def _numbers(genes: Genes) -> dict[str, list[float]]:
    """The values of the genes that are numbers."""
    found = {
        name: [node.numbers[name] for node in genes.nodes if name in node.numbers]
        for name in KINDS[genes.kind].numbers
    }
    return found | {"weight": [gene.weight for gene in genes.connections]}


def _usual(genes: Genes, section: str) -> _Ini:
    """A configuration of usual rates, with bounds that hold the values of this genome."""
    ini = _Ini()
    ini.read_dict({section if name == _GENOME else name: items for name, items in _USUAL.items()})
    if genes.kind == "iznn":
        ini.set("DefaultSpeciesSet", "compatibility_threshold", _SPIKING_THRESHOLD)
    for kind in _functions(genes):
        used = _used(genes, kind)
        ini.set(section, f"{kind}_default", used[0])
        ini.set(section, f"{kind}_mutate_rate", "0.05" if len(used) > 1 else "0.0")
    for name, values in _numbers(genes).items():
        items, least, most = dict(_NUMBER), min(values, default=0.0), max(values, default=0.0)
        size = max(-least, most)
        if name in ("bias", "response", "weight"):
            most = max(30.0, 2.0 * size)
            least = -most
            items |= {"init_mean": "1.0"} | _CONSTANT if name == "response" else {}
        else:  # about as large as in this genome
            items |= {"init_mean": repr(sum(values) / len(values)), "init_stdev": "0.0"}
            items |= {"mutate_power": repr(0.1 * size)}
            least, most = least - 0.5 * abs(least), most + 0.5 * abs(most)
        for key, value in (items | {"max_value": repr(most), "min_value": repr(least)}).items():
            ini.set(section, f"{name}_{key}", value)
    return ini


def _rename(ini: _Ini, own: str, wanted: str, changes: list[str]) -> None:
    """Give the section of the genome the name of its class."""
    if (wanted == "IZGenome") != ini.has_option(own, "a_init_mean"):
        raise OptionError(
            f"this is not the configuration of a {wanted}",
            where="config",
            hint="Leave config out, and one is written with usual rates",
        )
    if own != wanted:
        ini.read_dict({wanted: dict(ini.items(own))})
        ini.remove_section(own)
        changes.append(f"[{own}] is [{wanted}]")


def _fit(ini: _Ini, section: str, genes: Genes, changes: list[str]) -> None:
    """Set the counts, the kind of network and the options of functions where they do not fit."""

    def change(key: str, value: str) -> None:
        before = ini.get(section, key, fallback="")
        if before.lower() != value.lower():
            ini.set(section, key, value)
            changes.append(f"{key} {before} is {value}")

    change("num_inputs", str(len(genes.inputs)))
    change("num_outputs", str(len(genes.outputs)))
    if not ini.has_option(section, "feed_forward") or not _is_either(genes):
        change("feed_forward", str(genes.kind == "feedforward"))
    for kind in _functions(genes):
        default = ini.get(section, f"{kind}_default", fallback="random")
        own = ini.get(section, f"{kind}_options", fallback="").split()
        used = _used(genes, kind)
        if default.lower() in ("none", "random"):
            change(f"{kind}_default", "random")
        else:
            used = [default, *used]
        ini.set(section, f"{kind}_options", " ".join(own))
        change(f"{kind}_options", " ".join(dict.fromkeys([*own, *used])))
        if not ini.has_option(section, f"{kind}_mutate_rate"):
            ini.set(section, f"{kind}_mutate_rate", "0.0")


def _completed(ini: _Ini, section: str, genes: Genes) -> list[str]:
    """Add the items that newer versions ask for, and return them."""
    added = []
    of_genome = {f"{name}_init_type": "gaussian" for name in _numbers(genes)}
    of_genome |= _DEFAULTS[_GENOME]
    for name, items in (_DEFAULTS | {_GENOME: of_genome}).items():
        place = section if name == _GENOME else name
        if not ini.has_section(place):
            ini.add_section(place)
        for key, value in items.items():
            if not ini.has_option(place, key):
                ini.set(place, key, value)
                added.append(f"{key} = {value}")
    return added


def _is_either(genes: Genes) -> bool:
    """Whether the genes compute the same as a feed-forward and as a recurrent network."""
    inputs, fed = set(genes.inputs), genes.fed()
    reads = all(gene.source in inputs for gene in genes.connections)
    return reads and all(node.key in fed for node in genes.nodes)
