"""Names of axes that a runtime, an exporter or a person gives to time."""

TIME_NAMES = frozenset(
    {"t", "time", "seq", "seq_len", "seqlen", "seq_length", "sequence", "sequence_length"}
    | {"time_steps", "timesteps", "steps", "length"}
)
"""In lower case."""


def names_time(symbol: str) -> bool:
    """Whether a symbol, as "seq_len" or "T", says that its axis is time."""
    return symbol.lower() in TIME_NAMES
