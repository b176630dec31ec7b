"""Small models in the shapes that exporters give them, by name, in ONNX's own text."""

from collections.abc import Iterator

import onnx
from support.examples.texts import proto_of

Case = tuple[str, onnx.ModelProto]
ACTIVATIONS = [
    "Relu", "Tanh", "Sigmoid", "Elu", "Selu", "Softplus", "Softsign", "LeakyRelu", "HardSigmoid",
    "HardSwish", "Celu", "Mish", "Gelu", "ThresholdedRelu", "Erf", "Sin", "Cos", "Abs", "Exp",
    "Identity",
]  # fmt: skip
OPSETS = {"Mish": 18, "HardSwish": 14, "Gelu": 20}
REDUCTIONS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSumExp", "SumSquare"]


def model(
    x: str, nodes: str, constants: str = "", *, outputs: str = "float[] y", opset: int = 18
) -> onnx.ModelProto:
    """A model of an input x of these sizes; the initializers' names say theirs."""
    given = f"<{constants}>" if constants else ""
    return proto_of(f"(float[{x}] x) => ({outputs}) {given} {{ {nodes} }}", opset=opset)


def dense(x: str, y: str, sizes: tuple[int, int], form: str = "torch") -> str:
    """A dense layer as PyTorch, as TorchDynamo and as scikit-learn's converter write it."""
    into, out = sizes
    match form:
        case "torch":
            attributes = "<transB = 1, alpha = 1.0, beta = 1.0>"
            return f"{y} = Gemm {attributes} ({x}, W{y}_{out}_{into}, b{y}_{out}) "
        case "plain":
            return f"{y} = Gemm ({x}, W{y}_{into}_{out}, b{y}_{out}) "
    terms = f"m_{y}, b{y}_{out}" if form == "matmul" else f"b{y}_{out}, m_{y}"
    return f"m_{y} = MatMul ({x}, W{y}_{into}_{out}) {y} = Add ({terms}) "


def perceptrons() -> Iterator[Case]:
    """Multilayer perceptrons: every activation, every form of a layer, opsets 11 to 20."""
    for k, activation in enumerate(ACTIVATIONS):
        for form in ("torch", "plain", "matmul", "added")[k % 2 :: 2]:
            for oldest in (11, 18) if k % 2 else (13, 20):
                opset = max(oldest, OPSETS.get(activation, 0))
                into, out = dense("x", "h", (3, 4), form), dense("a", "y", (4, 2), form)
                name = f"perceptron {activation} {form} {opset}"
                yield name, model("N, 3", f"{into} a = {activation} (h) {out}", opset=opset)


def policies() -> Iterator[Case]:
    """Policies as CleanRL, stable-baselines3, ML-Agents and Godot RL shape them."""
    for n in (4, 8):
        first, last = dense("x", "h", (5, n)), dense("a", "y", (n, 2))
        yield f"CleanRL PPO {n}", model("N, 5", f"{first} a = Tanh (h) {last}")
        nodes = f"""f = Flatten <axis = 1> (x) {dense("f", "h", (6, n))} a = Tanh (h)
            {dense("a", "m", (n, 2))} y = Clip (m, low, high) {dense("a", "v", (n, 1))}"""
        bounds, ends = "float low = {-1}, float high = {1}", "float[] y, float[] v"
        yield f"sb3 {n}", model("N, 2, 3", nodes, bounds, outputs=ends)
        nodes = f"""{first} s = Sigmoid (h) a = Mul (h, s) {dense("a", "m", (n, 2))}
            c = Clip (m, low, high) y = Div (c, high)"""
        yield f"ML-Agents {n}", model("N, 5", nodes, "float low = {-3}, float high = {3}")
        nodes = f"""{first} a = Relu (h) {dense("a", "q", (n, 3))}
            i = ArgMax <axis = 1> (q) y = Cast <to = 1> (i)"""
        yield f"DQN {n}", model("N, 5", nodes)


def images() -> Iterator[Case]:
    """Convolutional networks, with pools, normalisation, groups, strides and residuals."""
    for pool in ("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool", "LpPool"):
        for pad in (0, 1):
            whole = pool.startswith("Global")
            window = "" if whole else "<kernel_shape = [2, 2], strides = [2, 2]>"
            side = 1 if whole else 2 + pad
            nodes = f"""c = Conv <pads = [{pad}, {pad}, {pad}, {pad}]> (x, w_2_1_3_3, b_2)
                r = Relu (c) p = {pool} {window} (r) f = Flatten (p)
                {dense("f", "y", (2 * side * side, 3))}"""
            yield f"{pool} {pad}", model("N, 1, 6, 6", nodes)
    for group, stride in ((1, 2), (2, 1), (2, 2), (1, 1)):
        pads, w = "pads = [1, 1, 1, 1]", f"w_2_{2 // group}_3_3"
        nodes = f"""c = Conv <group = {group}, {pads}, strides = [{stride}, {stride}]> (x, {w})
            b = BatchNormalization (c, s_2, b_2, m_2, v) y = Relu (b)"""
        yield f"batch norm {group} {stride}", model("N, 2, 4, 4", nodes, "float[2] v = {0.5, 2}")
        nodes = f"""c = Conv <{pads}> (x, v_2_2_3_3, b_2) r = Relu (c)
            d = Conv <{pads}, group = {group}> (r, {w}) s = Add (d, x) y = Relu (s)"""
        yield f"residual {group} {stride}", model(f"N, 2, {3 + stride}, 4", nodes)


