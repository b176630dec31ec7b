"""The form of models that networks have that were not imported."""

from typing import Any

from neat_onnx import Model, Network, export


def usual_form(net: Network, **options: Any) -> Model:
    """The export, without metadata; embedding the network asks for it."""
    model = export(net, embed_network=True, **options)
    return model.model_copy(update={"metadata_props": []})
