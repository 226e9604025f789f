"""Requests to the server: answers, refusals, bounds."""

import shlex
import signal
from pathlib import Path
from typing import Any

import pytest

from modgrok import cli
from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment, Run, Store
from modgrok.lab import limits
from modgrok.lab.frames import unpack
from modgrok.lab.library import command
from modgrok.lab.server import Lab, open_port

PORT = 8642
TOKEN = "the-token"
HOST = f"http://127.0.0.1:{PORT}"


@pytest.fixture
def run(store: Store) -> str:
    return next(r.id for r in store if r.snapshots)


PATHS = (
    "/api/state",
    "/api/runs",
    "/api/events",
    "/api/sweeps",
    "/nothing",
    "/static",
    "/?token=guess",
    "/lab?token=x",
)


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_answered_without_the_token(bare: Any, path: str) -> None:
    for headers in ({}, {"x-modgrok-token": "guess"}, {"cookie": f"modgrok-lab-{PORT}={TOKEN}"}):
        answer = bare.get(path, headers=headers)
        assert answer.status_code == 401
        assert answer.headers["connection"] == "close"
        assert "modgrok lab" in answer.text
    assert bare.get(f"/api/runs?token={TOKEN}").status_code == 401
    assert bare.post("/api/train", json={"task": "n+m"}).status_code == 401


@pytest.mark.parametrize("path", ["/", "/lab", "/static/main.js", f"/?token={TOKEN}"])
def test_pages_and_scripts_hold_no_secret_and_set_no_cookie(bare: Any, path: str) -> None:
    answer = bare.get(path)
    assert answer.status_code == 200
    assert TOKEN not in answer.text
    assert "set-cookie" not in answer.headers
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", f"evil.example:{PORT}", f"127.0.0.1:{PORT + 1}", f"127.0.0.1.nip.io:{PORT}"]
)
def test_a_foreign_host_is_refused(client: Any, host: str) -> None:
    assert client.get("/api/runs", headers={"host": host}).status_code == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8642", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(client: Any, origin: str) -> None:
    for method in ("GET", "POST"):
        assert client.request(method, "/api/stop", headers={"origin": origin}, content=b"{}").status_code == 403
    assert client.get("/api/runs", headers={"origin": HOST}).status_code == 200


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
        "/static/%2fetc%2fpasswd",
        "/static//etc/passwd",
        "/api/runs/..%2f..",
        "/api/runs/%2e%2e",
        "/api/runs/..%5c..",
        "/api/sweeps/..",
        "/api/sweeps/%2e%2e%2fx",
        "/api/runs/lock",
        "/api/runs/0123456789ab",
        "/api/runs/0123456789ab/replay",
    ],
)
def test_no_path_leads_out_of_the_store(client: Any, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (400, 404, 422)
    assert "root:" not in answer.text
    assert "import" not in answer.text


def test_sizes_are_bounded_with_a_sentence(client: Any) -> None:
    long = client.post("/api/check", content=b"x" * (limits.REQUEST_BYTES + 1))
    assert long.status_code == 413
    assert str(limits.REQUEST_BYTES) in long.text
    for settings in (
        {"modulus": 401},
        {"width": 10**6},
        {"steps": 10**9},
        {"snapshots": 10**6},
        {"modulus": 400, "width": 8000},
        {"task": "+".join(f"n{k}" for k in range(1, 24)), "modulus": 2},
    ):
        answer = client.post("/api/check", json={"task": "n + m", "modulus": 7} | settings).json()
        assert not answer["valid"]
        assert "at most" in answer["error"]


def test_what_does_not_fit_in_memory_is_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modgrok.experiments.cost.free_bytes", lambda: 1000)
    settings = {"task": "n + m", "modulus": 7}
    assert " kB are free" in client.post("/api/check", json=settings).json()["error"]
    assert client.post("/api/train", json=settings).status_code == 422


@pytest.mark.parametrize("task", ["/etc/passwd.csv", "../table.npy", "table:0123456789abcdef"])
def test_files_are_no_tasks_here(client: Any, task: str) -> None:
    answer = client.post("/api/check", json={"task": task, "modulus": 7}).json()
    assert not answer["valid"]
    assert client.post("/api/train", json={"task": task, "modulus": 7}).status_code == 422


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"3", b'{"unknown": 1}'])
def test_bad_requests_get_a_sentence(client: Any, body: bytes) -> None:
    answer = client.post("/api/check", content=body)
    assert answer.json().get("error"), answer.text
    assert client.post("/api/train", content=body).status_code == 422


