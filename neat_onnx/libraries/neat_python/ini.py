"""The configuration of a written genome, for 0.92 to 2.x: usual rates, or the user's own.

Of the user's, each rate and option is kept. It is changed where the network needs it, and completed
where a version of neat-python would refuse it: up to 0.92 many items may be left out, from 1.0 on
none of these.
"""

import configparser
import io

from neat_onnx.errors import OptionError, warn
from neat_onnx.libraries.neat_python.functions import Role
from neat_onnx.libraries.neat_python.genes import KINDS, Genes
from neat_onnx.libraries.neat_python.settings import parsed_ini

_Ini = configparser.RawConfigParser
_GENOME = "DefaultGenome"
_ITEMS: dict[str, dict[str, tuple[str, str | None]]] = {
    "NEAT": {
        "fitness_criterion": ("max", None),
        "fitness_threshold": ("1e9", None),
        "pop_size": ("150", None),
        "reset_on_extinction": ("False", None),
        "no_fitness_termination": ("False", "False"),
    },
    _GENOME: {
        "num_hidden": ("0", None),
        "compatibility_disjoint_coefficient": ("1.0", None),
        "compatibility_weight_coefficient": ("0.5", None),
        "conn_add_prob": ("0.5", None),
        "conn_delete_prob": ("0.3", None),
        "node_add_prob": ("0.2", None),
        "node_delete_prob": ("0.1", None),
        "single_structural_mutation": ("false", "false"),
        "structural_mutation_surer": ("default", "default"),
        "initial_connection": ("full_direct", "unconnected"),
        "enabled_default": ("True", None),
        "enabled_mutate_rate": ("0.01", None),
        "enabled_rate_to_true_add": ("0.0", "0.0"),
        "enabled_rate_to_false_add": ("0.0", "0.0"),
    },
    "DefaultSpeciesSet": {"compatibility_threshold": ("3.0", None)},
    "DefaultStagnation": {
        "species_fitness_func": ("max", "mean"),
        "max_stagnation": ("20", "15"),
        "species_elitism": ("2", "0"),
    },
    "DefaultReproduction": {
        "elitism": ("2", "0"),
        "survival_threshold": ("0.2", "0.2"),
        "min_species_size": ("2", "1"),  # 2 in 0.92; newer ones refuse many small species with it
    },
}
"""The usual value of each item, and the one that neat-python takes where it is left out."""
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


def _used(genes: Genes, kind: Role) -> list[str]:
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
    for place, items in _ITEMS.items():
        usual = {key: value for key, (value, _) in items.items()}
        ini.read_dict({section if place == _GENOME else place: usual})
    if genes.kind == "iznn":
        ini.set("DefaultSpeciesSet", "compatibility_threshold", _SPIKING_THRESHOLD)
    for kind in KINDS[genes.kind].functions:
        used = _used(genes, kind)
        ini.set(section, f"{kind}_default", used[0])
        ini.set(section, f"{kind}_mutate_rate", "0.05" if len(used) > 1 else "0.0")
    for name, values in _numbers(genes).items():
        rates, least, most = dict(_NUMBER), min(values, default=0.0), max(values, default=0.0)
        size = max(-least, most)
        if name in ("bias", "response", "weight"):
            most = max(30.0, 2.0 * size)
            least = -most
            rates |= {"init_mean": "1.0"} | _CONSTANT if name == "response" else {}
        else:  # about as large as in this genome
            rates |= {"init_mean": repr(sum(values) / len(values)), "init_stdev": "0.0"}
            rates |= {"mutate_power": repr(0.1 * size)}
            least, most = least - 0.5 * abs(least), most + 0.5 * abs(most)
        for key, value in (rates | {"max_value": repr(most), "min_value": repr(least)}).items():
            ini.set(section, f"{name}_{key}", value)
    return ini


def _rename(ini: _Ini, own: str, wanted: str, changes: list[str]) -> None:
    """Give the section of the genome the name of its class."""
    if (wanted == "IZGenome") != ini.has_option(own, "a_init_mean"):
        hint = "Leave config out, and one is written with usual rates"
        raise OptionError(f"this is not the configuration of a {wanted}", where="config", hint=hint)
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
    for kind in KINDS[genes.kind].functions:
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
    types = {f"{name}_init_type": ("gaussian", "gaussian") for name in _numbers(genes)}
    for name, items in _ITEMS.items():
        place, more = (section, types) if name == _GENOME else (name, {})
        if not ini.has_section(place):
            ini.add_section(place)
        for key, (_, default) in (items | more).items():
            if default is not None and not ini.has_option(place, key):
                ini.set(place, key, default)
                added.append(f"{key} = {default}")
    return added


def _is_either(genes: Genes) -> bool:
    """Whether the genes compute the same as a feed-forward and as a recurrent network."""
    inputs, fed = set(genes.inputs), genes.fed()
    reads = all(gene.source in inputs for gene in genes.connections)
    return reads and all(node.key in fed for node in genes.nodes)
