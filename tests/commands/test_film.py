import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from modgrok import cli
from modgrok.experiments import Store
from modgrok.palette import TEST
from modgrok.plot.film import film_steps


def blue(picture: Any) -> float:
    """The share of the table, the middle panel, in the color of what was never shown and is right."""
    picture = picture.crop((picture.width // 3, 0, 4 * picture.width // 7, picture.height))
    wanted = [int(TEST[i : i + 2], 16) for i in (1, 3, 5)]
    return float((np.abs(np.asarray(picture.convert("RGB")).astype(int) - wanted).max(axis=-1) < 24).mean())


@pytest.mark.parametrize("suffix", ["gif", "webp", "png"])
def test_the_table_floods_with_blue(run_json: Any, grokked: Path, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"film.{suffix}"
    said = run_json("film", "last", "--store", str(grokked), "--out", str(path), "--seconds", "1")
    content = path.read_bytes()
    assert said == {"run": next(iter(Store(grokked))).id, "file": str(path), "bytes": len(content)}
    moving: Any = Image.open(io.BytesIO(content))
    assert moving.n_frames > 3
    first = blue(moving)
    moving.seek(moving.n_frames - 1)
    assert blue(moving) > 3 * first
    assert blue(moving) > 0.05


def test_steps_are_even_in_logarithmic_time() -> None:
    assert film_steps([0, 1, 10, 100], 4) == [0, 1, 10, 100]
    assert film_steps([0, 99], 5) == [0, 0, 0, 0, 99]


def test_what_cannot_be_filmed_is_refused(capsys: pytest.CaptureFixture[str], grokked: Path, tmp_path: Path) -> None:
    for arguments, words in (
        (["--out", str(tmp_path / "film.avi")], ".gif, .webp or .png"),
        (["--out", str(tmp_path / "film.gif"), "--seconds", "-1"], "at most 120, not -1"),
    ):
        with pytest.raises(SystemExit) as refused:
            cli.main(["film", "--store", str(grokked), *arguments])
        assert refused.value.code == 2
        assert words in " ".join(capsys.readouterr().err.split())
