"""The smallest exact network of sums and products modulo p ≤ 13 that a search finds.

    OPENBLAS_NUM_THREADS=1 nice python benchmarks/minimal_width.py --out benchmarks/results

About ten minutes on one core. Each width is searched from one below the exact form downward until one fails.
Writes `minimal_width.json` and `minimal_width.md`.
"""

import argparse
import json
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from modgrok.closed_form import exact_width, least_width
from modgrok.closed_form.minimal import EXACT, PENALTIES, STEPS, one_hot, search
from modgrok.tasks import task

COMMAND = "OPENBLAS_NUM_THREADS=1 nice python benchmarks/minimal_width.py --out benchmarks/results"
STARTS = {2: 400, 3: 400, 4: 400, 5: 400, 6: 150, 7: 300, 8: 80, 9: 40, 10: 20, 11: 20, 12: 10, 13: 8}
"""How many random starts a width gets, by modulus."""
CASES = [("n + m", p) for p in STARTS] + [("n*m", p) for p in (2, 3, 5, 7, 11, 13)]


def searched(expression: str, modulus: int) -> dict[str, Any]:
    """Every width that was searched, and the least that is known to be exact."""
    learned = task(expression, modulus)
    coordinate = learned.structure.coordinate
    assert coordinate is not None
    closed, least, widths = exact_width(coordinate), least_width(learned), []
    smallest = closed
    for width in range(closed - 1, least - 1, -1):
        began = time.process_time()
        found = search(one_hot(learned), width, np.random.default_rng((0, width)), STARTS[modulus])
        widths.append(
            {
                "width": width,
                "starts": found.starts,
                "exact": found.exact,
                "loss": found.loss / modulus**3,
                "largest_weight": found.largest,
                "seconds": round(time.process_time() - began, 1),
            }
        )
        print(expression, modulus, widths[-1], flush=True)
        if not found.exact:
            break
        smallest = width
    return {
        "expression": expression,
        "modulus": modulus,
        "least": least,
        "closed_form": closed,
        "smallest": smallest,
        "searched": widths,
    }


def markdown(record: dict[str, Any]) -> str:
    """The table, with the command that made it."""
    lines = [
        "# The smallest exact network",
        "",
        f"Made by `{record['command']}` ({record['seconds']:.0f} s of one core, Python {record['python']}, "
        f"SciPy {record['scipy']}).",
        "",
        "For every task: the lower bound on the width of an exact network, the width of the closed form, and the "
        "least width at which the search found one. A network is exact where the sum of its squared errors over all "
        f"outputs is below {EXACT:g}. The search gives up at the first width where none of its starts is; that is no "
        "proof. Its best mean squared error is given with the largest weight: errors that are small only at large "
        "weights point to a limit that is approached and not reached.",
        "",
        "| function | p | lower bound | closed form | smallest found | first failure: starts, best loss, weight |",
        "|---|---|---|---|---|---|",
    ]
    for case in record["cases"]:
        vain = [row for row in case["searched"] if not row["exact"]]
        failed = (
            f"{vain[0]['width']}: {vain[0]['starts']}, {vain[0]['loss']:.1e}, {vain[0]['largest_weight']:.2g}"
            if vain
            else "– (the lower bound is reached)"
        )
        lines.append(
            f"| {case['expression'].replace('*', '·')} | {case['modulus']} | {case['least']} | {case['closed_form']} "
            f"| **{case['smallest']}** | {failed} |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    folder = parser.parse_args().out
    began = time.process_time()
    cases = [searched(*case) for case in CASES]
    record = {
        "command": COMMAND,
        "python": platform.python_version(),
        "scipy": scipy.__version__,
        "seconds": time.process_time() - began,
        "steps": STEPS,
        "penalties": PENALTIES,
        "cases": cases,
    }
    (folder / "minimal_width.json").write_text(json.dumps(record, indent=1) + "\n")
    (folder / "minimal_width.md").write_text(markdown(record))


if __name__ == "__main__":
    main()
