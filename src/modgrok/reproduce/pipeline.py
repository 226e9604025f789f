"""From a request to the report: plan, train, measure, draw, judge; every stage reads what the one before wrote."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments import Observer, Store
from modgrok.experiments.files import translate_os_errors, write_bytes
from modgrok.reproduce.catalogue import CLAIMS, STUDIES, chosen_studies
from modgrok.reproduce.claims.claim import Verdict, judge_claim
from modgrok.reproduce.plan import union
from modgrok.reproduce.profile import Profile, profile_named
from modgrok.reproduce.records import add_to_session, copy_records, read_records, write_record
from modgrok.reproduce.request import Request
from modgrok.reproduce.study import Numbers, Runs, Study
from modgrok.reproduce.style import applied, compressed_png

Say = Callable[[str], None]
RESOLUTION = 200
"""Dots per inch of PNG figures."""


@dataclass(frozen=True)
class Outcome:
    """What a reproduction ends with."""

    verdicts: dict[str, Verdict]
    report: Path | None


def reproduce(request: Request, observer: Observer | None = None, say: Say = print) -> Outcome:
    """Does what is asked and writes it to the request's folder."""
    profile = profile_named(request.profile)
    studies = chosen_studies(request.only, profile)
    if request.from_numbers is not None:
        profile = profile_named(copy_records(request.from_numbers, request.out))
    else:
        train(studies, profile, request.out, observer, request.force)
        measure(studies, profile, request.out, say)
    records = read_records(request.out, profile)
    verdicts = {name: judge_claim(claim, records) for name, claim in CLAIMS.items()}
    if request.numbers_only:
        return Outcome(verdicts, None)
    wanted = [study.name for study in studies] if request.only else list(records)
    drawn = draw({name: records[name] for name in wanted if name in records}, request.out)
    if request.only:
        for path in drawn:
            say(f"figure: {path}")
    from modgrok.reproduce.report import write_report

    return Outcome(verdicts, write_report(records, verdicts, profile, request.out))


def train(studies: Sequence[Study], profile: Profile, out: Path, observer: Observer | None, force: bool) -> None:
    """Trains what the folder's store does not have yet."""
    store = Store(out / "runs")
    experiments = union(studies, profile)
    runs = [store.add(experiment) for experiment in experiments]
    if force:
        for run in runs:
            if run.folder.exists():
                store.remove(run)
    if all(run.result is not None for run in runs):
        return
    from modgrok.training.devices import use_all_cores

    use_all_cores()
    from modgrok.experiments.trainer import train_stored

    began = time.monotonic()
    try:
        train_stored(experiments, store, observer)
    finally:
        known: dict[str, Any] = next(
            (run.settings["environment"] for run in runs if (run.folder / "experiment.json").exists()), {}
        )
        add_to_session(out, profile, known, time.monotonic() - began)


def measure(studies: Sequence[Study], profile: Profile, out: Path, say: Say) -> None:
    """Computes and writes the numbers of every study."""
    runs = Runs(Store(out / "runs"))
    for study in studies:
        began = time.monotonic()
        write_record(out, study, profile, study.numbers(profile, runs))
        if time.monotonic() - began > 2:
            say(f"{study.name}: numbers in {time.monotonic() - began:.0f} s")


def draw(records: dict[str, Numbers], out: Path) -> list[Path]:
    """Draws figures from numbers, as PNG and SVG; returns where the former are."""
    drawn = []
    for name, numbers in records.items():
        make = STUDIES[name].draw
        if make is None:
            continue
        folder = out / "figures"
        with translate_os_errors(folder), applied():
            figure = make(numbers)
            folder.mkdir(parents=True, exist_ok=True)
            write_bytes(folder / f"{name}.png", compressed_png(figure, RESOLUTION))
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
        drawn.append(folder / f"{name}.png")
    return drawn


def check_out(out: Path) -> None:
    """The folder is one, or can become one."""
    if out.exists() and not out.is_dir():
        raise ModgrokError(f"The reproduction goes to a folder, and {out} is a file.")
