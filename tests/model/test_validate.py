import pytest
from sample_models import mlp, node

from neat_onnx.errors import DocumentError, ModelError, OptionError
from neat_onnx.model import Tensor, ValueInfo, validate
from neat_onnx.model.wiring import require_wiring


def changed(*, nodes=None, outputs=None, more=(), tensors=(), inputs=(), bare=False):
    """The sound model with something else in its graph."""
    model = mlp()
    graph = model.graph
    graph.node = [*(graph.node if nodes is None else nodes), *more]
    graph.outputs = graph.outputs if outputs is None else outputs
    graph.initializer = [*(() if bare else graph.initializer), *tensors]
    graph.inputs = [*graph.inputs, *inputs]
    return model


def found(model, profile="sonnx"):
    return [(finding.code, finding.where) for finding in validate(model, profile)]


def test_a_sound_model_has_no_findings():
    assert validate(mlp()) == []
    assert validate(mlp().to_json()) == []
    assert validate(mlp().to_bytes()) == []


def test_c3_the_graph_is_acyclic():
    loop = [
        node("Add", ["input", "b"], ["a"]),
        node("Tanh", ["a"], ["b"]),
        node("Relu", ["b"], ["output"]),
    ]
    model = changed(nodes=loop)
    model.graph.initializer = []
    (finding,) = validate(model, "sonnx")
    assert (finding.code, finding.where) == ("C3", "add_1 (Add)")
    assert "tanh_1 (Tanh)" in finding.message
    with pytest.raises(ModelError, match="a cycle of nodes"):
        require_wiring(model.graph)


def test_onnx_findings_come_from_the_checker_with_shapes():
    model = mlp()
    model.graph.initializer[0] = Tensor.of("W0", [[0.1, 0.2, 0.3]])  # 3 columns for 2 inputs
    (finding,) = validate(model, "onnx")
    assert (finding.code, finding.where) == ("onnx", "gemm_1")
    assert finding.message.isprintable()
    assert validate(model, "sonnx") == []


def test_onnx_findings_tell_overflow_as_export_does():
    (finding,) = validate(mlp([[1e300, 0]]), "onnx")
    assert "too large for float32" in finding.message


def test_schema_findings_for_a_document_and_for_a_model():
    document = mlp().to_document()
    document["graph"]["node"][0]["attributes"].append({"name": "gamma", "type": "FLOAT", "f": 1.0})
    (finding,) = validate(document, "sonnx")
    assert (finding.code, finding.where) == ("schema", "graph.node[0].attributes")
    assert "unknown attribute 'gamma'" in finding.message
    assert "alpha" in finding.hint
    model = mlp()
    model.graph.node[0].input = ["input"]
    (finding,) = validate(model)
    assert "has 1 inputs, expected 2 to 3" in finding.message


def test_what_is_no_document_or_no_profile_is_an_error():
    with pytest.raises(DocumentError):
        validate("{")
    with pytest.raises(OptionError, match="profile is 'strict', expected"):
        validate(mlp(), "strict")


@pytest.mark.parametrize(("mode", "codes"), [("0", []), ("1", ["deterministic"])])
def test_a_dropout_that_trains_is_random(mode, codes):
    text = f"""<ir_version: 8, opset_import: ["": 18]>
g (float[N] x) => (float[N] y) <bool t = {{{mode}}}> {{ y = Dropout (x, , t) }}"""
    assert [code for code, _ in found(text.encode())] == codes


def test_functions_that_call_each_other_too_deeply_are_refused():
    """onnx's inliner has an exception of its own for that."""
    calls = "".join(
        f'<domain: "own", opset_import: ["own": 1]>\nf{k} (a) => (b) {{ b = own.f{k + 1} (a) }}\n'
        for k in range(1_500)
    )
    last = '<domain: "own", opset_import: ["": 18]>\nf1500 (a) => (b) { b = Relu (a) }'
    text = f"""<ir_version: 8, opset_import: ["": 18, "own": 1]>
g (float[N] x) => (float[N] y) {{ y = own.f0 (x) }}
{calls}{last}"""
    ((code, _),) = found(text.encode())
    assert code == "schema"


def _again() -> bytes:
    return b"""<ir_version: 8, opset_import: ["": 18]>
g (float[N] x, bool c) => (float[N] y) {
    y = If (c) <then_branch = branch () => (float[N] z) { q = Abs (x) z = Neg (q) },
                else_branch = other () => (float[N] v) { q = Sin (x) v = Neg (q) }>
    w = Relu (x) q = Add (y, w) }""".replace(b"=> (float[N] y)", b"=> (float[N] q)")


EXACTLY = {
    "C1": lambda: changed(inputs=[ValueInfo.of("spare")]),
    "C2": lambda: changed(outputs=[*mlp().graph.outputs, ValueInfo.of("input")]),
    "C3": lambda: changed(nodes=mlp().graph.node[::-1]),
    "C4": lambda: changed(more=[node("Tanh", ["input"], [""])]),
    "C5": lambda: changed(nodes=[node("Add", ["input", "nowhere"], ["output"])], bare=True),
    "C6": lambda: changed(more=[node("Tanh", ["input"], ["output"])]),
    "R1": lambda: changed(more=[node("Relu", ["input"], ["unread"])]),
    "deterministic": lambda: (
        b"""<ir_version: 8, opset_import: ["": 18]>
g (float[N] x) => (float[N] y) { n = RandomNormalLike (x) y = Add (x, n) }"""
    ),
    "functions": lambda: (
        b"""<ir_version: 8, opset_import: ["": 18, "own": 1]>
g (float[N] x) => (float[N] y) { y = own.Again (x) }
<domain: "own", opset_import: ["": 18, "own": 1]>
Again (a) => (b) { b = own.Again (a) }"""
    ),
    "order": _again,
}


def test_inputs_may_be_left_out_or_have_a_default_and_nodes_of_no_order_compute():
    model = changed(inputs=[ValueInfo.of("W0")])
    assert found(model) == []
    model.graph.node[0].input[2] = ""
    assert ("R1", "B0") in found(model)
    model.graph.node.reverse()
    assert ("C3", "tanh_1 (Tanh)") in found(model)
    require_wiring(model.graph)


@pytest.mark.parametrize("code", EXACTLY)
def test_a_graph_for_each_code_that_fails_exactly_that_one(code):
    assert {each for each, _ in found(EXACTLY[code]())} == {code}