def test_an_expression_is_checked_while_it_is_typed(client: Any) -> None:
    good = client.post("/api/check", json={"task": "n^2 + m", "modulus": 97, "optimizer": "gd"}).json()
    assert good["valid"]
    assert good["structure"] == "sum"
    assert good["lr"] == Experiment("n^2+m", optimizer="gd").resolve().lr
    assert good["forms"]["exact"] == 193
    assert good["seconds"] > 0
    assert good["run"] == Experiment("n^2+m", optimizer="gd").id
    bad = client.post("/api/check", json={"task": "n + * m", "modulus": 97}).json()
    assert not bad["valid"]
    assert bad["column"] == 5


def test_runs_are_listed_and_opened(client: Any, run: str, store: Store) -> None:
    (store.folder / "fedcba987654").mkdir()
    (store.folder / "fedcba987654" / "experiment.json").write_text("{")
    listed = client.get("/api/runs").json()
    assert listed["total"] == 3
    assert sorted(row["status"] for row in listed["runs"]) == ["damaged", "finished", "finished"]
    details = client.get(f"/api/runs/{run}").json()
    assert details["rows"][-1]["step"] == details["snapshots"][-1] == 30
    assert details["task"]["closed_form_ipr"]["task_ipr"] == pytest.approx(0.25)
    words = shlex.split(details["command"])
    assert words[:3] == ["modgrok", "train", "n+m"]


def test_frames_theory_and_measures(client: Any, store: Store) -> None:
    for found in store:
        details = client.get(f"/api/runs/{found.id}").json()
        step = details["snapshots"][-1]
        header, _ = unpack(client.get(f"/api/runs/{found.id}/frames/{step}").content)
        result = found.result
        assert result is not None
        assert header["test_accuracy"] == pytest.approx(result["test_accuracy"])
        assert header["train_loss"] == pytest.approx(result["train_loss"], rel=1e-4)
        changed, _ = unpack(client.get(f"/api/runs/{found.id}/frames/{step}?changes=closed:exact").content)
        assert changed["accuracy"] == 1
        raw, _ = unpack(client.get(f"/api/runs/{found.id}/frames/{step}?coordinate=raw").content)
        assert raw["length"] == found.experiment.modulus
        theory, _ = unpack(client.get(f"/api/runs/{found.id}/theory/exact").content)
        assert theory["accuracy"] == 1
        assert 0 < client.get(f"/api/runs/{found.id}/measures/{step}").json()["both"] < 1
        assert client.get(f"/api/runs/{found.id}/frames/7777").status_code == 422
        assert client.get(f"/api/runs/{found.id}/theory/magic").status_code == 422


def test_sweeps_are_read_from_the_store(client: Any, store: Store, run: str) -> None:
    folder = store.folder / "sweeps" / "abc123"
    folder.mkdir(parents=True)
    (folder / "sweep.json").write_text('{"experiment": {"task": "n+m", "modulus": 13}, "vary": []}')
    (folder / "table.csv").write_text(
        f"task,modulus,fraction,seed,run,status,grokked_at\nn+m,13,0.5,0,{run},finished,\nn+m,13,0.6,0,{run},finished,40\n"
    )
    assert client.get("/api/sweeps").json() == {"sweeps": [{"sweep": "abc123", "title": "n+m mod 13"}]}
    found = client.get("/api/sweeps/abc123").json()
    assert found["axes"] == ["fraction"]
    assert [row["grokked_at"] for row in found["rows"]] == [None, 40]


def test_the_replay_file_needs_nothing_else(client: Any, run: str) -> None:
    answer = client.get(f"/api/runs/{run}/replay")
    assert "attachment" in answer.headers["content-disposition"]
    assert 'src="/' not in answer.text
    assert 'href="/' not in answer.text
    assert answer.text.count("data-frame=") == 5 + 2


