"""The sections of a configuration, by which it is recognised: it is read by `settings`."""

import re

_SECTION = re.compile(r"^\s*\[(NEAT|Default\w+)\]", re.MULTILINE)


def is_configuration(text: str) -> bool:
    """Return whether a text is a configuration of neat-python."""
    return _SECTION.search(text) is not None
