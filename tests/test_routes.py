"""Every network on every route, with every option: one suite."""

import functools
from typing import Any

import pytest
from hypothesis import given, settings
from networks import NETWORKS, dags, mlps, towers
from routes import ROUTES, Route, Trip, is_valid, json_trip, lift_and_lower, onnxruntime_agrees

from neat_onnx.network.network import Network

OPTIONS: dict[str, dict[str, Any]] = {
    "float32": {},
    "float64": {"dtype": "float64"},
    "per_neuron": {"mixed_activations": "per_neuron"},
    "fold": {"fold": True},
    "fold64": {"fold": True, "dtype": "float64", "mixed_activations": "per_neuron"},
}
MORE_OPTIONS: dict[str, dict[str, Any]] = {
    "batch_of_one": {"batch_dimension": False},
    "batch_by_name": {"batch_dimension": "samples"},
    "embedded": {"embed_network": True, "fold": True},
    **{f"opset_{opset}": {"opset": opset} for opset in range(13, 27)},
    **{f"opset_{opset}_64": {"opset": opset, "dtype": "float64"} for opset in range(13, 27)},
}
# these have every activation, every aggregation, every way to join columns, and every kind of port
TELLING = (
    "every_activation",
    "every_aggregation_on_a_level",
    "evolved_mixed",
    "genes_out_of_order",
    "shaped_ports",
    "slopes_of_their_own",
)
SKIPPED: dict[tuple[str, str, str], str] = {}


@functools.cache
def trip(network: str, options: str) -> Trip:
    return Trip(NETWORKS[network], (OPTIONS | MORE_OPTIONS)[options])


def _takes(network: str, options: str, route: Route) -> None:
    route(trip(network, options))


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.__name__)
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("network", NETWORKS)
def test_network_takes_route(network: str, options: str, route: Route):
    _takes(network, options, route)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.__name__)
@pytest.mark.parametrize("options", MORE_OPTIONS)
@pytest.mark.parametrize("network", TELLING)
def test_network_takes_route_with_other_options(network: str, options: str, route: Route):
    _takes(network, options, route)
