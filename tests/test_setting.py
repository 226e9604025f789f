"""What follows from the declaration of a setting."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pytest

from modgrok.errors import ModgrokError, Unknown
from modgrok.setting import Setting, require_settings, setting, settings_of

SHARE = Setting("share", float, 0.5, "A share", "[0, 1)")
NAMED = Setting("kind", str, "a", "A kind", choices=lambda: ("alpha", "beta"))


@dataclass(frozen=True)
class Declared:
    size: int = setting(3, "How large it is", "[1, 9]")
    mode: Literal["fast", "slow"] | None = setting(None, "How it goes")
    extra: float = 0.5


def test_fields_are_settings_with_or_without_a_help_text() -> None:
    found = settings_of(Declared)
    assert list(found) == ["size", "mode", "extra"]
    assert (found["size"].default, found["size"].help, found["extra"].help) == (
        3,
        "How large it is",
        "Extra of Declared",
    )
    assert found["mode"].words == ("fast", "slow")


@pytest.mark.parametrize("given", [0, 0.0, np.float32(0), np.int64(0)])
def test_numbers_are_plain(given: object) -> None:
    found = SHARE.checked(given)
    assert (found, type(found)) == (0.0, float)


def test_words_may_be_typed_in_capitals() -> None:
    assert NAMED.checked("Alpha") == "alpha"
    assert settings_of(Declared)["mode"].checked("FAST") == "fast"
    assert settings_of(Declared)["mode"].checked(None) is None


@pytest.mark.parametrize(
    ("one", "value", "sentence"),
    [
        (SHARE, 1, "share must be at least 0 and less than 1, not 1.0."),
        (SHARE, -1, "share must be at least 0, not -1.0."),
        (SHARE, "x", "share must be a number, not 'x'."),
        (Setting("n", int, 1, "", "[1, 9]"), 10, "n must be at most 9, not 10."),
        (Setting("n", int, 1, "", "[1, 9]"), 1.5, "n must be a whole number, not 1.5."),
        (Setting("x", float, 1, "", "(0, 1)"), 1, "x must be strictly between 0 and 1, not 1.0."),
        (Setting("x", float, 1, "", "(0, inf)"), float("inf"), "x must be a positive number, not inf."),
        (NAMED, "beto", "kind must be one of alpha, beta, not 'beto'; did you mean 'beta'?"),
        (settings_of(Declared)["mode"], "x", "mode must be one of fast, slow, not 'x'."),
    ],
)
def test_what_cannot_be_is_one_sentence(one: Setting, value: object, sentence: str) -> None:
    with pytest.raises(ModgrokError) as raised:
        one.checked(value)
    assert str(raised.value) == sentence
    assert isinstance(raised.value, Unknown) == (one is NAMED)


def test_unknown_settings_are_named() -> None:
    with pytest.raises(ModgrokError, match="A thing has no setting 'widht'; did you mean 'width'"):
        require_settings("A thing", ["widht"], ["width", "depth"])
