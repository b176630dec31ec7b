"""Where samples stand in the outputs of classifiers: labels have one axis, scores a second one."""

from neat_onnx.lifting.followed_axes import FEATURE, AxisFollower, FollowedAxes, follows
from neat_onnx.operators.ml.linear import LinearClassifier
from neat_onnx.operators.ml.support_vectors import SVMClassifier
from neat_onnx.operators.ml.trees import TreeEnsembleClassifier

Classifier = LinearClassifier | SVMClassifier | TreeEnsembleClassifier


@follows(LinearClassifier, SVMClassifier, TreeEnsembleClassifier)
def classified(axes: AxisFollower, node: Classifier) -> list[FollowedAxes]:
    """A label for each row, and a row of scores."""
    samples = axes.of(node.input[0])[0]
    return [(samples,), (samples, FEATURE)][: len(node.output)]
