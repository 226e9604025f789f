from pathlib import Path

import modgrok as mg

TINY = {"width": 16, "lr": 0.1, "steps": 3, "evaluations": 3}


def test_functions_are_swept_and_keep_their_names(tmp_path: Path) -> None:
    def difference(n: int, m: int) -> int:
        return n - m

    named = {"square": lambda n, m: (n + m) ** 2, "plain": "n + m"}
    table = mg.sweep("n + m", 7, vary={"task": named, "seed": range(2)}, store=tmp_path, **TINY)
    assert table["task"] == ["square", "square", "plain", "plain"]
    assert table["steps_taken"] == [3] * 4
    table = mg.sweep("n + m", 7, vary=[{"task": [difference, "n * m"]}], store=tmp_path, **TINY)
    assert table["task"] == ["difference", "n * m"]
    table = mg.sweep("n + m", 7, vary={"task": "n+m,n*m"}, store=tmp_path, **TINY)
    assert table["task"] == ["n+m", "n*m"]
