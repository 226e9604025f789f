"""What the paper says, and the thresholds by which it is judged."""

import math
from itertools import pairwise

from modgrok.reproduce.claim import BEYOND, Verdict, claim, decide, undecided
from modgrok.reproduce.nested import Numbers, mean, median_time
from modgrok.reproduce.power2022.operations import ADDITION, CUBIC, DIVISION, OPERATIONS
from modgrok.reproduce.power2022.representations import names
from modgrok.reproduce.power2022.studies_data import KNOWN
from modgrok.reproduce.power2022.studies_tuning import KINDS
from modgrok.text import NONE, count, number, percent, spread

DECAYED, TO_START, PLAIN = "AdamW", "AdamW to the start", "Adam, minibatches"
ONE_SIDED = ("x − y", DIVISION, "x² + xy + y² + x")
"""Operations that the paper finds harder than the symmetric ones."""
LEARNT = 0.05
"""Mean best accuracy below which variants are at chance, and their order says nothing."""
SOONER = 0.8
"""A variant counts as sooner where it takes less than so much of the steps."""
SOME_WRONG = 0.15
"""Share of wrong labels up to which the paper finds little harm: 1 000 of some 7 000."""


@claim(
    "3.1 (Fig. 1 left)",
    "the training set is known within 1 000 steps; with decay most seeds know the test set at least twice as late; "
    "without decay none does within three times the steps of the slowest with decay",
    "fig1",
)
def division(n: Numbers) -> Verdict:
    """Division is grokked long after it is memorized, and much later without weight decay."""
    decayed, plain = n["with"], n["without"]
    learnt = [*decayed["memorized_at"], *plain["memorized_at"]]
    both = zip(decayed["grokked_at"], decayed["memorized_at"], strict=True)
    late = [g for g, m in both if g is not None and m is not None and g >= 2 * m]
    early = [time for time in plain["grokked_at"] if time is not None and late and time <= 3 * max(late)]
    budget = min(run["step"][-1] for run in plain["runs"])
    memorized = all(time is not None and time <= 1_000 for time in learnt)
    return decide(
        memorized and 2 * len(late) > len(decayed["runs"]) and not early and budget >= 3 * max(late),
        "With decay it is grokked, without it takes at least three times as long.",
        "It is not grokked here." if not late else "The times are other ones.",
        {
            "steps to the training set, with decay": spread(decayed["memorized_at"]),
            "steps to the test set, with decay": spread(decayed["grokked_at"]),
            "steps to the training set, without": spread(plain["memorized_at"]),
            "steps to the test set, without": spread(plain["grokked_at"]),
            "test accuracy at the end, without": spread([run["test_accuracy"][-1] for run in plain["runs"]], percent),
            "steps without decay": count(budget),
        },
        len(late) < len(decayed["runs"]) and "Not every seed does.",
    )


@claim(
    "A.4 (Fig. 4)",
    "with decay, in most seeds that grok: the test loss grows to 1.2 times its least value before or more, and ends "
    "below half of the start",
    "fig4",
)
def second_descent(n: Numbers) -> Verdict:
    """While the network memorizes the test loss rises, and falls again when it generalizes."""
    losses = [loss for loss, time in zip(n["with"]["loss"], n["with"]["grokked_at"], strict=True) if time is not None]
    grown = [loss["largest"] / loss["least"] for loss in losses]
    ended = [loss["end"] / loss["start"] for loss in losses]
    good = [g for g, e in zip(grown, ended, strict=True) if g >= 1.2 and e <= 0.5]
    return decide(
        2 * len(good) > len(losses) > 0,
        f"It rises to {spread(grown)} times its least value before, and ends at {spread(ended)} of the start.",
        "It does not rise and fall so." if losses else "No seed groks.",
        {
            "largest test loss over the least before": spread(grown),
            "largest test loss over that of the start": spread([loss["largest"] / loss["start"] for loss in losses]),
            "last test loss over that of the start": spread(ended),
            "test loss when half of the test set is right, over that of the start": spread(
                [None if loss["at_half"] is None else loss["at_half"] / loss["start"] for loss in losses]
            ),
        },
    )


