"""Command lines that people type: each is answered with one sentence that says what to do, and nothing is trained."""

import re
import shlex
from pathlib import Path

import pytest

import modgrok as mg
from modgrok import cli

LINES = r"""
trian "n + m"                                    | did you mean 'train'
runss                                            | did you mean 'runs'
inspect last                                     | did you mean 'analyze'
gork                                             | the commands are
--train "n + m"                                  | There is no command
train                                            | needs an EXPR: modgrok train "n + m"
train n + m                                      | put quotes around it: "n + m"
train n + m --modulus 7                          | put quotes around it: "n + m"
train n+m 97                                     | --modulus 97
train n+m mod 97                                 | put quotes
train "n + m" lr=0.3                             | write --lr 0.3
train "n + m" alpha=0.3                          | write --fraction 0.3
train "n + m" --modulus                          | --modulus needs a value
train "n + m" --modulus --json                   | --modulus needs a value
train "n + m" --modulus 97.5                     | modulus must be a whole number, not '97.5'
train "n + m" --modulus ninety                   | modulus must be a whole number, not 'ninety'
train "n + m" --modulus 1                        | modulus must be at least 2
train "n + m" --modulus -7                       | modulus must be at least 2
train "n + m" --modulus 0                        | modulus must be at least 2
train "n + m" --modulus 1e30                     | modulus must be at most
train "n + m" --modulus nan                      | modulus must be a whole number
train "n + m" --modulus=                         | modulus must be a whole number
train "n + m" --modulus 7,11                     | modulus must be a whole number, not '7,11'
train "n + m" -p 97                              | did you mean --modulus
train "n + m" --p 97                             | did you mean --modulus
train "n + m" --prime 97                         | did you mean --modulus
train "n + m" --alpha 0.5                        | did you mean --fraction
train "n + m" --frac_train 0.5                   | did you mean --fraction
train "n + m" --learning_rate 0.1                | did you mean --lr
train "n + m" --learning-rate 0.1                | did you mean --lr
train "n + m" --wd 1                             | did you mean --weight-decay
train "n + m" --epochs 100                       | did you mean --steps
train "n + m" --model mlp                        | did you mean --network
train "n + m" --optimiser gd                     | did you mean --optimizer
train "n + m" --wieght-decay 1                   | did you mean --weight-decay
train "n + m" --weigth-decay=1                   | did you mean --weight-decay
train "n + m" --modulos 7                        | did you mean --modulus
train "n + m" --step 7                           | did you mean --steps
train "n + m" --xyzzy                            | --help lists them
train "n + m" -lr 0.1                            | did you mean --lr
train "n + m" --lr 0,1                           | write 0.1 with a point
train "n + m" --lr fast                          | lr must be a number or auto
train "n + m" --lr 0                             | lr must be a positive number or auto
train "n + m" --lr -0.1                          | lr must be a positive number or auto
train "n + m" --lr inf                           | lr must be a number or auto
train "n + m" --fraction 0,5                     | write 0.5 with a point
train "n + m" --fraction 50                      | fraction must be strictly between 0 and 1
train "n + m" --fraction 50%                     | fraction must be a number, not '50%'
train "n + m" --fraction 1                       | fraction must be strictly between 0 and 1
train "n + m" --fraction 0                       | fraction must be strictly between 0 and 1
train "n + m" --steps 1.5                        | steps must be a whole number
train "n + m" --steps 10k                        | steps must be a whole number, not '10k'
train "n + m" --steps 0                          | steps must be at least 1
train "n + m" --steps 1_0x                       | steps must be a whole number
train "n + m" --optimizer adamm                  | did you mean 'adam
train "n + m" --optimizer                        | --optimizer needs a value
train "n + m" --network transfomer               | did you mean 'transformer'
train "n + m" --network rnn                      | network must be one of
train "n + m" --activation rleu                  | activation is one of
train "n + m" --activation x^99                  | activation is one of
train "n + m" --loss crossentropy                | did you mean 'cross_entropy'
train "n + m" --sampling randm                   | did you mean 'random'
train "n + m" --precision float16                | precision must be one of
train "n + m" --heads 4                          | heads has no effect
train "n + m" --network transformer --heads 3    | must be divisible by heads
train "n + m" --network mlp --batch-norm         | has no effect
train "n + m" --momentum 0.9                     | momentum has no effect
train "n + m" --tied=yes                         | --tied takes no value
train "n + m" --json true                        | one EXPR
train "n + m" --biases maybe --network mlp       | biases must be true or false
train "n + m" --record ipr nonsense              | nonsense
train "n + m" --seed -1                          | seed must be at least 0
train "n + m" --seed 0.5                         | seed must be a whole number
train "n + q" --modulus 7                        | q
train "n +" --modulus 7                          | n +
train "n m" --modulus 7                          | n m
train "n + m)" --modulus 7                       | n + m)
train "import os" --modulus 7                    | import
train "" --modulus 7                             | must stand here
train table.csv                                  | table.csv
train group:S99                                  | not 99
train "n + m" --start nowhere.safetensors        | nowhere.safetensors
train "n + m" --train-on nowhere.csv             | nowhere.csv
train "n + m" --parent abc                       | RUN@STEP
train "n + m" --width 1000000000                 | are free; take a smaller width
train "n + m" --store=file.txt/x --modulus 4x    | modulus must be a whole number
classify                                         | needs an EXPR
classify n + m                                   | put quotes around it
classify "n + m" --modulus 7.0.1                 | modulus must be a whole number
classify "n + m" --p 7                           | did you mean --modulus
solve "n + m" --form exakt                       | did you mean 'exact'
solve "n + m" --form                             | --form needs a value
solve "n + m" --frequencies 1,5                  | put spaces between values
solve "n + m" --save net.pt                      | .safetensors
solve "n + m" --width zero                       | width must be a whole number
solve "n^3 + n*m^2 + m" --modulus 7              | No closed form
runs lst                                         | did you mean 'modgrok runs list'
runs lst --json                                  | did you mean 'modgrok runs list'
runs delete abc                                  | there are list, show
runs show abc                                    | There is no run 'abc'
runs list --where fraction                       | NAME=VALUE
runs list --where alpha=0.5                      | did you mean 'fraction'
runs list --were fraction=0.5                    | did you mean --where
runs export --format xls                         | format must be one of
runs remove                                      | needs a RUN: modgrok runs remove last
analyze                                          | needs a RUN: modgrok analyze last
analyze last                                     | There is no run 'last'
analyze nowhere.npz                              | nowhere.npz
analyze last --top many                          | top must be a whole number
analyze last --figure picture.gif                | .png
film last --out film.avi                         | film.avi
sweep "n + m" --vary alpha=0.2,0.3               | did you mean 'fraction'
sweep "n + m" --vary fraction                    | NAME=VALUES
sweep "n + m" --vary fraction=0.2:0.8            | needs a step
sweep "n + m" --vary seed=0:5 --seed 3           | given or varied, not both
sweep "n + m" --vary seed=5:0                    | its start is above its end
sweep n + m --vary seed=0:5                      | put quotes around it
sweep nowhere.toml                               | nowhere.toml
sweep shw last                                   | shw
critical "n + m" --fraction 0.5                  | has no flag --fraction
critical                                         | needs an EXPR: modgrok critical "n + m"
critical n + m --modulus 7                       | quotes around each EXPR
landscape n * m                                  | quotes around each EXPR
runs list --limit 0                              | limit must be at least 1
runs label                                       | needs a RUN
runs label last                                  | --name, --tag or --note
runs pack last                                   | then the file
critical "n + m" --modulus 7,11                  | put spaces between values
critical "n + m" --low 0.9 --high 0.1            | 0 < low < high < 1
landscape --fraction 0.5,0.7                     | fraction must be a number, not '0.5,0.7'
reproduce gromov2024                             | gromov2023
reproduce --profile fast                         | profile must be one of
bench n                                          | takes only flags, not 'n'
lab --port http                                  | port must be a whole number
"""
CASES = [tuple(part.strip() for part in line.rsplit("|", 1)) for line in LINES.strip().splitlines()]