def test_the_command_line_trains_the_same_run() -> None:
    from modgrok.commands.arguments import parse
    from modgrok.commands.train import Train
    from modgrok.experiments.given_settings import chosen_settings

    experiments = [
        Experiment("n + m"),
        Experiment("n*m", 23, width=64, optimizer="gd", batch_norm=True, dropout=0.1, seed=3),
        Experiment("-n + m", 31, parametrization="standard", lr=0.01, until=5, beta2=0.999),
        Experiment("n + m", 31, parent="0123456789ab@100", weight_decay=0.25, steps=77),
        Experiment("n + m", 31, network="transformer", heads=2, layer_norm="pre", biases=False),
        Experiment("group:S3", network="mlp", depth=2, grokfast="ema", grokfast_lambda=3.0),
        Experiment("parity:10,3", network="mlp", examples=100, loss="hinge"),
        Experiment("parity:10,3", network="mlp", examples=100, lr=0.003, weight_decay=0.01, steps=400, seed=2),
    ]
    for experiment in experiments:
        words = shlex.split(command(experiment.resolve()))
        assert Experiment(**parse(Train, "train", words[2:], chosen_settings()).settings).id == experiment.id


def test_a_port_in_use_is_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taken = open_port(0)
    port = taken.getsockname()[1]
    with taken, pytest.raises(SystemExit) as ended:
        cli.main(["lab", "--no-browser", "--port", str(port), "--store", str(tmp_path)])
    assert ended.value.code == 2
    assert f"Port {port}" in capsys.readouterr().err
    with pytest.raises(ModgrokError, match="from 1 to 65535"):
        open_port(99999)


def test_a_signal_closes_the_lab_with_one_sentence(store: Store, lab_process: Any) -> None:
    numbers = (signal.SIGTERM, signal.SIGHUP)  # Ctrl-C closes the labs of the browser's tests.
    labs = [lab_process(store.folder) for _ in numbers]
    for number, lab in zip(numbers, labs, strict=True):
        code, said = lab.close(number)
        assert code == 128 + number
        assert [line for line in said.splitlines() if line.startswith("modgrok: ")] == [
            "modgrok: The lab is closed; runs in training are stored."
        ]
        assert "Traceback" not in said


def test_the_server_does_not_import_jax() -> None:
    import subprocess
    import sys

    code = "import sys, modgrok.lab.server, modgrok.commands.lab; assert 'jax' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_file_of_the_page_is_there_and_small() -> None:
    from modgrok.lab import assets

    assert {"story.html", "lab.html", "main.js", "panels/curves.js", "story/story.replay"} <= assets.names()
    scripts = {name for name in assets.names() if name.endswith(".js")}
    assert scripts == {*assets.modules("main.js"), *assets.modules("story/main.js")}, "none that nobody imports"
    for name in scripts:
        assert assets.text(name).count("\n") < 300, name
    assert sum(len(assets.content(name)) for name in assets.names()) < 1_200_000


SAME = ("content-security-policy", "x-content-type-options", "referrer-policy", "cache-control")


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/", {}),
        ("GET", "/nothing", {}),
        ("GET", "/", {"host": "evil.example"}),
        ("GET", "/", {"x-modgrok-token": "guess"}),
        ("GET", f"/?token={TOKEN}", {}),
        ("GET", "/?token=guess", {}),
        ("DELETE", "/", {}),
        ("POST", "/", {}),
        ("GET", "/static/..", {}),
        ("GET", "/api/runs/nothing", {}),
        ("POST", "/api/check", {"content-length": "99999999"}),
    ],
)
def test_every_reply_carries_the_same_headers(client: Any, method: str, path: str, headers: dict[str, str]) -> None:
    answer = client.request(method, path, headers)
    assert [name for name in SAME if name not in answer.headers] == []
    assert "default-src 'self'" in answer.headers["content-security-policy"]