@claim(
    "3.1 (Fig. 1 center)",
    "median times fall with the share of data wherever two shares grok, and fall by a larger factor than the times to "
    "the training set",
    "fig1b",
)
def time_against_data(n: Numbers) -> Verdict:
    """With less data the test set takes much longer, the training set does not."""
    medians = {
        name: {float(f): median_time(cell[name]) for f, cell in n["fractions"].items()}
        for name in ("memorized_at", "grokked_at")
    }
    known = sorted((f, time) for f, time in medians["grokked_at"].items() if time is not None)
    measured = {
        f"steps to training and test set at {percent(float(f), 0)}": f"{spread(cell['memorized_at'])}; "
        f"{spread(cell['grokked_at'])}"
        for f, cell in n["fractions"].items()
    }
    if len(known) < 2:
        return undecided(f"Fewer than two shares grok within {count(n['steps'])} steps.", measured)
    (low, slow), (high, fast) = known[0], known[-1]
    train = [medians["memorized_at"][f] for f in (low, high)]
    trained = train[0] / train[1] if train[0] and train[1] else math.nan
    unordered = " and ".join(
        f"{percent(more, 0)} takes no less time than {percent(less, 0)}"
        for (less, earlier), (more, later) in pairwise(known)
        if later >= earlier
    )
    return decide(
        not unordered and slow / fast > trained,
        "Less data takes longer.",
        f"Not at every share: {unordered}." if unordered else "The training set takes as much longer.",
        measured
        | {
            f"test set, {percent(low, 0)} over {percent(high, 0)}": number(slow / fast),
            "training set, likewise": number(trained),
            "more time for one percent less data (the paper: 40 to 50 % between 25 and 30 %)": percent(
                (slow / fast) ** (0.01 / (high - low)) - 1
            ),
        },
    )


@claim(
    "3.2 (Fig. 2 left)",
    "mean best accuracy over the fractions: no variant is above AdamW with decay, which is at least 0.1 above Adam in "
    "minibatches",
    "fig2",
)
def decay_is_best(n: Numbers) -> Verdict:
    """Weight decay improves generalization more than every other variant, and more than halves the data needed."""
    areas = {name: found["area"] for name, found in n["variants"].items()}
    lost = _decay_lost(areas)
    needs = {name: found["needs"] for name, found in n["variants"].items()}
    most = max(float(fraction) for fraction in n["variants"][DECAYED]["fractions"])
    least = most if needs[PLAIN] is None else needs[PLAIN]
    halved = needs[DECAYED] is not None and least >= 2 * needs[DECAYED]
    return decide(
        not lost,
        "Weight decay is best.",
        lost,
        _areas(areas) | {f"fraction that is enough, {name}": _fraction(value) for name, value in needs.items()},
        not halved and "The fractions of this profile do not show that it halves the data needed.",
    )


@claim(
    "3.2 (every variant tuned)",
    "each variant at the best of the same rates and decays: without decay the best test accuracy of every variant is "
    "at least 0.1 below that of minibatches with decay, a trial being its worst seed; remark where another variant "
    "with decay knows 99 % of the test set in less than 0.8 of the steps, or alone, and where a best rate or decay is "
    "an outermost one",
    "fig2t",
)
def decay_is_best_when_tuned(n: Numbers) -> Verdict:
    """Weight decay is best also where every variant has the learning rate and decay that suit it."""
    decayed = n["variants"][PLAIN]["with"]
    near = [name for name, found in n["variants"].items() if found["without"]["best"] > decayed["best"] - 0.1]
    limit = math.inf if decayed["grokked_at"] is None else SOONER * decayed["grokked_at"]
    times = {name: found["with"]["grokked_at"] for name, found in n["variants"].items()}
    sooner = [name for name, time in times.items() if time is not None and time < limit]
    chosen = {f"{name}, {kind} decay": found[kind] for name, found in n["variants"].items() for kind in KINDS}
    at_edge = [name for name, one in chosen.items() if one["edge"]]
    return decide(
        not near,
        f"Without it none passes {percent(max(found['without']['best'] for found in n['variants'].values()))}, "
        f"minibatches with it reach {percent(decayed['best'])}.",
        f"Without decay there is as good: {', '.join(near)}.",
        _trials(chosen),
        bool(sooner) and f"Sooner still, with decay: {'; '.join(sooner)}.",
        bool(at_edge) and f"Best at the edge of the search: {'; '.join(at_edge)}.",
    )


