"""Other forms of a converted network, for the page to save: source code, official JSON, a proof."""

from collections.abc import Callable
from typing import TypedDict

import neat_onnx
from neat_onnx.errors import DocumentError
from neat_onnx.model import Model
from neat_onnx.network.network import Network
from neat_onnx.options import ExportOptions


class Form(TypedDict):
    """A form that a network can be saved in, and the ending of its file."""

    form: str
    title: str
    suffix: str


FORMS = [
    Form(form="c", title="C source, no runtime", suffix=".c"),
    Form(form="javascript", title="JavaScript module, no runtime", suffix=".js"),
    Form(form="python", title="Python module, no runtime", suffix=".py"),
    Form(form="protobuf", title="ONNX's official JSON", suffix=".protobuf.json"),
    Form(form="certificate", title="Certificate of the comparison", suffix=".certificate.json"),
]


def in_form(net: Network, model: Model, options: ExportOptions, form: str) -> str:
    """Return the text of a converted network in one of `FORMS`.

    Args:
        net: the network.
        model: its export.
        options: the options of the export; a certificate names them.
        form: the name of the form.

    Raises:
        DocumentError: there is no such form.
        NetworkError, OptionError: as `neat_onnx.generate_code` does.
    """
    if form not in _WRITERS:
        raise DocumentError(f"there is no form called '{form}'")
    return _WRITERS[form](net, model, options)


def _certificate(net: Network, model: Model, options: ExportOptions) -> str:
    given = options.model_dump(mode="json", exclude_defaults=True)
    return neat_onnx.certify(net, model, options=given).to_json()


_WRITERS: dict[str, Callable[[Network, Model, ExportOptions], str]] = {
    "c": lambda net, model, options: neat_onnx.generate_code(net, language="c"),
    "javascript": lambda net, model, options: neat_onnx.generate_code(net, language="javascript"),
    "python": lambda net, model, options: neat_onnx.generate_code(net, language="python"),
    "protobuf": lambda net, model, options: model.to_json(spelling="protobuf"),
    "certificate": _certificate,
}
