"""The checks behind the form."""

from modgrok.lab import form


def test_estimates_do_not_jump() -> None:
    large, tiny = {"task": "n + m"}, {"task": "n + m", "modulus": 13, "width": 32}
    before = form.check(large)["seconds"]
    assert form.check(tiny)["seconds"] < before
    assert form.check(large)["seconds"] == before