@claim(
    "3.2 (Fig. 2 left)",
    "each at the best of the same rates and decays, a trial being its worst seed: best test accuracy at least 0.1 "
    "above that of Adam without decay, and 99 % of the test set later than with decay to zero, or never; undecided "
    "where decay to zero does not get there; remark where a best rate or decay is an outermost one",
    "fig2u",
)
def decay_to_the_start(n: Numbers) -> Verdict:
    """Decay toward the initial weights helps, but less than decay to zero."""
    if TO_START not in n["variants"]:
        return undecided("This profile leaves it out.")
    found = {
        "Adam": n["variants"][PLAIN]["without"],
        "decay to the start": n["variants"][TO_START]["with"],
        "decay to zero": n["variants"][PLAIN]["with"],
    }
    plain, start, zero = found.values()
    measured = _trials(found)
    if zero["grokked_at"] is None:
        return undecided(f"Within {count(n['steps'])} steps decay to zero does not get there either.", measured)
    helps = start["best"] >= plain["best"] + 0.1
    at_edge = [name for name, one in found.items() if one["edge"]]
    wider = f"Best at the edge of the search: {', '.join(at_edge)}." if at_edge else ""
    times = f"99 % at step {number(start['grokked_at'])}, with decay to zero at step {number(zero['grokked_at'])}."
    return decide(
        helps and (start["grokked_at"] or math.inf) > zero["grokked_at"],
        f"It lies between: {times}",
        f"{'It helps no less' if helps else 'It does not help'}: {times} {wider}".strip(),
        measured,
        wider,
    )


def _trials(chosen: dict[str, Numbers]) -> dict[str, str]:
    return {
        f"{name} (rate {number(one['lr'])}, decay {number(one['decay'])}{one['edge']})": (
            f"{percent(one['best'])}; 99 % at step {number(one['grokked_at'])}"
        )
        for name, one in chosen.items()
    }


@claim(
    "3.2 (Fig. 2 left)",
    "mean best accuracy over the fractions of Adam with rates 0.0003 and 0.003 at most that with 0.001",
    "fig2",
)
def narrow_rates(n: Numbers) -> Verdict:
    """The learning rate has to be right within less than a decade."""
    names = (PLAIN, "Adam, rate 0.0003", "Adam, rate 0.003")
    if missing := [name for name in names if name not in n["variants"]]:
        return undecided(f"This profile leaves out {', '.join(missing)}.")
    areas = {name: n["variants"][name]["area"] for name in names}
    if max(areas.values()) < LEARNT:
        return undecided("Adam learns nothing at any of these rates in this profile.", _areas(areas))
    return decide(
        max(areas[name] for name in names[1:]) <= areas[PLAIN],
        "Both are worse.",
        "A rate three times smaller or larger is no worse.",
        _areas(areas),
    )


def _decay_lost(areas: dict[str, float]) -> str:
    """Why weight decay is not best; nothing where it is."""
    better = [name for name, area in areas.items() if area > areas[DECAYED] + 1e-9]
    if better:
        return f"Better: {', '.join(better)}."
    return "" if areas[DECAYED] >= areas[PLAIN] + 0.1 else "Weight decay hardly helps."


def _areas(areas: dict[str, float]) -> dict[str, str]:
    return {f"mean best test accuracy, {name}": percent(area) for name, area in areas.items()}


def _fraction(value: float | None) -> str:
    return NONE if value is None else percent(value, 0)


