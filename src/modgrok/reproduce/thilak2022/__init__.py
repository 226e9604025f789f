"""V. Thilak et al., The slingshot mechanism (2022)."""

from modgrok.reproduce.form import Claim, Paper, Study, Takeaway, members
from modgrok.reproduce.thilak2022 import curvature, stairs, transformer
from modgrok.reproduce.thilak2022.sizes import PROFILES

PAPER = Paper(
    key="thilak2022",
    title="The slingshot mechanism",
    reference="V. Thilak, E. Littwin, S. Zhai, O. Saremi, R. Paiss and J. Susskind, *The slingshot mechanism: an "
    "empirical study of adaptive optimizers and the grokking phenomenon* (arXiv 2206.04817, 2022)",
    line="Adam's last layer grows in stairs with spikes of the loss, which end in 64 bits",
    studies=members(Study, stairs, transformer, curvature),
    claims=members(Claim, stairs, curvature, transformer),
    profiles=PROFILES,
    cost={"quick": "1 min on two idle CPU cores", "full": "15 min on an H200, and 9 on two CPU cores"},
    takeaways=(
        Takeaway(
            "Adam without weight decay has slingshots: the last layer grows, the loss spikes, the last layer rests.",
            holds="stairs_and_spikes curvature_peaks",
        ),
        Takeaway(
            "They come from rounding: with logits and loss in 64 bits, a larger ε or weight decay 1 there are none.",
            holds="precision_is_the_cause larger_epsilon",
            remark="decay_removes",
        ),
        Takeaway(
            "The paper's transformer has late spikes as the perceptron does; its last layer grows at them, and what it "
            "reads changes most there.",
            holds="slingshots_of_the_transformer stairs_of_the_transformer features_change",
        ),
        Takeaway(
            "Without weight decay it generalizes late, and only where it has stairs: at ε = 1e-5 there are none, and "
            "the test set stays unknown for 500 000 steps.",
            holds="generalization_after_stairs",
        ),
    ),
    deviations=(
        ("network of stairs, spikes and curvature", "transformer", "two hidden layers of ReLU", "cheap"),
        ("steps of the transformer", "up to 1 000 000", "15 000; 500 000 at two ε", "device time"),
        ("steps of the perceptron", "–", "{steps}", "spikes come soon"),
        ("modulus of the perceptron, of the curvature", "97", "{modulus}, 17", "followed step by step"),
        ("tasks", "18 tables and splits", "n + m, and x / y by the transformer", "device time"),
    ),
    not_attempted=(
        ("CIFAR-10, deep linear networks, Adagrad", "not run yet"),
        ("Last-layer weights and features normalized", "no such setting yet"),
    ),
)
