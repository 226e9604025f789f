"""Fuzzed expressions: every one gives a table or a `ModgrokError`, in bounded time and memory.

Texts are grown from the grammar, then mutated; moduli run from 2 to the greatest that a table may have, and beyond.
"""

import random
import time
from collections import Counter
from typing import Any

from attack import Memory, main

from modgrok.errors import ModgrokError
from modgrok.tasks import ExpressionError, task

ALPHABET = "nm123456789+-*/^() .x²³⁴⁻−·×÷:ifodevls\t\n\0λ"
SEED = 12
SECONDS, GIGABYTES = 5.0, 1.0
"""No expression may take longer, of the processor's time, or more memory."""


def attack(cases: int) -> dict[str, Any]:
    memory = Memory()
    draw, outcomes, failures, slowest = random.Random(SEED), Counter[str](), list[str](), 0.0
    for number in range(cases):
        text, p = expression(draw), modulus(draw)
        what = f"case {number}, {text[:200]!r} modulo {p % 10**20}"
        began = time.process_time()
        try:
            task(text, p)
            outcomes["read"] += 1
        except ExpressionError:
            outcomes["refused_by_the_parser"] += 1
        except ModgrokError:
            outcomes["refused_otherwise"] += 1
        except Exception as error:
            failures.append(f"{what}: {type(error).__name__}: {error}")
        seconds = time.process_time() - began
        slowest = max(slowest, seconds)
        if seconds > SECONDS:
            failures.append(f"{what}: {seconds:.1f} s")
    gigabytes = memory.gigabytes
    if gigabytes > GIGABYTES:
        failures.append(f"{gigabytes:.1f} GB of memory")
    return {
        "cases": cases,
        **outcomes,
        "slowest": f"{slowest:.1f} s of CPU",
        "memory": f"{gigabytes:.1f} GB",
        "failures": failures,
    }


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


if __name__ == "__main__":
    main("fuzzed expressions", attack, 30_000)
