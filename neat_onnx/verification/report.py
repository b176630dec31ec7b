"""The report of a comparison of a network with a model."""

from typing import Literal

from pydantic import Field

from neat_onnx.parsing import Document

Verdict = Literal["equal", "equal within float32", "different"]


class Report(Document):
    """How far a model's outputs are from its network's. Errors are model minus network."""

    verdict: Verdict = Field(
        description="equal: the normalised MSE is within `bound`, and about that of each output "
        "and of most samples; in float64 and float16 also if rounding explains the rest. equal "
        "within float32: it is not, but the errors are at most four times those that rounding the "
        "network's genes and values to float32 makes by itself. different: neither, or a value is "
        "finite on one side only."
    )
    passed: bool = Field(description="Whether the verdict is one of the first two.")
    mse: float | None = Field(description="Mean squared error; null if a value is not finite.")
    normalised_mse: float | None = Field(
        description="The MSE divided by max(1, mean square of the network's outputs). Of the short "
        "and the long sequences, the larger one."
    )
    bound: float = Field(description="The normalised MSE that is equal, for this type.")
    max_abs_error: float | None = Field(description="The largest absolute error.")
    max_rel_error: float | None = Field(description="Relative to max(1, |output|).")
    samples: int = Field(description="The number of inputs, or of short sequences.")
    steps: int = Field(description="Length of the sequences; 1 without memory.")
    long_sequences: int = Field(0, description="The number of long sequences; 0 without memory.")
    long_steps: int = Field(0, description="Their length.")
    overflow_step: int | None = Field(
        None,
        description="The first step, from 0 on, whose values the model's type cannot hold: the "
        "verdict is of those before it. 0 without memory.",
    )
    left_out: int = Field(
        0, description="The number of inputs, or of sequences, that are not compared for that."
    )
    unordered: int = Field(
        0,
        description="The number of inputs, or of sequences, that are not compared because a value "
        "inside the network is NaN, which no order has a place for: runtimes choose differently.",
    )
    seed: int = Field(description="The seed that the inputs were sampled with.")
    runtime: str = Field(description="The runtime that ran the model, with its version.")
    dtype: str = Field(description="The type of the model's numbers: float32, float64 or float16.")
    quantized: bool = Field(
        False,
        description="Whether the model has quantized numbers. The network that was "
        "quantized is different, unless int8 holds it within `bound`; the one that an import gives "
        "is not.",
    )
    not_finite: int = Field(
        description="Output values that are infinite or NaN on either side. The same one on both "
        "sides is equal."
    )
    values: int = Field(description="Output values in all: of samples, steps and outputs.")
    first_error: str | None = Field(
        None, description="Where it is different: the first neuron whose value differs."
    )
    rounding: float | None = Field(
        None,
        description="Where a model exceeds the bound: the normalised MSE that rounding genes and "
        "values to its type alone gives. If it is as large, the network is that sensitive.",
    )

    def __str__(self) -> str:
        of = " (the model is quantized)" if self.quantized else ""
        text = (
            f"{self._verdict()}{of} over {self._samples()} in {self.runtime}: {self.difference()}."
        )
        text += self._left_out()
        if self.verdict == "different" and self.first_error:
            text += f" It begins at {self.first_error}."
        elif self.rounding is not None and not self.quantized:
            text += f" Rounding this network to {self.dtype} gives {self.rounding:.3g} by itself"
            text += ": for less, export it in float64." if self.dtype == "float32" else "."
        return text

    def _verdict(self) -> str:
        if self.verdict == "different":
            return "DIFFERENT"
        if self.overflow_step is None or self.steps == 1:
            return self.verdict
        wider = "" if self.dtype == "float64" else ": use float64"
        return f"equal until step {self.overflow_step}, then {self.dtype} cannot hold it{wider};"

    def _left_out(self) -> str:
        text = ""
        if self.overflow_step is not None and self.steps == 1:
            text = f" {self.left_out} are left out: their values are beyond {self.dtype}."
        elif self.overflow_step is not None:
            text = f" {self.left_out} sequences are compared as far as {self.dtype} holds them."
        if self.not_finite and self.passed:
            all_of = "All" if self.not_finite == self.values else f"{self.not_finite} of"
            text += f" {all_of} {self.values} output values are NaN or infinite, on both sides."
        if self.unordered:
            text += f" {self.unordered} are left out: a value inside the network is NaN."
        return text

    def _samples(self) -> str:
        text = f"{self.samples} samples"
        if self.steps > 1:
            text = f"{self.samples} sequences of {self.steps} steps"
        if self.long_sequences:
            text += f" and {self.long_sequences} of {self.long_steps}"
        return text

    def difference(self) -> str:
        """Say by how much outputs differ, in words."""
        if self.normalised_mse is None:
            return f"outputs are not finite, or of another shape (bound {self.bound:g})"
        text = (
            f"largest relative difference {self.max_rel_error:.2g}, normalised MSE "
            f"{self.normalised_mse:.3g} (bound {self.bound:g}), largest difference "
            f"{self.max_abs_error:.2g}"
        )
        hidden = self.max_rel_error is not None and self.max_rel_error**2 > 16 * self.bound
        if self.verdict == "different" and self.normalised_mse <= self.bound and hidden:
            text += f", small beside the largest alone: others are off by {self.max_rel_error:.2g}"
        return text
