"""What a comparison of a network with a model found."""

from pydantic import BaseModel, Field


class Report(BaseModel):
    """What a comparison found. Errors are the model's output minus the network's."""

    passed: bool = Field(description="Whether the normalised MSE is within its bound.")
    mse: float | None = Field(description="Mean squared error; null if a value is not finite.")
    normalised_mse: float | None = Field(
        description="The MSE divided by max(1, mean square of the network's outputs)."
    )
    bound: float = Field(description="What the normalised MSE may be for this type.")
    max_abs_error: float | None
    max_rel_error: float | None = Field(description="Relative to max(1, |output|).")
    samples: int
    steps: int = Field(description="Length of the sequences; 1 without memory.")
    seed: int
    runtime: str = Field(description="What ran the model, with its version.")
    dtype: str
    not_finite: int = Field(description="Output values that are infinite or NaN on either side.")
    first_error: str | None = Field(
        None, description="Where it fails: the first neuron whose value differs."
    )
    rounding: float | None = Field(
        None,
        description="Where it fails in float32: the normalised MSE that rounding the genes alone "
        "gives. If it is as large, the network is that sensitive: export it in float64.",
    )

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED"
        found = "not finite" if self.normalised_mse is None else f"{self.normalised_mse:.3g}"
        where = f"; first at {self.first_error}" if self.first_error else ""
        if self.rounding is not None:
            where += f"; rounding the genes to float32 alone gives {self.rounding:.3g}"
        return (
            f"{verdict}: normalised MSE {found} (bound {self.bound:g}) over {self.samples} samples"
            f"{f' of {self.steps} steps' if self.steps > 1 else ''} in {self.runtime}{where}"
        )
