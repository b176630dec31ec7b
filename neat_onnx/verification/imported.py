"""A quick check of an import: the network's outputs against the model's."""

from neat_onnx.errors import ModelError
from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.verification.compare import compare

_SAMPLES = 8


def check_import(net: Network, model: Model) -> None:
    """Compare an imported network with its model on a few samples, by onnx's reference evaluator.

    Args:
        net: the imported network.
        model: the model as it was lifted, repairs included.

    Raises:
        ModelError: they differ, or the reference evaluator does not run the model.
    """
    report = compare(net, model, samples=_SAMPLES, seed=0, runtime="reference", long=False)
    if not report.passed:
        raise ModelError(
            f"the imported network does not compute what the model does: {report}",
            where=report.first_error,
            hint="The model has something that import takes for something else: please report it",
        )
