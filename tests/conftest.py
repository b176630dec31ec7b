"""Settings of all tests; its place puts this directory on the import path, for `cases`."""

from hypothesis import settings
from sweep import count

settings.register_profile("neat_onnx", max_examples=count(30, 100), deadline=None, derandomize=True)
settings.load_profile("neat_onnx")
