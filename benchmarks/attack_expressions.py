"""Fuzzed expressions: every one gives a table or a `ModgrokError`, none takes over five seconds.

    python benchmarks/attack_expressions.py [COUNT] [SEED]

Texts are grown from the grammar, then mutated; moduli run from 2 to the greatest that a table may have, and beyond.
Prints how many were read, refused by the parser, refused by their cost or size, and the slowest.
"""

import random
import resource
import sys
import time
from collections import Counter

from modgrok.errors import ModgrokError
from modgrok.tasks import ExpressionError, task

ALPHABET = "nm123456789+-*/^() .x²³⁴⁻−·×÷:ifodevls\t\n\0λ"
MOST_SECONDS = 5.0
MOST_MEGABYTES = 1500


def atom(draw: random.Random, variables: list[str]) -> str:
    return draw.choice(
        [*variables, *variables, str(draw.randrange(10)), str(draw.randrange(10 ** draw.randrange(1, 40)))]
    )


def grow(draw: random.Random, variables: list[str], depth: int) -> str:
    if depth == 0 or draw.random() < 0.15:
        return atom(draw, variables)
    one, other = grow(draw, variables, depth - 1), grow(draw, variables, depth - 1)
    return draw.choice(
        [
            f"{one} + {other}",
            f"{one}-{other}",
            f"{one}*{other}",
            f"{one}·{other}",
            f"{one}/{other}",
            f"({one})",
            f"-{one}",
            f"({one})^{draw.randrange(-9, 10**6)}",
            f"({one}){draw.choice('²³⁴⁵')}",
            f"{one}{draw.choice(['+', '*', '-', '/'])}" * draw.randrange(1, 40) + other,
        ]
    )[:12_000]


def mutated(draw: random.Random, text: str) -> str:
    for _ in range(draw.randrange(1, 4)):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(ALPHABET) + text[at + draw.randrange(2) :]
    return text


def expression(draw: random.Random) -> str:
    count = draw.choice([0, 0, 0, 0, 1, 1, 3, 3, 4, draw.choice([5, 5, 5, 5, 25])])
    text = grow(draw, [f"n{s + 1}" for s in range(count)] or ["n", "m"], draw.randrange(7))
    if draw.random() < 0.1:
        text = f"{text} if {draw.choice(['n', 'm', 'n1'])} {draw.choice(['odd', 'even'])} else {text[::-1]}"
    if draw.random() < 0.1:
        text += ":unordered"
    return mutated(draw, text) if draw.random() < 0.4 else text


def modulus(draw: random.Random) -> int:
    if draw.random() < 0.98:
        return draw.choice([2, 3, 5, 8, 12, 23])
    return draw.choice([97, 360, 1000, 2000, 7071, 49_999, 1_000_003, 49_999_991, 10**8, 10**5000, 1, 0, -7])


def main(count: int, seed: int) -> None:
    draw = random.Random(seed)
    outcomes: Counter[str] = Counter()
    slowest, slowest_text = 0.0, ""
    for _ in range(count):
        text, p = expression(draw), modulus(draw)
        began = time.process_time()
        try:
            task(text, p)
            outcomes["read"] += 1
        except ExpressionError:
            outcomes["refused by the parser"] += 1
        except ModgrokError:
            outcomes["refused otherwise"] += 1
        seconds = time.process_time() - began
        if seconds > slowest:
            slowest, slowest_text = seconds, f"{text[:60]!r} modulo {p}"
        assert seconds < MOST_SECONDS, f"{seconds:.1f} s for {text[:200]!r} modulo {p}"
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count} expressions, seed {seed}:", ", ".join(f"{n} {what}" for what, n in outcomes.most_common()))
    print(f"slowest {slowest:.2f} s: {slowest_text}; memory at most {megabytes:.0f} MB")
    assert megabytes < MOST_MEGABYTES


if __name__ == "__main__":
    main(*(int(argument) for argument in (sys.argv[1:] + ["30000", "0"][len(sys.argv) - 1 :])))
