"""Playing sequences in onnxruntime, the states carried by hand, as a user would."""

import json
from typing import Any

import numpy as np
from support.examples.cases import Case
from support.harness.sessions import open_session

from neat_onnx import Model


def sequences(case: Case) -> tuple[Any, Any, Any, Any]:
    """Inputs, outputs and both tolerances as (T, N, …): one sequence, or many of one step."""
    axis = 1 if case.sequence else 0
    arrays = (case.inputs, case.outputs, case.tolerance32, case.tolerance64)
    return tuple(np.expand_dims(array, axis) for array in arrays)  # type: ignore[return-value]


def played(model: Model, x: Any) -> Any:
    """What onnxruntime gives for (T, N, I), from the initial state."""
    session = open_session(model)
    element = np.float32 if session.get_inputs()[0].type == "tensor(float)" else np.float64
    names = [output.name for output in session.get_outputs()]
    if len(session.get_inputs()[0].shape) == 3:
        return session.run(["output"], {"input": x.astype(element)})[0]
    pairs = json.loads(model.metadata.get("neat_onnx.state", "[]"))
    initial = json.loads(model.metadata.get("neat_onnx.initial_state", "{}"))
    widths = {entry.name: entry.shape[1] for entry in session.get_inputs()}
    state = {
        name: np.tile(initial.get(name, np.zeros(widths[name])), (x.shape[1], 1)).astype(element)
        for name, _ in pairs
    }
    outputs = []
    for step in x.astype(element):
        results = dict(zip(names, session.run(names, {"input": step, **state}), strict=True))
        state = {name: results[following] for name, following in pairs}
        outputs.append(results["output"])
    return np.array(outputs, np.float64)
