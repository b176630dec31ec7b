"""Every planner and class of nodes, registered on import; what the core asks for beside them."""

# ruff: noqa: F401 (what registers itself; planners of one stage are asked in this order)
from neat_onnx.operators.export import dense, formula, fused, nodes, recurrent, reduce, sparse
from neat_onnx.operators.export.frames import Frame, frame_of
from neat_onnx.operators.export.ports import in_stated_ports
from neat_onnx.operators.export.spatial import find

__all__ = ["Frame", "frame_of", "in_stated_ports"]
