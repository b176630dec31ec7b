"""The check that an import is right."""