def normalized() -> Iterator[Case]:
    """Normalisations, as operators and as PyTorch writes them out before opset 17."""
    for axis, sizes in ((-1, "4"), (1, "3_4")):
        nodes = f"""n = LayerNormalization <axis = {axis}> (x, s_{sizes}, b_{sizes})
            y = Gelu <approximate = "tanh"> (n)"""
        yield f"layer norm {axis}", model("N, 3, 4", nodes, opset=20)
    for opset in (11, 13, 17):
        nodes = """m = ReduceMean <axes = [-1]> (x) d = Sub (x, m) q = Pow (d, two)
            v = ReduceMean <axes = [-1]> (q) e = Add (v, small) s = Sqrt (e) n = Div (d, s)
            g = Mul (n, w_4) y = Add (g, b_4)"""
        numbers = "float two = {2}, float small = {1e-5}"
        yield f"layer norm in parts {opset}", model("N, 4", nodes, numbers, opset=opset)
    for name, call in {
        "InstanceNormalization": "(x, s_2, b_2)",
        "LpNormalization": "(x)",
        "LRN": "<size = 3> (x)",
        "MeanVarianceNormalization": "<axes = [2, 3]> (x)",
    }.items():
        yield name, model("N, 2, 3, 3", f"y = {name} {call}")
    for operator in ("Softmax", "LogSoftmax", "Hardmax"):
        for axis in (1, 2):
            yield f"{operator} {axis}", model("N, 3, 4", f"y = {operator} <axis = {axis}> (x)")
    for kind in REDUCTIONS:
        for keep in (0, 1):
            axes = f"<keepdims = {keep}> (x, i_1)"
            if kind != "Sum":
                axes = f"<axes = [1], keepdims = {keep}> (x)"
            yield f"Reduce{kind} {keep}", model("N, 3, 2", f"y = Reduce{kind} {axes}", opset=13)


def attention() -> Iterator[Case]:
    """Attention of fixed length: one head and two, masked and not, with its residual."""
    for heads in (1, 2):
        for masked in (False, True):
            for residual in (False, True):
                parts = " ".join(
                    f"{part} = MatMul (x, W{part}_4_4) {part}r = Reshape ({part}, heads) "
                    f"{part}t = Transpose <perm = [{perm}]> ({part}r)"
                    for part, perm in (
                        ("q", "0, 2, 1, 3"),
                        ("k", "0, 2, 3, 1"),
                        ("v", "0, 2, 1, 3"),
                    )
                )
                nodes = f"""{parts} s = MatMul (qt, kt) z = Mul (s, half)
                    {"n = Add (z, mask)" if masked else ""} p = Softmax ({"n" if masked else "z"})
                    o = MatMul (p, vt) t = Transpose <perm = [0, 2, 1, 3]> (o)
                    b = Reshape (t, whole) c = MatMul (b, Wo_4_4)
                    y = {"Add (c, x)" if residual else "Identity (c)"}"""
                constants = f"""int64[4] heads = {{0, 3, {heads}, {4 // heads}}},
                    int64[3] whole = {{0, 3, 4}}, float half = {{0.5}},
                    float[3, 3] mask = {{0, -inf, -inf, 0, 0, -inf, 0, 0, 0}}"""
                name = f"attention {heads}{' masked' * masked}{' residual' * residual}"
                yield name, model("N, 3, 4", nodes, constants)


def learned() -> Iterator[Case]:
    """Pipelines as scikit-learn's converter writes them, and gated layers."""
    for last in ("Softmax", "Sigmoid", "Identity", "ArgMax"):
        end = "i = ArgMax <axis = 1> (l) y = Cast <to = 1> (i)"
        for hidden in ("Relu", "Tanh"):
            nodes = f"""c = Sub (x, m_4) s = Div (c, scale) {dense("s", "h", (4, 5), "matmul")}
                a = {hidden} (h) {dense("a", "l", (5, 3), "matmul")}
                {end if last == "ArgMax" else f"y = {last} (l)"}"""
            scale = "float[4] scale = {0.5, 2, 1.5, 3}"
            yield f"scaled {hidden} {last}", model("N, 4", nodes, scale)
    for gate in ("Sigmoid", "Tanh", "Relu", "Softmax"):
        layers = dense("x", "h", (3, 4)) + dense("x", "g", (3, 4))
        yield f"gated {gate}", model("N, 3", f"{layers} a = {gate} (g) y = Mul (h, a)")


GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def cell(operator: str, x: str, into: int, hidden: int = 4) -> str:
    """A recurrent layer over [T, N, features], with the outputs Y… and Yh…."""
    rows = GATES[operator] * hidden
    reads = f"{x}, W{x}_1_{rows}_{into}, R{x}_1_{rows}_{hidden}, B{x}_1_{2 * rows}"
    after = ", linear_before_reset = 1" if operator == "GRU" else ""
    return f"Y{x}, Yh{x} = {operator} <hidden_size = {hidden}{after}> ({reads}) "


def recurrent() -> Iterator[Case]:
    """Sequences of fixed length, batch first: PyTorch's last step and all steps, Keras's state."""
    turned, last = "b = Transpose <perm = [1, 0, 2]>", "f = Gather <axis = 1> (b, last)"
    for operator in GATES:
        first = f"t = Transpose <perm = [1, 0, 2]> (x) {cell(operator, 't', 3)}"
        first += "o = Squeeze (Yt, i_1) "
        for form, rest in {
            "last": f"{turned} (o) {last}",
            "all": "f = Transpose <perm = [1, 0, 2]> (o)",
            "two layers": f"{cell(operator, 'o', 4)} p = Squeeze (Yo, i_1) {turned} (p) {last}",
            "keras": "f = Squeeze (Yht, i_0)",
        }.items():
            nodes = f"{first} {rest} {dense('f', 'y', (4, 2), 'matmul')}"
            for opset in (13, 17):
                given = "int64 last = {-1}"
                yield f"{operator} {form} {opset}", model("N, 4, 3", nodes, given, opset=opset)


def layers() -> Iterator[Case]:
    """Layers in few nodes, whose one weight stands for many connections."""
    yield (
        "two towers: one layer over both halves",
        model(
            "N, 10",
            """u, v = Split <axis = 1> (x, i_5_5) a = Gemm <transB = 1> (u, w_8_5, b_8)
        b = Gemm <transB = 1> (v, w_8_5, b_8) d = Sub (a, b) y = Abs (d)""",
            opset=13,
        ),
    )
    yield (
        "a mean of values that may overflow",
        model(
            "N, 5, 4",
            "e = Exp (x) m = ReduceMean <axes = [1], keepdims = 0> (e) y = Log (m)",
            opset=13,
        ),
    )
    yield (
        "a quotient that a layer reads with others, and a sum of its elements after",
        model(
            "N, 4",
            """a = Gemm (x, wa_4_6, ba_6) b = Gemm (x, wb_4_6, bb_6) e = Exp (b) q = Div (a, e)
        r = Gemm (q, wr_6_6, br_6) i = Gemm (x, wi_4_6, bi_6) c = Add (i, r) t = Tanh (c)
        y = Add (q, t)""",
        ),
    )
    yield (
        "the basis of a spline: steps on both sides of a grid",
        model(
            "N, 3",
            """points = Unsqueeze (x, i_2) apart = Sub (points, grid_12)
        above = GreaterOrEqual (points, grid_12) one = Cast <to = 1> (above)
        half = Mul (apart, one) flat = Flatten (half) s = Sigmoid (x) base = Mul (x, s)
        all = Concat <axis = 1> (base, flat) y = Gemm (all, w_39_2, b_2)""",
            opset=16,
        ),
    )
    yield (
        "a convolution over a picture and constant channels",
        model(
            "N, 1, 6, 6",
            """sizes = Shape <start = 0, end = 1> (x) wanted = Concat <axis = 0> (sizes, i_2_6_6)
        more = Expand (c_1_2_6_6, wanted) wide = Concat <axis = 1> (x, more)
        y = Conv (wide, w_2_3_3_3, b_2)""",
            opset=16,
        ),
    )
    yield (
        "related: a layer over all pairs of five objects, and their sum",
        model(
            "N, 5, 6",
            """a1 = Unsqueeze (x, i_1) a = Expand (a1, i_1_5_5_6) b1 = Unsqueeze (x, i_2)
        b = Expand (b1, i_1_5_5_6) pairs = Concat <axis = -1> (a, b) m = MatMul (pairs, w_12_4)
        h = Add (m, b_4) r = Relu (h) y = ReduceSum <keepdims = 0> (r, i_1_2)""",
            opset=13,
        ),
    )
    yield (
        "the means of the first steps of a sequence",
        model(
            "N, 6, 8",
            "sums = CumSum (x, one) y = Div (sums, counts)",
            "int64 one = {1}, float[1, 6, 1] counts = {1, 2, 3, 4, 5, 6}",
        ),
    )


def small_models() -> Iterator[Case]:
    """Every model, by a name of its own."""
    for family in (perceptrons, policies, images, normalized, attention, learned, recurrent):
        yield from family()
