"""A paper as a value: its prose, its studies, its claims, its profiles. Every folder here is one."""

import importlib
import json
import pkgutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import Any

import modgrok.reproduce
from modgrok.errors import ModgrokError
from modgrok.reproduce.claim import OUTCOMES, Claim, Outcome, Verdict
from modgrok.reproduce.sizes import Sizes
from modgrok.reproduce.study import Figure, Numbers, Study

DEFAULT = "gromov2023"
OUTCOMES_FILE = files("modgrok.reproduce").joinpath("outcomes.json")
"""What became of every claim in the full profile, written by `docs/tables.py`."""


@dataclass(frozen=True)
class Takeaway:
    """What a reader may take away, in a sentence, and the claims on whose outcomes it stands."""

    sentence: str
    holds: str = ""
    remark: str = ""
    fails: str = ""
    undecided: str = ""

    @property
    def stands_on(self) -> dict[str, Outcome]:
        claims = (self.holds, self.remark, self.fails, self.undecided)
        return {name: outcome for outcome, some in zip(OUTCOMES, claims, strict=True) for name in some.split()}

    def stands(self, verdicts: Mapping[str, Verdict]) -> bool:
        return all(verdicts[claim].outcome == outcome for claim, outcome in self.stands_on.items())


@dataclass(frozen=True)
class Paper:
    """What there is to reproduce, and how much work that is."""

    key: str
    """The name of its folder."""
    title: str
    reference: str
    """Authors, title and year, in Markdown."""
    line: str
    """What it is about, in one line."""
    studies: tuple[Study, ...]
    claims: tuple[Claim, ...]
    profiles: tuple[Sizes, ...]
    cost: dict[str, str]
    """How long a profile took, and on what."""
    errata: Sequence[str] = ()
    """What the paper's text and formulas get wrong, a sentence for each."""
    takeaways: Sequence[Takeaway] = ()
    deviations: Sequence[Sequence[str]] = ()
    """What is done otherwise than in the paper: what, how there, how here (`Sizes.say` puts in the sizes), and why."""
    not_attempted: Sequence[Sequence[str]] = ()
    """What of the paper is not reproduced, and why."""
    exclusive: Sequence[Sequence[str]] = ()
    """Claims of which not both can hold."""
    implied: Sequence[Sequence[str]] = ()
    """Where the first claim holds, the second has to."""

    def verdicts(self, records: dict[str, Numbers], profile: Sizes) -> dict[str, Verdict]:
        """On every claim. Where its studies train less than in the full profile, a failure is none of the paper's."""
        found, full = {claim.name: claim.verdict(records) for claim in self.claims}, self.profile("full")
        if profile.name == full.name:
            return found
        run = [study for study in self.studies if study.name not in profile.left_out]
        as_large = {study.name for study in run if study.needs(profile) == study.needs(full)}
        committed = json.loads(OUTCOMES_FILE.read_text()).get(self.key, {})
        small = {claim.name for claim in self.claims if not as_large.issuperset(claim.studies)}
        return {name: v.in_small(committed.get(name)) if name in small else v for name, v in found.items()}

    def contradictions(self, verdicts: Mapping[str, Verdict]) -> list[str]:
        """Which declared pairs of verdicts contradict each other."""
        holds = {name: verdict.outcome.startswith("holds") for name, verdict in verdicts.items()}
        found = [f"{a} and {b} cannot both hold" for a, b in self.exclusive if holds[a] and holds[b]]
        fails = {name for name, verdict in verdicts.items() if verdict.outcome == "does not hold here"}
        return found + [f"{a} holds, so {b} cannot fail" for a, b in self.implied if holds[a] and b in fails]

    @property
    def figures(self) -> tuple[Figure, ...]:
        return tuple(figure for study in self.studies for figure in study.figures)

    def profile(self, name: str) -> Sizes:
        """The profile of that name."""
        known = {profile.name: profile for profile in self.profiles}
        if name not in known:
            raise ModgrokError(f"A profile is quick or full, not {name!r}.")
        return known[name]

    def study(self, name: str) -> Study:
        return next(study for study in self.studies if study.name == name)

    def chosen(self, names: Sequence[str], profile: Sizes) -> list[Study]:
        """The studies behind figures and claims, all where none is named, less those the profile leaves out."""
        studies = {study.name: (study.name,) for study in self.studies}
        behind = studies | {figure.name: (figure.study.name,) for figure in self.figures}
        behind |= {claim.name: claim.studies for claim in self.claims}
        for name in names:
            if name not in behind:
                figures, claims = (", ".join(one.name for one in some) for some in (self.figures, self.claims))
                raise ModgrokError(f"There is no figure or claim {name!r}. Figures: {figures}. Claims: {claims}.")
        # A name that both have means the claim, whose studies are these and perhaps more.
        wanted = {study for name in names or studies for study in behind[name]}
        return [study for study in self.studies if study.name in wanted and study.name not in profile.left_out]


def members(kind: type, *modules: ModuleType) -> tuple[Any, ...]:
    """All studies or claims of modules, single or in a tuple or a dictionary, in the order in which they are written,
    those beyond the paper last."""
    found: dict[Any, None] = {}
    for value in (value for module in modules for value in vars(module).values()):
        several = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else (value,)
        found |= {one: None for one in several if isinstance(one, kind)}
    return tuple(sorted(found, key=lambda one: one.beyond))


def paper_keys() -> list[str]:
    """The papers there are, the default one first."""
    found = [module.name for module in pkgutil.iter_modules(modgrok.reproduce.__path__) if module.ispkg]
    return sorted(found, key=lambda key: (key != DEFAULT, key))


@cache
def find_paper(key: str = DEFAULT) -> Paper:
    """The prose of `paper.toml` in the folder of that key, with the studies and claims of the modules there. Under
    `[order]` the prose may name modules, studies and claims; studies and claims that it does not name come last."""
    if key not in paper_keys():
        raise ModgrokError(f"There is no paper {key!r}; there are {', '.join(paper_keys())}.")
    package = f"modgrok.reproduce.{key}"
    prose: dict[str, Any] = tomllib.loads(files(package).joinpath("paper.toml").read_text("utf-8"))
    order = prose.pop("order", {})
    paths = importlib.import_module(package).__path__
    names = order.get("modules", "").split() or [one.name for one in pkgutil.iter_modules(paths)]
    modules = [importlib.import_module(f"{package}.{name}") for name in names]

    def ordered(kind: type, names: str) -> tuple[Any, ...]:
        place = {name: i for i, name in enumerate(names.split())}
        return tuple(sorted(members(kind, *modules), key=lambda one: place.get(one.name, len(place))))

    return Paper(
        key=key,
        studies=ordered(Study, order.get("studies", "")),
        claims=ordered(Claim, order.get("claims", "")),
        profiles=importlib.import_module(f"{package}.sizes").PROFILES,
        takeaways=tuple(Takeaway(**one) for one in prose.pop("takeaways", ())),
        **prose,
    )