def test_a_mistake_of_the_lab_carries_them_too(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> None:
        raise AssertionError

    monkeypatch.setattr("modgrok.lab.library.Library.runs", lambda self: broken())
    answer = client.get("/api/runs")
    assert answer.status_code == 500
    assert [name for name in SAME if name not in answer.headers] == []


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"task": 3}',
        b'{"task": "n+m", "modulus": ' + b"9" * 5000 + b"}",
        b"[" * 30_000,
        b'{"a":' * 5_000,
        b"null",
    ],
)
def test_odd_bodies_are_refused_with_a_sentence(client: Any, body: bytes) -> None:
    for path in ("/api/check", "/api/train"):
        answer = client.post(path, content=body)
        assert answer.status_code == 422, answer.text
        assert answer.json()["error"].endswith(".")


@pytest.mark.parametrize("step", ["9" * 5000, "-1", "1.5", "x", "٣", "999999999999"])
def test_odd_steps_are_refused_with_a_sentence(client: Any, run: str, step: str) -> None:
    for what in ("frames", "measures"):
        answer = client.get(f"/api/runs/{run}/{what}/{step}")
        assert answer.status_code == 422, answer.text


def test_a_stated_length_with_chunks_does_not_pass_the_bound(client: Any) -> None:
    body = b'{"task": "' + b"n" * (2 * limits.REQUEST_BYTES) + b'"}'
    both = {"content-length": "10", "transfer-encoding": "chunked"}
    assert client.request("POST", "/api/check", both, content=body).status_code == 413
    lying = client.request("POST", "/api/check", {"content-length": "10"}, content=body)
    assert lying.status_code == 422
    assert str(limits.REQUEST_BYTES) in lying.text


