"""Vectors at the positions of a sequence, each kept as often as it differs.

A causal network's vector at a position depends on the tokens up to there. One that depends on no variable is the same
for all examples, one that depends on a single variable has a row for each of its values; only the others have a row for
each example. The rows of all positions stand in one array, so that a dense layer is one product.
"""

from functools import reduce
from typing import Any, NamedTuple

from modgrok.arrays import namespace, without_gradient
from modgrok.networks.layers import rows_of
from modgrok.networks.taps import tap, tapped
from modgrok.shapes import Float, Integer

FIXED, EACH = -2, -1
"""Depends on nothing; on the example. Other numbers name the one variable that something depends on."""


def depends_on_both(one: int, other: int) -> int:
    """What depends on the variables of both."""
    if one == other or other == FIXED:
        return one
    return other if one == FIXED else EACH


class Prefixes(NamedTuple):
    """The rows of all positions, one position after the other, and what each depends on."""

    values: Float[Any, "rows d"]
    on: tuple[int, ...]
    inputs: Integer[Any, "example S"]
    sizes: tuple[int, ...]
    causal: bool = True
    """Whether a position looks at earlier ones alone."""

    def rows(self, on: int) -> int:
        """How many rows something has that depends on this."""
        return 1 if on == FIXED else self.inputs.shape[0] if on == EACH else self.sizes[on]

    def spread(self, x: Float[Any, "some *rest"], of: int, to: int) -> Float[Any, "more *rest"]:
        """The rows of what depends on less, repeated or looked up."""
        if of == to:
            return x
        if of == FIXED:
            return namespace(x).broadcast_to(x, (self.rows(to), *x.shape[1:]))
        return rows_of(x, self.inputs[:, of])

    def parts(self, values: Float[Any, "rows *rest"]) -> list[Float[Any, "some *rest"]]:
        """An array over the rows of the last positions, cut into positions."""
        found: list[Any] = []
        stop = values.shape[0]
        for on in reversed(self.on):
            if stop == 0:
                break
            start = stop - self.rows(on)
            found.insert(0, values[start:stop])
            stop = start
        return found

    def last(self, count: int) -> Float[Any, "some d"]:
        """The rows of the last `count` positions."""
        return self.values[self.values.shape[0] - sum(map(self.rows, self.on[-count:])) :]

    def _seen(self, t: int) -> int:
        """How many positions the one at t looks at."""
        return t + 1 if self.causal else len(self.on)

    def asked(self, count: int, each: bool) -> "Prefixes":
        """The last `count` positions with the rows that they have after attending to all earlier positions; if
        `each` is set a row for every example."""
        chosen = range(len(self.on) - count, len(self.on))
        to = tuple(EACH if each else reduce(depends_on_both, self.on[: self._seen(t)]) for t in chosen)
        parts = zip(self.parts(self.last(count)), self.on[-count:], to, strict=True)
        spread = [self.spread(part, of, on) for part, of, on in parts]
        return self._replace(values=namespace(self.values).concatenate(spread), on=to)

    def attend(
        self,
        to: tuple[int, ...],
        q: Float[Any, "asked d"],
        k: Float[Any, "rows d"],
        v: Float[Any, "rows d"],
        heads: int,
        name: str,
    ) -> Float[Any, "more d"]:
        r"""Attention of the last positions, of which q has the rows, to all: for every head the mean of its part of v
        with weights $\mathrm{softmax}(q\cdot k/\sqrt{d/\text{heads}})$, in the rows of `to`; `name` is the block's."""
        xp, before = namespace(q), len(self.on) - len(to)
        factor = (q.shape[1] // heads) ** -0.5
        queries, keys, values = (self.parts(x.reshape(x.shape[0], heads, -1)) for x in (q, k, v))
        found: list[Any] = []
        weighed: list[tuple[Any, Any]] = []
        for t, (query, on) in enumerate(zip(queries, to, strict=True)):
            scores, seen = [], []
            for key, value, of in zip(keys[: self._seen(before + t)], values, self.on, strict=False):
                both = depends_on_both(self.on[before + t], of)
                products = self.spread(query, self.on[before + t], both) * self.spread(key, of, both)
                score = factor * products.sum(axis=2, keepdims=True)
                if both == of:  # one look-up for two
                    joint = self.spread(xp.concatenate([value, score], axis=2), of, on)
                    value, score = joint[:, :, :-1], joint[:, :, -1:]
                else:
                    value, score = self.spread(value, of, on), self.spread(score, both, on)
                scores.append(score)
                seen.append(value)
            most = without_gradient(reduce(xp.maximum, scores))
            weights = [xp.exp(score - most) for score in scores]
            if tapped():
                weighed.append((weights, seen))
                continue
            mean = sum(w * x for w, x in zip(weights, seen, strict=True)) / sum(weights)
            found.append(mean.reshape(mean.shape[0], -1))
        return xp.concatenate(found) if found else self._attend_tapped(name, weighed)

    def _attend_tapped(self, name: str, weighed: list[tuple[Any, Any]]) -> Float[Any, "rows d"]:
        """The same means, from weights that listeners get as one array (example, head, asked, seen)."""
        xp, longest = namespace(self.values), len(self.on)
        pattern = []
        for weights, _ in weighed:
            total, none = sum(weights), xp.zeros_like(weights[0])
            row = [*(w / total for w in weights), *[none] * (longest - len(weights))]
            pattern.append(xp.concatenate(row, axis=2))
        weights = tap(f"{name}.pattern", xp.stack(pattern, axis=2))
        values = xp.stack(weighed[-1][1], axis=2)  # (example, head, seen, d/heads)
        means = tap(f"{name}.heads", (weights @ values).swapaxes(1, 2))  # (example, asked, head, d/heads)
        return means.swapaxes(0, 1).reshape(-1, means.shape[2] * means.shape[3])

    def tap(self, name: str, values: Float[Any, "rows d"]) -> Float[Any, "rows d"]:
        """Tells listeners of an array over the rows of all positions as one of (example, position, d)."""
        if not tapped():
            return values
        by_example = values.reshape(len(self.on), -1, values.shape[1]).swapaxes(0, 1)
        return tap(name, by_example).swapaxes(0, 1).reshape(values.shape)
