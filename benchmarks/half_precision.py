"""Whether 16-bit operands change grokking: the grid of Fig. 3a trained both ways, cell by cell.

python benchmarks/half_precision.py TF32/fig3.json HALF/fig3.json > benchmarks/results/half_precision.md

The two files are `figures/fig3.json` of `modgrok reproduce --profile full --only fig3`, made before and after.
"""

import json
import statistics
import sys
from pathlib import Path


def main(before: str, after: str) -> None:
    old, new = (json.loads(Path(path).read_text())["numbers"] for path in (before, after))
    print("| optimizer | cells | runs that grok, TF32 | 16 bits | median ratio of the cells' median times | largest |")
    print("|---|---|---|---|---|---|")
    inside = total = 0
    for name in old["times"]:
        ratios = []
        for one, two in zip(old["times"][name], new["times"][name], strict=True):
            known = [[t for t in cell if t is not None] for cell in (one, two)]
            if not all(known):
                continue
            middle = [statistics.median(cell) for cell in known]
            ratios.append(middle[1] / middle[0])
            total += 1
            inside += min(known[0]) <= middle[1] <= max(known[0]) or middle[0] == middle[1]
        counts = [sum(t is not None for cell in n["times"][name] for t in cell) for n in (old, new)]
        worst = max(ratios, key=lambda r: max(r, 1 / r))
        print(f"| {name} | {len(ratios)} | {counts[0]} | {counts[1]} | {statistics.median(ratios):.3f} | {worst:.3f} |")
    print(f"\nIn {inside} of {total} cells the median with 16 bits lies among the five times with TF32.")
    change = [
        abs(statistics.median(a) - statistics.median(b))
        for name in old["test_accuracy"]
        for a, b in zip(old["test_accuracy"][name], new["test_accuracy"][name], strict=True)
    ]
    print(
        f"Median final test accuracies differ by {max(change):.4f} at most, in the median by "
        f"{statistics.median(change):.4f}."
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