DAMAGES: dict[str, tuple[str, str]] = {
    "no settings": ("experiment.json", "{}"),
    "deep settings": ("experiment.json", "[" * 20_000),
    "settings of another kind": ("experiment.json", '{"experiment": {"task": ["n"], "modulus": "x"}}'),
    "a modulus that is infinite": (
        "experiment.json",
        '{"format": 1, "experiment": {"task": "n+m", "modulus": Infinity}}',
    ),
    "a result that is NaN": ("result.json", '{"status": "finished", "steps": 30, "test_accuracy": NaN}'),
    "a result without status": ("result.json", '{"steps": 30}'),
    "a result that is a list": ("result.json", "[1, 2]"),
    "a status that is none": ("result.json", '{"status": 7, "steps": "many", "grokked_at": {}, "test_accuracy": []}'),
    "curves that are no numbers": ("curves.jsonl", '{"step": "x"}\n{"step": null}\n'),
    "curves that are infinite": ("curves.jsonl", '{"step": 0, "train_loss": Infinity, "test_accuracy": NaN}\n'),
    "curves that are no lines": ("curves.jsonl", "\x00\xff\n[]\n"),
    "weights that are none": ("network.safetensors", "nothing"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_one_damaged_run_breaks_nothing_but_itself(client: Any, store: Store, run: str, damage: str) -> None:
    name, content = DAMAGES[damage]
    (store.folder / run / name).write_text(content, encoding="latin-1")
    listed = client.get("/api/runs")
    assert listed.status_code == 200, listed.text
    assert {row["run"] for row in listed.json()["runs"]} == {
        found.name for found in store.folder.glob("*/") if len(found.name) == 12
    }
    other = next(row["run"] for row in listed.json()["runs"] if row["run"] != run)
    assert client.get(f"/api/runs/{other}").status_code == 200
    for path in ("", "/frames/0", "/frames/30", "/measures/30", "/theory/exact", "/replay"):
        answer = client.get(f"/api/runs/{run}{path}")
        assert answer.status_code in (200, 422), (path, answer.text)
        if answer.status_code == 422:
            assert answer.json()["error"]


def test_the_medians_of_the_map_are_those_of_the_summary(client: Any, store: Store, run: str) -> None:
    from modgrok.experiments.sweeps.summary import Cell

    folder = store.folder / "sweeps" / "abc"
    folder.mkdir(parents=True)
    values = {0.5: [40, 60, 90, 100], 0.6: [20, ""]}
    end = {"": "diverged"}
    lines = [
        f"n+m,{a},{seed},{run},{end.get(v, 'finished')},{v}"
        for a, found in values.items()
        for seed, v in enumerate(found)
    ]
    (folder / "table.csv").write_text("task,fraction,seed,run,status,grokked_at\n" + "\n".join(lines) + "\n")
    found = client.get("/api/sweeps/abc/map?x=fraction&y=&outcome=grokked_at").json()
    assert found["x_values"] == [0.5, 0.6]
    assert [cell["median"] for cell in found["cells"][0]] == [Cell(4, (40.0, 60.0, 90.0, 100.0)).median, 20] == [75, 20]
    assert [(cell["runs"], cell["diverged"]) for cell in found["cells"][0]] == [(4, 0), (2, 1)]
    across = client.get("/api/sweeps/abc/map?x=fraction&y=seed&outcome=grokked_at").json()
    assert across["cells"][1][1]["median"] is None
    assert client.get("/api/sweeps/abc/map?x=width&y=&outcome=grokked_at").status_code == 422
    assert client.get("/api/sweeps/abc/map?x=fraction&y=&outcome=magic").status_code == 422


def test_a_run_says_which_panels_apply(client: Any, run: str) -> None:
    found = client.get(f"/api/runs/{run}").json()
    assert {"curves", "weights", "answers", "path", "theory"} <= set(found["panels"])
    assert found["auto"]["lr"] > 0
    assert found["parent"] is None


def test_the_token_stands_in_no_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from modgrok.commands import lab as command_line

    opened: list[str] = []
    monkeypatch.setattr(command_line.webbrowser, "open", lambda address: opened.append(address))
    monkeypatch.setattr(command_line, "serve", lambda store, port, ready: ready(Lab(store, PORT, TOKEN)))
    files: list[str] = []
    door = command_line._door

    def remember(folder: Path, address: str) -> str:
        found = door(folder, address)
        files.append((folder / "lab.html").read_text())
        assert (folder / "lab.html").stat().st_mode & 0o077 == 0
        return found

    monkeypatch.setattr(command_line, "_door", remember)
    command_line.main(["--store", str(tmp_path)])
    assert TOKEN not in opened[0]
    assert opened[0].startswith("file://")
    assert TOKEN in files[0]
    assert not list(tmp_path.glob("lab.html"))


NEITHER = {"curves", "sweep"}


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("transformer", {*NEITHER, "answers", "embedding", "circuit"}),
        ("embedding", {*NEITHER, "answers", "embedding"}),
        ("group", {*NEITHER, "answers", "embedding"}),
        ("integers", {*NEITHER, "answers", "embedding"}),
        ("parity", NEITHER),
        ("teacher", NEITHER),
        ("codes", {*NEITHER, "embedding"}),
        ("three", {*NEITHER, "weights", "plane", "circle", "whatif", "ipr", "theory"}),
    ],
)
def test_runs_of_every_kind_open_with_the_panels_that_apply(
    kinds_client: Any, kinds: dict[str, Run], name: str, shown: set[str]
) -> None:
    run, client = kinds[name], kinds_client
    details = client.get(f"/api/runs/{run.id}").json()
    assert set(details["panels"]) == shown
    checked = client.post("/api/check", json=details["settings"]).json()
    assert checked["valid"], checked
    assert checked["run"] == run.id
    assert len(details["snapshots"]) == (0 if shown == NEITHER else 2)
    if "answers" in shown:
        step = details["snapshots"][-1]
        header, arrays = unpack(client.get(f"/api/runs/{run.id}/frames/{step}").content)
        assert header["test_accuracy"] == pytest.approx(run.result["test_accuracy"])  # type: ignore[index]
        assert list(arrays["predictions"].shape) == header["sizes"]
        assert len(arrays["embedding_plane"]) == header["sizes"][0]
        assert ("embedding_spectrum" in arrays) == (name in ("transformer", "embedding"))
    if "circuit" in shown:
        measured = client.get(f"/api/runs/{run.id}/measures/{step}").json()
        assert measured["restricted"] > 0 < measured["excluded"]
        assert details["keys"]
        assert arrays["attention"].shape == (7, 7, 2, 3)
    assert client.get(f"/api/runs/{run.id}/theory/exact").status_code == 422 or "weights" in shown
    assert client.get(f"/api/runs/{run.id}/replay").status_code == 200
