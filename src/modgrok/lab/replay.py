"""One run as one HTML file that replays it offline, without Python: page, modules, curves and frames."""

import gzip
import html
import json

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments import Run
from modgrok.lab import assets
from modgrok.lab.library import FRAMED, Library
from modgrok.lab.limits import REPLAY_FRAMES


def replay(library: Library, run: Run) -> str:
    """The file's text. Of longer runs some snapshots are left out, evenly; where only curves are drawn, all."""
    details = library.details(run)
    steps = details["snapshots"]
    if not steps and FRAMED & set(details["panels"]):
        raise ModgrokError(f"Run {run.id} kept no weights, so there is nothing to replay.")
    if steps:
        chosen = np.unique(np.round(np.linspace(0, len(steps) - 1, REPLAY_FRAMES)).astype(int))
        steps = details["snapshots"] = [steps[i] for i in chosen]
    has_waves = "weights" in details["panels"]
    measured = has_waves or "circuit" in details["panels"]
    details["measures"] = {step: library.measures(run, step) for step in steps} if measured else {}
    coordinate = "task" if details["task"]["index"] is not None else "raw"
    frames = {f"{step}": library.frame(run, step, coordinate, []) for step in steps}
    forms = [form for form in details["task"]["forms"] if has_waves and form != "complex"]
    frames |= {form: library.theory(run, form, coordinate) for form in forms}
    details["coordinate"] = coordinate
    about = json.dumps(details, allow_nan=False).replace("<", "\\u003c")
    packed = {name: assets.base64_of(gzip.compress(content, 6)) for name, content in frames.items()}
    page = assets.one_file(
        "lab.html",
        "main.js",
        f'<script type="application/json" id="replay-run">{about}</script>',
        *(f'<script type="text/plain" data-frame="{name}">{content}</script>' for name, content in packed.items()),
    )
    title = f"{run.task.name}, run {run.id}"
    return page.replace("<title>modgrok lab", f"<title>{html.escape(title)}")
