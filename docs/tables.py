"""Writes the tables that pages take from measured results, and the outcomes that reproductions on a smaller scale are
told beside; a test compares.

    python docs/tables.py

A table stands between `<!-- NAME -->` and `<!-- /NAME -->`: verdicts of the reports, speed beside PyTorch, critical
fractions, and what was measured by which command.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from modgrok.reproduce.paper import OUTCOMES_FILE, find_paper, paper_keys
from modgrok.text import number

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
REPORTS = ROOT / "docs" / "reproduction"
OUTCOMES = {
    "holds": ("holds", "hold"),
    "holds with a remark": ("with a remark", "with a remark"),
    "does not hold here": ("does not hold", "do not hold"),
    "undecided here": ("is undecided", "are undecided"),
}
"""How one and several are counted."""
OWN = ("findings", "groups")
"""Reports on questions of our own."""
CONTESTS = (
    ("speed_h200", "one", "one network, p = 97, N = 500", "H200"),
    ("speed_h200", "batch", "128 of them at once", "H200"),
    ("speed_p31_h200", "one", "one small network, p = 31, N = 128", "H200"),
    ("speed_p31_h200", "batch", "512 of them at once", "H200"),
    ("speed_transformer_h200", "one", "one transformer, p = 113", "H200"),
    ("speed_transformer_h200", "batch", "16 of them at once", "H200"),
    ("speed_cpu", "one", "one network, p = 97, N = 500", "2 CPU cores"),
)
WORDS = {
    "graphs": "CUDA graph",
    "graphs_batch": "CUDA graph",
    "compiled": "compiled",
    "compiled_batch": "compiled",
    "embedding": "not compiled",
    "one_hot": "not compiled",
    "eager": "not compiled",
}


def read(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text())


def verdicts(key: str) -> dict[str, str]:
    """Outcomes of the committed report, by claim."""
    found = json.loads((REPORTS / key / "verdicts.json").read_text())
    return {name: one["outcome"] for name, one in found.items()}


def outcomes() -> str:
    """Of all claims in the full profile."""
    return json.dumps({key: verdicts(key) for key in reported()}, indent=1) + "\n"


def counts(outcomes: Any) -> str:
    found = Counter(outcomes)
    return ", ".join(f"{n} {words[n > 1]}" for outcome, words in OUTCOMES.items() if (n := found[outcome]))


def paper() -> str:
    """What became of the statements of the first paper."""
    claims, found = find_paper().claims, verdicts(find_paper().key)
    own = [found[claim.name] for claim in claims if not claim.beyond]
    return f"Of its {len(own)} statements, {counts(own)}."


def others() -> str:
    """The same of all reports on other papers together."""
    keys = [key for key in reported()[1:] if key not in OWN]
    found = [verdicts(key)[claim.name] for key in keys for claim in find_paper(key).claims if not claim.beyond]
    return f"Of {len(found)} statements in {len(keys)} more reports, {counts(found)}."


def findings() -> str:
    """What became of our own predictions."""
    found = verdicts("findings").values()
    return f"Of {len(found)} predictions, {counts(found)}."


def papers() -> str:
    """One row for each report."""
    lines = ["| report | about | ✓ | ✓ with a remark | ✗ here | undecided |", "|---|---|---|---|---|---|"]
    for key in reported():
        found = Counter(verdicts(key).values())
        row = " | ".join(str(found[outcome]) for outcome in OUTCOMES)
        lines.append(f"| [{key}]({key}/report.md) | {find_paper(key).line} | {row} |")
    return "\n".join(lines)


def reported() -> list[str]:
    return [key for key in paper_keys() if (REPORTS / key / "report.md").exists()]


def speed() -> str:
    """A row for each contest, beside the fastest form of PyTorch that took part in it."""
    lines = ["| | on | a step | PyTorch's best |", "|---|---|---|---|"]
    for name, part, words, where in CONTESTS:
        found = read(name)
        entered = {
            k: v for k, v in found["pytorch"].items() if isinstance(v, dict) and ("batch" in k) == (part == "batch")
        }
        best = min(entered, key=lambda k: entered[k]["ratio"])
        step = time(found[part]["seconds_per_step"])
        lines.append(f"| {words} | {where} | {step} | {number(entered[best]['ratio'], 2)}× as long, {WORDS[best]} |")
    return "\n".join(lines)


def time(seconds: float) -> str:
    value, unit = (seconds * 1e6, "µs") if seconds < 1e-4 else (seconds * 1e3, "ms")
    return f"{number(value, 2)} {unit}"


def training() -> str:
    """How long the networks behind each full report trained, those that were trained again among them."""
    found = {key: json.loads((REPORTS / key / "session.json").read_text()) for key in reported()}
    said = [f"{key} {number(seconds, 3)} s" for key, one in found.items() if (seconds := one["training_seconds"])]
    return "Training behind the full reports, what was run more than once among it: " + ", ".join(said) + "."


def critical() -> str:
    """How the critical fraction falls."""
    rows = [one for one in read("critical_fraction")["critical"] if one["sampling"] == "random"]
    first, last = min(rows, key=lambda one: one["modulus"]), max(rows, key=lambda one: one["modulus"])
    said = [
        f"{one['critical']:.3f} [{one['low']:.3f}, {one['high']:.3f}] at p = {one['modulus']}" for one in (first, last)
    ]
    return f"α_c falls from {said[0]} to {said[1]}"


MEASURED = (
    (
        "critical_fraction.json",
        "the critical fraction against p and sampling",
        "H200",
        "python benchmarks/critical_fraction.py",
    ),
    ("landscape.csv.gz", "which of 36 polynomials generalize", "2 cores", "modgrok landscape --modulus 23 --width 128"),
    ("coverage.json", "how often 95 % intervals of α_c cover", "2 cores", "python benchmarks/coverage.py"),
    (
        "coverage_same_seeds.json",
        "the same with equal seeds",
        "2 cores",
        "python benchmarks/coverage.py --same-seeds --searches 100",
    ),
    ("minimal_width.md", "the smallest exact network, p ≤ 13", "1 core", "python benchmarks/minimal_width.py"),
    ("defaults_grok.md", "that defaults grok", "2 cores", "python benchmarks/defaults_grok.py"),
    ("speed_h200.json", "speed beside PyTorch, p = 97", "H200", "python benchmarks/speed.py --runs 128"),
    (
        "speed_p31_h200.json",
        "the same, p = 31",
        "H200",
        "python benchmarks/speed.py --modulus 31 --width 128 --runs 512",
    ),
    ("speed_transformer_h200.json", "the same, a transformer", "H200", "python benchmarks/speed.py --transformer"),
    ("step_profile_h200.md", "the kernels of a step", "H200", "python benchmarks/step_profile.py"),
    ("speed_cpu.json", "the same on a CPU", "2 cores", "python benchmarks/speed.py --seconds 12"),
    ("speed_cpu16.json", "the same on a CPU", "16 cores", "JAX_PLATFORMS=cpu python benchmarks/speed.py"),
    ("sweep_throughput.json", "a sweep beside single runs", "2 cores", "python benchmarks/sweep_throughput.py"),
    (
        "sweep_share_h200.json",
        "10 000 small runs",
        "H200",
        "python benchmarks/sweep_share.py --runs 10000 --steps 20000",
    ),
    ("ray_overhead.json", "1 000 tiny runs on Ray, here", "2 cores", "python benchmarks/ray_overhead.py"),
    (
        "second_start.txt",
        "a second start beside older sources",
        "2 cores",
        "python benchmarks/second_start.py --against OLD/src",
    ),
    ("memory_cpu.txt", "memory said and used", "2 cores", "python benchmarks/memory.py"),
    ("lab_speed.txt", "how fast the page answers", "2 cores", "python benchmarks/lab_speed.py"),
    ("same_bits_h200.txt", "when bits are equal on a GPU", "H200", "python benchmarks/same_bits.py"),
    ("gradient_error.md", "errors of 16-bit gradients", "H200", "python benchmarks/gradient_error.py"),
    ("transformer_error_h200.txt", "the same, a transformer", "H200", "python benchmarks/transformer_error.py"),
    ("torch_models.txt", "transformers equal PyTorch's", "2 cores", "python benchmarks/torch_models.py"),
    ("torch_optimizers.txt", "optimizers equal PyTorch's", "2 cores", "python benchmarks/torch_optimizers.py"),
    (
        "torch_loads_network.txt",
        "saved networks load in PyTorch",
        "2 cores",
        "python benchmarks/torch_loads_network.py",
    ),
    (
        "fresh_wheel.md",
        "the wheel in fresh environments",
        "2 cores",
        "make dist, then python benchmarks/fresh_wheel.py",
    ),
)


def results() -> str:
    """What was measured, with what, and what came out where a number says it."""
    lines = ["| what | result | file | machine | command |", "|---|---|---|---|---|"]
    for file, what, where, command in MEASURED:
        lines.append(f"| {what} | {_result(file)} | [{file}]({file}) | {where} | `{command}` |")
    return "\n".join(lines)


def _result(file: str) -> str:
    if file.startswith("coverage"):
        found = read(file.removesuffix(".json"))
        return f"{found['covered']} of {found['searches']}"
    if file.startswith("speed"):
        found = read(file.removesuffix(".json"))
        return f"{time(found['one']['seconds_per_step'])} a step"
    if file.startswith("sweep_share"):
        found = read("sweep_share_h200")
        return f"{found['wall_seconds']:.0f} s, {found['share']:.0%} of them in steps"
    if file.startswith("sweep"):
        return f"{number(read('sweep_throughput')['ratio'], 2)} times the rate"
    if file.startswith("ray"):
        found = read("ray_overhead")
        return f"{found['ray_ms_per_run']} and {found['local_ms_per_run']} ms a run"
    return critical() if file.startswith("critical") else ""


TABLES = {
    "results": results,
    "paper": paper,
    "others": others,
    "findings": findings,
    "papers": papers,
    "speed": speed,
    "training": training,
    "critical": critical,
}
PAGES = (ROOT / "README.md", REPORTS / "README.md", RESULTS / "README.md")
PLACE = re.compile(r"(<!-- (\w+) -->\n?)(.*?)(\n?<!-- /\2 -->)", re.DOTALL)


def filled(text: str) -> str:
    """A page with its tables as they are now."""
    return PLACE.sub(lambda found: f"{found[1]}{TABLES[found[2]]()}{found[4]}", text)


if __name__ == "__main__":
    Path(str(OUTCOMES_FILE)).write_text(outcomes())
    for page in PAGES:
        page.write_text(filled(page.read_text()))
