"""The options of an export: one document, read from JSON, from keywords, or both."""

from neat_onnx.options.export import TIME, ExportOptions, export_options, options_in

__all__ = ["TIME", "ExportOptions", "export_options", "options_in"]