@claim(
    "3.1 (acceptance)",
    "at half of the table, or the next larger share there is, every seed knows the training set of x + y within 1 000 "
    "steps, and later, within the steps of this profile, the test set",
    "fig2b",
)
def addition(n: Numbers) -> Verdict:
    """Addition is grokked."""
    cells = {float(fraction): cell for fraction, cell in n["operations"][ADDITION]["fractions"].items()}
    cell = cells[min(fraction for fraction in cells if fraction >= 0.5)]
    pairs = list(zip(cell["memorized_at"], cell["grokked_at"], strict=True))
    good = [(m, g) for m, g in pairs if m is not None and g is not None and m <= 1_000 and g > m]
    return decide(
        len(good) == len(pairs),
        f"The test set is known after {spread(cell['grokked_at'])} steps.",
        f"{len(good)} of {len(pairs)} seeds do.",
        {"training set": spread(cell["memorized_at"]), "test set": spread(cell["grokked_at"])},
    )


@claim(
    "3.1 (Fig. 2 right)",
    "mean best accuracy over the fractions: every symmetric operation above each of x − y, x / y and x² + xy + y² + x; "
    "with a remark where only their averages are",
    "fig2b",
)
def symmetric_operations(n: Numbers) -> Verdict:
    """Operations that are symmetric in x and y need less data."""
    areas = {name: found["area"] for name, found in n["operations"].items()}
    easy = {name: area for name, area in areas.items() if OPERATIONS[name].symmetric}
    hard = {name: areas[name] for name in ONE_SIDED if name in areas}
    both = [percent(mean(list(some.values()))) for some in (easy, hard)]
    found = f"The mean best accuracy is {both[0]} for symmetric operations, {both[1]} for the others."
    return decide(
        mean(list(easy.values())) > mean(list(hard.values())),
        found,
        found,
        _areas(easy | hard),
        min(easy.values()) <= max(hard.values()) and "Only on average: some symmetric operation is no easier.",
    )


@claim("3.1 (Fig. 2 right)", "mean best accuracies over the fractions differ by less than 0.15", "fig2b")
def subtraction_as_division(n: Numbers) -> Verdict:
    """Subtraction and division need about the same data."""
    areas = {name: n["operations"][name]["area"] for name in ("x − y", DIVISION)}
    one, other = areas.values()
    if all(n["operations"][name]["needs"] is None for name in areas):
        return undecided("Neither is learnt in this profile.", _areas(areas))
    found = f"The mean best accuracy is {percent(one)} for x − y, {percent(other)} for x / y."
    return decide(abs(one - other) < 0.15, found, found, _areas(areas))


@claim("3.1 (Fig. 2 right)", "best test accuracy below one half at every fraction", "fig2b")
def never_learnt(n: Numbers) -> Verdict:
    """x³ + xy² + y is not generalized at any fraction up to 95 %."""
    cells = {float(f): cell["mean"] for f, cell in n["operations"][CUBIC]["fractions"].items()}
    measured = {f"best test accuracy at {percent(f, 0)}": percent(value) for f, value in cells.items()}
    if n["operations"][ADDITION]["needs"] is None:
        return undecided("Not even addition is learnt in this profile.", measured)
    return decide(
        max(cells.values()) < 0.5,
        f"It never is, within {count(n['steps'])} steps.",
        "It is to some degree.",
        measured,
        max(cells) < 0.95 and "This profile goes up to smaller fractions.",
    )


@claim(
    "A.3 (Fig. 6)",
    "with up to 15 % wrong labels the best test accuracy stays within 0.1 of that without; with the most it does not",
    "fig6",
)
def wrong_labels(n: Numbers) -> Verdict:
    """Some wrong labels do little harm, many do."""
    cells = {float(share): mean(cell["best"]) for share, cell in n["wrong"].items()}
    clean = cells[0.0]
    some = min(value for share, value in cells.items() if share <= SOME_WRONG)
    most = cells[max(cells)]
    measured = {f"best test accuracy, {percent(share)} wrong": percent(value) for share, value in cells.items()}
    if clean < KNOWN:
        return undecided("Without wrong labels the table is not learnt here either.", measured)
    return decide(
        some >= clean - 0.1 and most < clean - 0.1,
        f"The best test accuracy is at least {percent(some)} with up to {percent(SOME_WRONG, 0)} wrong labels, "
        f"{percent(most)} with the most.",
        f"Few wrong labels harm already, within {count(n['steps'])} steps."
        if some < clean - 0.1
        else "Not even many do harm.",
        measured,
    )


