"""Import: the network of a model, with the genome that its metadata tells of."""

from collections.abc import Sequence
from dataclasses import dataclass

from neat_onnx.errors import NeatOnnxError
from neat_onnx.libraries.neataptic_ts.onnx.repair import repaired
from neat_onnx.lifting.axes import BatchAxis
from neat_onnx.lifting.trace import Lifted, trace_model
from neat_onnx.model import Model
from neat_onnx.model.ports import is_export, with_data_inputs, with_inner_outputs
from neat_onnx.network.network import Network
from neat_onnx.network.pruning import with_weights_for_responses, without_idle


@dataclass(frozen=True)
class Imported:
    """A network, with the graph that it was read from.

    Attributes:
        network: the network; without metadata of a genome, without neurons that no output needs.
        lifted: the network of the graph alone.
        model: the model that was lifted: the given one, repaired.
        as_exported: every live gene is, bit by bit, the one that was exported.
    """

    network: Network
    lifted: Lifted
    model: Model
    as_exported: bool = False


def import_network(
    model: Model, batch_axis: BatchAxis = "auto", outputs: Sequence[str] | None = None
) -> Network:
    """Return the network of a model. See `neat_onnx.import_model`, and `imported`."""
    return imported(model, batch_axis, outputs).network


def imported(
    model: Model,
    batch_axis: BatchAxis = "auto",
    outputs: Sequence[str] | None = None,
    *,
    check: bool = False,
) -> Imported:
    """Return the network of a model, and how it came about. See `neat_onnx.import_model`."""
    model = with_inner_outputs(with_data_inputs(repaired(model)), outputs or ())
    if not is_export(model):
        lifted = trace_model(model, batch_axis, outputs, check=check)
        return Imported(genome_of_graph(lifted.network), lifted, model)
    from neat_onnx.genome.metadata import document_of, leave_out, with_genome  # noqa: PLC0415
    from neat_onnx.genome.port_hints import with_hints  # noqa: PLC0415 - other tools write none

    if (document := document_of(model)) is not None:
        lifted = trace_model(model, batch_axis, outputs, ids=document.ids)
        try:
            net, as_exported = with_genome(model, lifted, document)
        except NeatOnnxError as error:
            leave_out(error)
        else:
            if check and not as_exported:
                trace_model(model, batch_axis, outputs, check=True)
            return Imported(with_hints(net, model), lifted, model, as_exported)
    lifted = trace_model(model, batch_axis, outputs, check=check)
    return Imported(with_hints(genome_of_graph(lifted.network), model), lifted, model)


def genome_of_graph(lifted: Network) -> Network:
    """The network of a graph without metadata: no neurons that no output needs, and weights for
    responses.
    """
    return with_weights_for_responses(without_idle(lifted))