@pytest.mark.parametrize(("line", "says"), CASES, ids=[line for line, _ in CASES])
def test_one_sentence_with_the_remedy(
    line: str, says: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        cli.main(shlex.split(line))
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert says in said.err
    assert re.fullmatch(r"modgrok: [^\x1b\n]*[.?…]\n( .*\n)*", said.err), said.err  # An expression is shown below.
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("train n * m --modulus 97", "n * m"),
        ("solve --modulus 97 n * m * m", "n * m * m"),
        ("classify n * m", "n * m"),
        ("critical n * m --modulus 23 31", "n * m"),
        ("landscape n * m", "n * m"),
    ],
)
@pytest.mark.parametrize("files", [["runs"], ["b.md", "a b.md", "Makefile", "runs"]], ids=len)
def test_a_star_that_the_shell_expanded_is_named(
    line: str,
    typed: str,
    files: list[str],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in files:
        Path(name).touch()
    words = [word for given in line.split() for word in (files if given == "*" else [given])]
    with pytest.raises(SystemExit) as ended:
        cli.main(words)
    assert ended.value.code == 2
    sentence = f'The shell replaced * by the names of the files here; put quotes around EXPR: "{typed}".'
    assert capsys.readouterr().err == f"modgrok: {sentence}\n"


def test_one_file_in_its_folder_is_no_star(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("settings.json").write_text('{"task": "n + m", "modulus": 5, "width": 4, "steps": 1}')
    cli.main(["train", "settings.json"])


@pytest.mark.parametrize(
    ("foreign", "name"),
    [("alpha", "fraction"), ("p", "modulus"), ("learning_rate", "lr"), ("wd", "weight_decay"), ("epochs", "steps")],
)
def test_what_others_call_a_setting_is_answered_with_its_name(foreign: str, name: str, tmp_path: Path) -> None:
    for call in (mg.Experiment, mg.train):
        with pytest.raises(mg.ModgrokError, match=f"no setting '{foreign}'; did you mean '{name}'"):
            call("n + m", **{foreign: 1})


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("command", [*cli.COMMANDS, "runs list", "sweep show"])
def test_help_fits(
    command: str, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit) as ended:
        cli.main([*command.split(), "--help"])
    text = capsys.readouterr().out
    assert not ended.value.code
    assert max(map(len, text.splitlines())) <= max(columns, 80)
    assert text.startswith(f"usage: modgrok {command.split()[0]}")
    for poor in ("default: None", "by default 97", "\x1b", "MISSING", "<class"):
        assert poor not in text