@claim(
    "3.3 (Fig. 3)",
    "rows of the unembedding within cosets of the subgroup are nearer, relative to all, than in each of 200 random "
    "partitions",
    "fig3",
)
def structure_of_answers(n: Numbers) -> Verdict:
    """The unembedding shows the structure of the group: cosets of a subgroup lie together."""
    measured = {f"distance within {side} cosets over all": number(ratio) for side, ratio in n["ratios"].items()}
    measured |= {
        "least and median of random partitions": ", ".join(map(number, n["chance"])),
        "order of the subgroup": str(n["subgroup"]),
        "commonest step between neighbors of the sum": f"{n['step']} ({percent(n['step_share'])})",
        "test accuracy, product and sum": f"{percent(n['test_accuracy']['product'])}, "
        f"{percent(n['test_accuracy']['sum'])}",
        "at step": f"{count(n['at']['product'])}, {count(n['at']['sum'])}",
    }
    if n["test_accuracy"]["product"] < KNOWN:
        return undecided("At no kept step does the network know the product.", measured)
    return decide(
        min(n["ratios"].values()) < n["chance"][0],
        f"The {n['side']} cosets lie together.",
        "Cosets of this subgroup are no nearer than others; which ones are depends on the representation learnt, as is "
        "shown beyond the paper.",
        measured,
    )


@claim(
    BEYOND,
    "in every seed that knows the product: two irreducible representations hold 90 % of the unembedding or more, and "
    "what all shares predict for the distance within cosets over all is within 0.02 of what it is, on both sides",
    "figR",
)
def few_representations(n: Numbers) -> Verdict:
    """What is learnt of a group are few of its irreducible representations, and these say how near cosets lie."""
    known = {seed: found for seed, found in enumerate(n["seeds"]) if found["known"] >= KNOWN}
    if not known:
        return undecided("No network knows the product.")
    labels = names(n["dimensions"])
    held = {seed: sum(sorted(found["share"])[-2:]) for seed, found in known.items()}
    missed = {
        seed: max(abs(ratio - found["predicted"]) for ratio in found["ratios"].values())
        for seed, found in known.items()
    }
    strongest = [labels[found["share"].index(max(found["share"]))] for found in known.values()]
    measured = {
        f"seed {seed}, step {count(found['at'])}": ", ".join(
            f"{percent(share)} in {label}" for label, share in zip(labels, found["share"], strict=True) if share > 0.02
        )
        + f"; cosets {' and '.join(map(number, found['ratios'].values()))}, predicted {number(found['predicted'])}"
        for seed, found in known.items()
    }
    return decide(
        min(held.values()) >= 0.9 and max(missed.values()) <= 0.02,
        f"They are; the strongest is of dimension {' and '.join(strongest)}.",
        f"Two hold {percent(min(held.values()))} or more, and the prediction misses by {number(max(missed.values()))}.",
        measured,
        len(known) < len(n["seeds"]) and "Not every seed knows the product.",
    )


@claim("A.5", "Spearman's correlation of sharpness and test accuracy below −0.5 (the paper: −0.795)", "figA5")
def flat_minima(n: Numbers) -> Verdict:
    """Networks that generalize lie in flatter minima."""
    found = n["spearman"]
    if found is None:
        return undecided("All networks have the same accuracy or sharpness.")
    said = (
        f"Over all networks the correlation is {number(found)}, among those with weight decay {number(n['decayed'])}."
    )
    return decide(
        found < -0.5,
        said,
        said,
        {
            "Spearman's correlation": number(found),
            "among networks with weight decay": number(n["decayed"]),
            "networks": count(len(n["networks"])),
        },
    )
