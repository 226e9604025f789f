"""Why a run diverged or may not learn: the setting that is farthest from the one with which such a run learns."""

import dataclasses
from collections.abc import Iterator, Sequence
from operator import itemgetter

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment, known_settings
from modgrok.experiments.named_task import TABLE, group_order
from modgrok.text import count, number
from modgrok.training.optimizers import natural_learning_rate

USUAL = 2.0
"""Up to this factor a setting is an ordinary one."""

FAR = 100.0
"""By this factor a rate is far from the natural one."""


def why_diverged(experiment: Experiment) -> str:
    """The cause, and what to do about it, from a resolved experiment; continues a sentence that ends with a colon."""
    factor, sentence = max(_excesses(experiment, _usual(experiment)), key=itemgetter(0))
    if factor > USUAL:
        return sentence
    return f"none of its settings is far from the usual ones. Try --lr {experiment.lr / 10:g}."  # type: ignore[operator]


def rate_hint(experiment: Experiment) -> str:
    """A sentence where a resolved experiment's learning rate is orders of magnitude from the natural one, or none."""
    if experiment.task.startswith(TABLE):  # Only its store knows it.
        return ""
    e, rate, found = experiment, experiment.lr, experiment.load_task()
    assert isinstance(rate, float)
    assert e.loss is not None
    usual = natural_learning_rate(e.optimizer, e.architecture, found.signature, e.loss, group_order(e.task, found))
    if usual / FAR < rate < usual * FAR:
        return ""
    factor = f"{number(rate / usual)} times" if rate > usual else f"1/{number(usual / rate)} of"
    return f"The learning rate {number(rate)} is {factor} the natural one here, {number(usual)}: --lr auto takes that."


def rate_hints(experiments: Sequence[Experiment]) -> str:
    """The same for many resolved experiments: the sentence of the first, and how many there are where it is not all."""
    hints = [hint for hint in map(rate_hint, experiments) if hint]
    if not hints or (len(hints) == len(experiments) and len(set(hints)) == 1):
        return "".join(hints[:1])
    return f"{hints[0]} {count(len(hints))} of {count(len(experiments), 'run')} have such a rate."


def _usual(experiment: Experiment) -> Experiment:
    """The same experiment with the settings with which such a run learns."""
    changed, known = ("lr", "weight_decay", "momentum", "beta1", "beta2", "init_scale"), known_settings()
    usual = dataclasses.replace(experiment, **{name: known[name].default for name in changed})
    try:
        return usual.resolve()
    except ModgrokError:  # A table of the store's own: the natural rate cannot be known from here.
        return dataclasses.replace(usual, lr=experiment.lr).resolve()


def _excesses(e: Experiment, usual: Experiment) -> Iterator[tuple[float, str]]:
    """By which factors settings may be too large, and what to say then."""
    assert isinstance(e.lr, float)
    assert isinstance(usual.lr, float)
    decay = e.weight_decay or 0.0
    yield (
        e.lr / usual.lr,
        f"the learning rate {number(e.lr, 4)} is too large; {number(usual.lr, 4)} is usual here. Try a tenth of it, or "
        "--lr auto.",
    )
    # A step multiplies weights by 1 − rate · decay, which grows where the product is above 2.
    yield (
        usual.lr * decay,
        f"the weight decay {number(decay, 4)} is too strong: times the learning rate it is more than a step can shrink "
        f"the weights by. Try --weight-decay {usual.weight_decay or 0.1 / usual.lr:g}.",
    )
    yield (
        e.init_scale / usual.init_scale,
        f"the weights begin {number(e.init_scale / usual.init_scale, 4)} times as large as usual. Try --init-scale "
        f"{usual.init_scale:g}.",
    )
    if e.momentum is not None and usual.momentum is not None:
        yield (
            (1 - usual.momentum) / (1 - e.momentum),
            f"the momentum {number(e.momentum, 4)} makes steps {number(1 / (1 - e.momentum), 4)} times as large. "
            f"Try --momentum {usual.momentum:g}, or a smaller learning rate.",
        )
    if e.beta1 is not None and usual.beta1 is not None:
        yield (
            (1 - usual.beta1) / (1 - e.beta1),
            f"beta1 = {number(e.beta1, 4)} averages over more gradients than the steps stay small for. Try --beta1 "
            f"{usual.beta1:g}.",
        )
    # Adam's steps are bounded, by little more than the rate, where beta1² < beta2.
    if e.beta1 and e.beta2 and usual.beta2 and e.beta2 < usual.beta2:
        yield (
            USUAL * e.beta1**2 / e.beta2,
            f"beta2 = {number(e.beta2, 4)} forgets large gradients before beta1 = {number(e.beta1, 4)} does. Try "
            f"--beta2 {usual.beta2:g}.",
        )
