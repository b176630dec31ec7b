"""Every network on every route, with every option, chosen pairwise: one suite."""

import functools
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.examples.networks import BUILTIN_ACTIVATIONS, BUILTIN_AGGREGATIONS, NETWORKS
from support.examples.strategies import dags, mlps, towers
from support.harness.pairwise import pairwise
from support.harness.routes import (
    ROUTES,
    Route,
    Trip,
    binary_trip,
    follows_the_schema,
    is_valid,
    json_trip,
    onnxruntime_agrees,
    protobuf_json_trip,
    raw_json_trip,
    reference_agrees,
    stripped_trip,
)
from support.harness.sweep import ONE_FUNCTION, WHOLE, count, every

from neat_onnx import export, import_model, load_model
from neat_onnx.network.network import Network

OPTIONS: dict[str, dict[str, Any]] = {
    "float32": {},
    "float64": {"dtype": "float64"},
    "fold": {"fold": True},
    "per_neuron": {"mixed_activations": "per_neuron"},
    "per_neuron_fold64": {"fold": True, "dtype": "float64", "mixed_activations": "per_neuron"},
}
MORE_OPTIONS: dict[str, dict[str, Any]] = {
    "batch_of_one": {"batch_dimension": False},
    "batch_by_name": {"batch_dimension": "samples"},
    "embedded": {"embed_network": True, "fold": True},
    **{f"opset_{opset}": {"opset": opset} for opset in range(13, 27)},
    **{f"opset_{opset}_float64": {"opset": opset, "dtype": "float64"} for opset in range(13, 27)},
}
# these have every activation, every aggregation, and every kind of port
TELLING = ("every_activation", "every_aggregation_on_a_level", "shaped_ports")
TELLING_ROUTES = (json_trip, binary_trip, onnxruntime_agrees, reference_agrees, is_valid)


ENCODING = (json_trip, raw_json_trip, binary_trip, protobuf_json_trip)


def some(few: int, many: int) -> settings:
    """So many examples, without the explanation of failures, which takes minutes here."""
    phases = (Phase.explicit, Phase.generate, Phase.shrink)
    return settings(max_examples=count(few, many), phases=phases)


@functools.lru_cache(maxsize=8)
def trip(network: str, options: str) -> Trip:
    return Trip(NETWORKS[network], (OPTIONS | MORE_OPTIONS)[options])


def _applies(network: str, options: str, route: Route) -> bool:
    """Left out is what cannot differ: a level of one activation has no other form per neuron, how
    a file is encoded does not depend on what was folded, nor on which function its neurons have.
    """
    one_function = network.startswith(ONE_FUNCTION)
    if one_function and ("per_neuron" in options or (route in ENCODING and not WHOLE)):
        return False
    return options in ("float32", "float64") or route not in (raw_json_trip, protobuf_json_trip)


CHOSEN = pairwise(list(NETWORKS), list(OPTIONS), ROUTES, allowed=_applies)
CHOSEN += pairwise(TELLING, list(MORE_OPTIONS), TELLING_ROUTES)
CHOSEN.sort(key=lambda chosen: chosen[:2])  # an export is then made once


@pytest.mark.parametrize(
    ("network", "options", "route"),
    [pytest.param(*each, id=f"{each[0]}-{each[1]}-{each[2].__name__}") for each in CHOSEN],
)
def test_network_takes_route(network: str, options: str, route: Route):
    route(trip(network, options))


def test_every_pair_is_chosen():
    """Every network takes every route and every option, and every route meets every option; but
    networks of one function take the routes that compute.
    """
    chosen = set(CHOSEN)
    several = {name for name in NETWORKS if not name.startswith(ONE_FUNCTION)}
    assert {(n, r) for n, _, r in chosen} >= {(n, r) for n in several for r in ROUTES}
    computing = [route for route in ROUTES if route not in ENCODING]
    assert {(n, r) for n, _, r in chosen} >= {(n, r) for n in NETWORKS for r in computing}
    assert {(o, r) for _, o, r in chosen} >= {(o, r) for o in MORE_OPTIONS for r in TELLING_ROUTES}
    assert {(n, o) for n, o, _ in chosen} >= {(n, o) for n in TELLING for o in MORE_OPTIONS}


@pytest.mark.parametrize(
    ("network", "options"),
    [*zip(TELLING, ("float32", "float64", "float32"), strict=True), ("evolved_mixed", "float64")],
)
def test_exported_json_follows_the_published_schema(network: str, options: str):
    follows_the_schema(trip(network, options))


@pytest.mark.parametrize("aggregation", BUILTIN_AGGREGATIONS)
def test_every_function_of_every_aggregation_comes_back(aggregation: str):
    edges = [(0, 2, 0.5), (1, 2, 1.5)]
    for name, dtype in every(BUILTIN_ACTIVATIONS, ("float32", "float64")):
        gene = {"id": 2, "activation": name, "aggregation": aggregation, "bias": 0.25}
        net = Network.build(inputs=2, outputs=[2], neurons=[gene], connections=edges)
        assert import_model(load_model(export(net, dtype=dtype).to_json())) == net


@some(12, 120)
@given(net=dags(), options=st.sampled_from(sorted(OPTIONS)))
def test_irregular_networks_take_all_routes(net: Network, options: str):
    _take_all_routes(net, options)


@some(6, 60)
@given(net=mlps(), options=st.sampled_from(sorted(OPTIONS)))
def test_layered_networks_take_all_routes(net: Network, options: str):
    _take_all_routes(net, options)


def _take_all_routes(net: Network, options: str) -> None:
    whole = Trip(net, OPTIONS[options])
    for route in ROUTES:
        route(whole)


@some(12, 120)
@given(net=towers(), options=st.sampled_from(["float64", "per_neuron_fold64"]))
def test_what_overflows_stays_where_it_is(net: Network, options: str):
    """An infinite value reaches those who read it, and nobody else: no zero weight meets it."""
    whole = Trip(net, OPTIONS[options])
    for route in (json_trip, stripped_trip, onnxruntime_agrees, reference_agrees, is_valid):
        route(whole)
