"""Where neurons and connections of a drawing stand."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples.cases import case, cases

import neat_onnx
from neat_onnx.drawing.layout import Layout, layout
from neat_onnx.drawing.scene import scene
from neat_onnx.network.network import Network
from neat_onnx.network.schedule import schedule

RADIUS = 0.36  # of a neuron, in rows
DAGRE = 1.886  # crossings a connection of dagre 1.1.8's layouts of these networks, for comparison


def laid_out(net: Network) -> Layout:
    return layout(net, schedule(net))


def polylines(net: Network, where: Layout) -> list[np.ndarray]:
    """The points that each connection goes through."""
    genes, found = net.connections, []
    for edge, (source, target) in enumerate(zip(genes.source, genes.target, strict=True)):
        along = slice(where.first[edge], where.first[edge + 1])
        xs = [where.x[source], *where.place_x[along], where.x[target]]
        ys = [where.y[source], *where.place_y[along], where.y[target]]
        found.append(np.stack([xs, ys], axis=1))
    return found


def curve(points: np.ndarray) -> np.ndarray:
    """The same as drawn: level at each point, between two a cubic curve."""
    t = np.linspace(0, 1, 25)[:, None]
    parts = []
    for (x1, y1), (x2, y2) in pairwise(points):
        middle = (x1 + x2) / 2
        controls = np.array([(x1, y1), (middle, y1), (middle, y2), (x2, y2)])
        weights = np.hstack([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3])
        parts.append(weights @ controls)
    return np.concatenate(parts)


def through_others(net: Network, where: Layout) -> int:
    """How many connections are drawn through a neuron that is not one of their ends."""
    at = np.stack([where.x, where.y], axis=1)
    count = 0
    for edge, points in enumerate(polylines(net, where)):
        ends = [net.connections.source[edge], net.connections.target[edge]]
        others = np.delete(at, ends, axis=0)
        away = np.linalg.norm(curve(points)[:, None] - others[None], axis=2)
        count += bool(np.any(away < RADIUS))
    return count


def crossings(lines: list[np.ndarray]) -> int:
    pieces = [(*a, *b) for line in lines for a, b in pairwise(line)]
    s = np.array(pieces)
    owner = np.repeat(np.arange(len(lines)), [len(line) - 1 for line in lines])

    def side(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        a, b = s[:, None, :2], s[:, None, 2:]
        point = np.stack([p, q], axis=-1)[None]
        edge, to = b - a, point - a
        return edge[..., 0] * to[..., 1] - edge[..., 1] * to[..., 0]

    splits = side(s[:, 0], s[:, 1]) * side(s[:, 2], s[:, 3]) < -1e-9
    return int(np.sum(splits & splits.T & (owner[:, None] < owner[None])))


def test_connections_go_round_neurons_and_cross_as_seldom_as_in_dagre():
    total = through = crossing = 0
    for net in (each.network() for each in cases("np-ff")):
        where = laid_out(net)
        total += len(net.connections)
        through += through_others(net, where)
        crossing += crossings(polylines(net, where))
    assert through <= 0.02 * total
    assert crossing <= 1.1 * DAGRE * total


def test_a_connection_past_a_neuron_has_a_place_of_its_own():
    net = Network.build(
        inputs=[1], outputs=[3], neurons=[2, 3], connections=[(1, 2, 1.0), (2, 3, 1.0), (1, 3, -5)]
    )
    where = laid_out(net)
    assert len(where.place_x) == 1
    assert abs(where.place_y[0] - where.y[1]) >= 0.7
    assert where.x.tolist() == pytest.approx([0, where.place_x[0], where.width])


def random_network(seed: int, hidden: int, recurrent: bool) -> Network:
    rng = np.random.default_rng(seed)
    ids = np.arange(4 + hidden)
    connections = []
    for target in ids[2:]:
        for source in rng.choice(ids[:target], min(target, 3), replace=False):
            connections.append({"source": int(source), "target": int(target), "weight": 1.0})
    for _ in range(recurrent * hidden):
        source, target = rng.choice(ids[2:], 2)
        later = {"source": int(source), "target": int(target), "weight": -1.0, "delay": 1}
        connections.append(later)
    outputs = ids[-2:].tolist()
    return Network.build(
        inputs=[0, 1], outputs=outputs, neurons=ids[2:].tolist(), connections=connections
    )


@given(st.integers(0, 10_000), st.integers(0, 30), st.booleans())
def test_columns_rows_and_ports_of_any_network(seed, hidden, recurrent):
    net = random_network(seed, hidden, recurrent)
    where, again = laid_out(net), laid_out(net)
    assert all(np.array_equal(getattr(where, name), getattr(again, name)) for name in ("x", "y"))
    genes = net.connections
    now = (genes.delay == 0) & ~np.isin(genes.source, net.output_neurons)
    assert np.all(where.column[genes.source[now]] < where.column[genes.target[now]])
    assert np.all(where.column[net.output_neurons] == where.columns - 1)
    for ports in (net.input_neurons, net.output_neurons):
        assert np.all(np.diff(where.y[ports]) >= 0.99)
    for column in range(where.columns):
        rows = np.sort(where.y[where.column == column])
        assert np.all(np.diff(rows) >= 0.99)
    assert where.x.min() == min(where.y.min(), where.place_y.min(initial=1)) == 0


def test_a_connection_back_turns_round_beside_its_ends():
    net = random_network(1, 12, True)
    where, genes = laid_out(net), net.connections
    back = np.flatnonzero(where.column[genes.source] > where.column[genes.target])
    assert back.size
    for edge in back.tolist():
        places = where.place_x[where.first[edge] : where.first[edge + 1]]
        assert places[0] == where.x[genes.source[edge]]
        assert places[-1] == where.x[genes.target[edge]]
        assert np.all(np.diff(places) < 0)


def test_inputs_of_a_convolution_stand_in_a_grid():
    with pytest.warns(neat_onnx.NeatOnnxWarning):
        net = neat_onnx.import_model(neat_onnx.convert(case("nts-onnx-convstride-3").source))
    where = scene(net).layout
    assert np.all(where.is_cell[net.input_neurons])
    xs, ys = where.x[net.input_neurons].reshape(7, 5), where.y[net.input_neurons].reshape(7, 5)
    assert np.allclose(xs, xs[0]) and np.all(np.diff(xs[0]) > 0)
    assert np.allclose(ys.T, ys[:, 0]) and np.all(np.diff(ys[:, 0]) > 0)
