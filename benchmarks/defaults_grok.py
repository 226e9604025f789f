"""Does every default grok? Trains one network for each optimizer, regularizer, loss, activation, modulus and function.

    python benchmarks/defaults_grok.py [--store DIR] > benchmarks/results/defaults_grok.md

p = 97, N = 500, α = 0.5 and n + m unless said otherwise; everything else as `modgrok train` has it.
Every run stops 300 steps after grokking.
"""

import sys

from modgrok.experiments import Experiment, Store
from modgrok.experiments.environment import environment

CASES: list[tuple[str, dict]] = [
    ("gd, α = 0.49", {"optimizer": "gd", "fraction": 0.49}),
    ("momentum", {"optimizer": "momentum"}),
    ("nesterov", {"optimizer": "nesterov"}),
    ("gd, weight decay 1e-10", {"optimizer": "gd", "weight_decay": 1e-10}),
    ("momentum, weight decay 1e-10", {"optimizer": "momentum", "weight_decay": 1e-10}),
    ("sgd, batches of 1024", {"optimizer": "sgd"}),
    ("adam", {"optimizer": "adam"}),
    ("adamw", {}),
    ("adamw, lr 0.3, no weight decay", {"lr": 0.3, "weight_decay": 0.0, "steps": 300}),
    ("gd, dropout 0.1", {"optimizer": "gd", "dropout": 0.1}),
    ("adamw, dropout 0.1", {"dropout": 0.1}),
    ("gd, batch norm", {"optimizer": "gd", "batch_norm": True}),
    ("adamw, batch norm", {"batch_norm": True}),
    ("adamw, cross-entropy", {"loss": "cross_entropy"}),
    ("gd, relu", {"optimizer": "gd", "activation": "relu"}),
    ("adamw, relu", {"activation": "relu"}),
    ("gd, gelu", {"optimizer": "gd", "activation": "gelu"}),
    ("adamw, gelu", {"activation": "gelu"}),
    ("gd, standard parametrization", {"optimizer": "gd", "parametrization": "standard"}),
    ("adamw, standard parametrization", {"parametrization": "standard"}),
    *((f"adamw, p = {p}, α = 0.7", {"modulus": p, "fraction": 0.7}) for p in (23, 31, 53, 113)),
    *((f"gd, p = {p}, α = 0.7", {"optimizer": "gd", "modulus": p, "fraction": 0.7}) for p in (23, 31, 53, 113)),
    *((f"adamw, {task}", {"task": task}) for task in ("n^2+m^2", "(n+m)^2", "n*m", "n-m")),
]


def main() -> None:
    from modgrok.experiments.train import train_all
    from modgrok.training.devices import use_all_cores

    use_all_cores()
    import jax

    store = Store(sys.argv[2] if sys.argv[1:2] == ["--store"] else "runs")
    where = environment(jax.local_devices()[0])
    print(f"`python benchmarks/defaults_grok.py`, {where['device']}, jax {where['jax']}, modgrok {where['modgrok']}\n")
    print("| setting | learning rate | memorized at | grokked at | test accuracy | IPR | task IPR |")
    print("|---|---|---|---|---|---|---|")
    for name, settings in CASES:
        experiment = Experiment(**{"task": "n+m", "snapshots": 0, "until": 300, **settings})
        (run,) = train_all([experiment], store)
        r = run.result
        assert r is not None
        task_ipr = "–" if r["task_ipr"] is None else f"{r['task_ipr']:.3f}"
        print(
            f"| {name} | {r['learning_rate']:.3g} | {r['memorized_at']} | {r['grokked_at']} | "
            f"{100 * (r['test_accuracy'] or 0):.2f} % | {r['ipr'] or 0:.3f} | {task_ipr} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
