"""Count ONNX's own cases that are equal as numbers and as neurons.

python -m tests.lifting.count_backend [part of a name]
"""

import collections
import sys
import warnings

from tests.lifting.harness import backend_cases, verdict


def main(word: str = "") -> None:
    """Print the counts, and each case that is not equal."""
    warnings.simplefilter("ignore")
    counts: collections.Counter[str] = collections.Counter()
    for case in backend_cases():
        if not case.in_scope:
            counts["out of scope"] += 1
        elif word in case.name:
            kind, why = verdict(case)
            counts[kind] += 1
            if kind != "equal":
                print(f"{kind:8} {case.name}: {why[:150]}")
    print(dict(counts))


if __name__ == "__main__":
    main(*sys.argv[1:2])
