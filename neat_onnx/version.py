"""The version of this package, which also stands in the files it writes."""

__version__ = "0.1.0"
