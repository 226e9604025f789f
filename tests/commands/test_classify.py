import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from modgrok import cli
from modgrok.tasks import task


def classify(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    cli.main(["classify", *arguments, "--json"])
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 1
    assert captured.err == ""
    return json.loads(captured.out)


@pytest.mark.parametrize(
    ("expression", "kinds"),
    [
        ("n + m", ["sum"]),
        ("sum_of_squares", ["sum"]),
        ("(n+m)^2", ["function_of_sum"]),
        ("n^2+2*n*m+m^2", ["function_of_sum"]),
        ("n*m", ["product"]),
        ("n*m+n+m", ["function_of_product"]),
        ("n^2+m^2+n*m", ["none", "unknown"]),
        ("n^3+n*m^2+m", ["none", "unknown"]),
    ],
)
def test_verdicts(capsys: pytest.CaptureFixture[str], expression: str, kinds: list[str]) -> None:
    result = classify(capsys, expression, "--modulus", "97")
    assert result["structure"] in kinds
    assert result["reason"].endswith(".")
    table = task(expression, 97).table
    if "none" in kinds:
        assert result["f1"] is result["f2"] is result["F"] is None
        assert result["closed_forms"] == []
    else:
        f1, f2, outer = (np.array(result[name]) for name in ("f1", "f2", "F"))
        inside = np.multiply.outer(f1, f2) if "product" in result["structure"] else np.add.outer(f1, f2)
        np.testing.assert_array_equal(outer[inside % 97], table)
        assert set(result["closed_forms"]) == set(result["widths"]) == {"waves", "exact", "complex"}


def test_widths(capsys: pytest.CaptureFixture[str]) -> None:
    assert classify(capsys, "n + m", "--modulus", "97")["widths"]["exact"] == 193
    assert classify(capsys, "n*m", "--modulus", "97")["widths"]["exact"] == 192


def test_products_have_a_closed_form_modulo_every_number(capsys: pytest.CaptureFixture[str]) -> None:
    result = classify(capsys, "n*m", "--modulus", "12")
    assert (result["structure"], result["closed_forms"], result["widths"]) == ("product", ["exact"], {"exact": 22})
    assert classify(capsys, "n*m", "--modulus", "15")["widths"] == {"exact": 24}


def test_operands_stand_in_their_order(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "table.npy"
    np.save(path, task("discrete:n^m", 7).table.T)
    cli.main(["classify", str(path)])
    assert "T(n, m) = g2(m) ^ g1(n)" in capsys.readouterr().out


def test_groups_are_named_and_their_representations_listed(capsys: pytest.CaptureFixture[str]) -> None:
    result = classify(capsys, "group:S4")
    assert (result["structure"], result["group"], result["widths"]["exact"]) == ("group", "S4", 64)
    assert [one["dimension"] for one in result["representations"]] == [1, 1, 2, 3, 3]


@pytest.mark.parametrize("arity", [1, 3])
def test_other_numbers_of_variables(capsys: pytest.CaptureFixture[str], arity: int) -> None:
    names = [f"n{s + 1}" for s in range(arity)]
    result = classify(capsys, " + ".join(names), "--modulus", "7")
    assert result["structure"] == "sum"
    assert result["arity"] == arity
    assert result[f"f{arity}"] is not None
    assert (result["f2"] is None) == (arity == 1)


def test_tables_from_files(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "[bold]table.csv"
    np.savetxt(path, task("n - m", 5).table, fmt="%d", delimiter=",")
    assert classify(capsys, str(path), "--modulus", "5")["structure"] == "sum"
    cli.main(["classify", str(path), "--modulus", "5"])
    assert "[bold]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("expression", "modulus", "shown"),
    [
        ("n^2 - m", 97, ["sum", "T(n, m) = f1(n) + f2(m)", "f1(n)", "n^2", "-m", "exact", "193"]),
        ("(n+m)^2", 97, ["function of sum", "T(n, m) = F(f1(n) + f2(m))", "F(x)"]),
        ("n*m+n+m", 97, ["function of product", "F(g1(n)·g2(m))", "192"]),
        ("n*m", 12, ["product", "22, exact"]),
        ("n*m", 1001, ["product", "No closed form: it would need more than 1000 functions."]),
        ("n*m", 15, ["product", "24, exact"]),
        ("discrete:n^m", 31, ["power", "T(n, m) = g1(n) ^ g2(m)", "51, exact"]),
        ("discrete:n^(1/m)", 11, ["root", "T(n, m) = g1(n) ^ (1/g2(m)), the least root", "32, exact"]),
        ("discrete:log_n(m)", 11, ["logarithm", "T(n, m) = log of g2(m) to base g1(n)", "34, exact"]),
        ("n^3+n*m^2+m", 97, ["No closed form: none is known"]),
        ("n1*n2*n3", 5, ["product", "T(n1, n2, n3) = g1(n1)·g2(n2)·g3(n3)"]),
        ("n1", 5, ["sum", "T(n) = f1(n)"]),
    ],
)
def test_tables_for_people(capsys: pytest.CaptureFixture[str], expression: str, modulus: int, shown: list[str]) -> None:
    cli.main(["classify", expression, "--modulus", str(modulus)])
    text = " ".join(capsys.readouterr().out.split())
    for part in shown:
        assert part in text


@pytest.mark.parametrize(
    ("expression", "modulus", "says"),
    [
        ("n + + m)", "97", "Column 5"),
        ("n/97", "97", "no inverse modulo 97 at any input"),
        ("n + m", "1", "at least 2"),
        ("n + m", "1000000", "at most 50,000,000 entries"),
        ("additoin", "97", "did you mean 'addition'"),
    ],
)
def test_mistakes_exit_with_2(capsys: pytest.CaptureFixture[str], expression: str, modulus: str, says: str) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["classify", expression, "--modulus", modulus])
    captured = capsys.readouterr()
    assert ended.value.code == 2
    assert captured.out == ""
    assert says in captured.err


def test_an_expression_may_begin_with_a_minus(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["classify", "--modulus", "7", "--json", "--", "-n + m"])
    assert json.loads(capsys.readouterr().out)["f1"] == [-n % 7 for n in range(7)]


def test_jax_is_not_imported() -> None:
    program = "import sys; from modgrok.cli import main; main(sys.argv[1:]); sys.exit('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, "classify", "n+m", "--modulus", "5"], capture_output=True)
    assert done.returncode == 0, done.stderr


def test_division_says_which_inputs_it_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    result = classify(capsys, "n/m")
    assert (result["structure"], result["modulus"], result["holes"]) == ("product", 97, 97)
    cli.main(["classify", "n/m"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "no answer at 97 of 9,409 inputs" in shown
    assert "g2(m) = 1/m" in shown
    cli.main(["classify", "2*n/(m + 1)", "--modulus", "7"])
    assert "= 1/(m + 1)" in " ".join(capsys.readouterr().out.split())


def test_tasks_without_a_modulus(capsys: pytest.CaptureFixture[str]) -> None:
    assert classify(capsys, "group:Z6")["structure"] == "sum"
    assert classify(capsys, "add:10")["modulus"] is None
    cli.main(["classify", "parity:40,3"])
    assert "parity:40,3: unknown" in capsys.readouterr().out
