"""`modgrok bench`: how fast this machine trains, against its own matrix products."""

from dataclasses import dataclass
from typing import Any

from modgrok.commands.arguments import Printed, err, new_table, out, parse, print_json
from modgrok.experiments.bench import Workload, compare
from modgrok.text import count, duration, number, percent
from modgrok.training.devices import use_all_cores


@dataclass(frozen=True)
class Bench(Printed):
    """Time training of one network and of a batch, alternating with the bare matrix products of a step."""

    workload: Workload


def main(argv: list[str]) -> None:
    """Measure, print."""
    arguments = parse(Bench, "bench", argv)
    use_all_cores()
    with err.status("Starting.") as status:
        result = compare(arguments.workload, lambda sentence: status.update(sentence))
    if arguments.json:
        print_json(result)
    else:
        _show(result)


def _show(result: dict[str, Any]) -> None:
    title = f"p = {result['modulus']}, N = {result['width']}, α = {number(result['fraction'])}, full batch"
    where = f"{result['devices']} × {result['environment']['device']}, {result['cores']} cores"
    table = new_table("", "one run", f"batch of {result['batch']['runs']}", title=f"{title} ({where})")
    speeds = result["one"], result["batch"]
    table.add_row("step", *(duration(speed["seconds_per_step"]) for speed in speeds))
    table.add_row("steps/s of all runs", *(count(round(speed["run_steps_per_second"])) for speed in speeds))
    table.add_row("flops", *(_flops(speed["flops_per_second"]) for speed in speeds))
    table.add_row("matrix products alone", *(_flops(speed["products_flops_per_second"]) for speed in speeds))
    table.add_row("share of their rate", *(percent(speed["fraction_of_products"], 0) for speed in speeds))
    out.print(table)


def _flops(rate: float) -> str:
    return f"{number(rate / 1e12)} TFLOP/s" if rate >= 1e12 else f"{number(rate / 1e9)} GFLOP/s"
