"""Settings of all tests; its place puts this directory on the import path, for `cases`."""

from hypothesis import settings

settings.register_profile("neat_onnx", deadline=None, derandomize=True)
settings.load_profile("neat_onnx")
