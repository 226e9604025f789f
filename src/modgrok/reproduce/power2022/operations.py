"""The operations of Power et al., by the names that they have in the paper, as tasks of this laboratory."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Operation:
    """One table: x is n, y is m, numbers modulo p; permutations are multiplied first x, then y."""

    name: str
    task: str
    """`{group}` stands for the group."""
    symmetric: bool = False
    """Whether x and y can be exchanged."""
    listed: bool = True
    """Whether it is in the paper's figure; the others are in its code alone."""

    @property
    def of_group(self) -> bool:
        return self.task.startswith("group:")


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation("x + y", "n + m", symmetric=True),
        Operation("x − y", "n - m"),
        Operation("x · y", "n*m", symmetric=True),
        Operation("x / y", "n/m"),
        Operation("x / y if y is odd, else x − y", "power:mix1"),
        Operation("x² + y²", "n^2 + m^2", symmetric=True),
        Operation("x² + xy + y²", "n^2 + n*m + m^2", symmetric=True),
        Operation("x² + xy + y² + x", "n^2 + n*m + m^2 + n"),
        Operation("x³ + xy", "n^3 + n*m"),
        Operation("x³ + xy² + y", "n^3 + n*m^2 + m"),
        Operation("x ∘ y", "group:{group}"),
        Operation("x ∘ y ∘ x⁻¹", "group:{group}:conjugation"),
        Operation("x ∘ y ∘ x", "group:{group}:xyx"),
        Operation("x² + y", "n^2 + m", listed=False),
        Operation("x³ + y", "n^3 + m", listed=False),
        Operation("x + y if x is even, else x · y", "power:+*", listed=False),
        Operation("x + y if x is even, else x − y", "power:+-", listed=False),
    )
}
PRODUCT, DIVISION, ADDITION, CUBIC = "x ∘ y", "x / y", "x + y", "x³ + xy² + y"
