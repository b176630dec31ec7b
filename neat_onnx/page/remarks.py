"""Warnings as the page shows them."""

import warnings


def remarks_of(caught: list[warnings.WarningMessage]) -> list[str]:
    """The texts of warnings; the module of their words is imported for them alone."""
    if not caught:
        return []
    from neat_onnx.page.wording import remarks  # noqa: PLC0415 - seldom needed

    return remarks(caught)
