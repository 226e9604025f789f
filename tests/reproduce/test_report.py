import re
from pathlib import Path
from typing import Any

from modgrok.reproduce.gromov2023.sizes import TINY
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.pipeline import Request, reproduce, shares
from modgrok.reproduce.report import describe, render

PAPER = find_paper()


def test_the_report_is_whole_and_needs_nothing_else(tmp_path: Path, write_runs: Any) -> None:
    names = ("fig0", "fig2", "kernel")
    write_runs(list(shares(PAPER.chosen(names, TINY), TINY)))
    outcome = reproduce(Request(profile="tiny", only=names, out=tmp_path), say=lambda text: None)
    assert outcome.report is not None
    html, markdown = outcome.report.read_text(), (tmp_path / "report.md").read_text()
    assert list(outcome.verdicts) == [claim.name for claim in PAPER.claims]
    for claim in PAPER.claims:
        assert f'id="{claim.name}"' in html
        assert f'id="{claim.name}"' in markdown
    assert html.index("Verdicts</h2>") < html.index("Figures</h2>") < html.index("Claims in detail</h2>")
    assert len(re.findall(r'<img src="data:image/png;base64,[A-Za-z0-9+/=]+"', html)) == html.count("<img") == 2
    assert not re.search(r"https?://|<script|<link|@import|url\(", html)
    assert "modgrok reproduce --profile tiny --only fig2" in html
    for path in re.findall(r"\]\((figures/[^)]+)\)", markdown):
        assert (tmp_path / path).exists()
    anchors = set(re.findall(r'href="#([^"]+)"', html))
    assert anchors <= set(re.findall(r'id="([^"]+)"', html))


def test_settings_name_what_is_shared_and_what_varies() -> None:
    phrases = describe(PAPER.study("fig3").needs(TINY))
    assert "n + m" in phrases
    assert "p = 13" in phrases
    assert "α = 0.5, 0.8" in phrases
    assert "2 seeds" in phrases
    assert "batch norm on and off" in phrases
    assert "no biases" in describe(find_paper("power2022").study("fig1").needs(find_paper("power2022").profile("tiny")))
    assert describe([]) == []


def test_markdown_becomes_a_page_and_text_stays_text(tmp_path: Path, write_runs: Any) -> None:
    page = render("# A\n\n## How so\n\n| a | b |\n|---|---|\n| n\\*m\\*q | α < 1 |\n", "A (quick)", tmp_path)
    assert '<h2 id="how-so">' in page
    assert "<td>n*m*q</td>" in page
    assert "α &lt; 1" in page
    assert "<title>A (quick)</title>" in page


def test_answers_to_open_questions_and_errata_stand_apart(tmp_path: Path, write_runs: Any) -> None:
    write_runs(list(shares(PAPER.chosen(("powers",), TINY), TINY)))
    outcome = reproduce(Request(profile="tiny", only=("powers",), out=tmp_path), say=lambda text: None)
    assert outcome.report is not None
    text = (tmp_path / "report.md").read_text()
    papers, further = text.index("## Verdicts"), text.index("## Beyond the paper")
    beyond = [claim for claim in PAPER.claims if claim.beyond]
    assert 0 < len(beyond) < len(PAPER.claims)
    for claim in PAPER.claims:
        place = text.index(f"(#{claim.name})")
        assert place > further if claim.beyond else papers < place < further
    assert further < text.index("figures/powers.png") < text.index("## Figures")
    assert "Paper: section beyond" not in text
    errata = text.partition("## Errata of the paper")[2].partition("\n## ")[0]
    assert errata.count("\n- ") == len(PAPER.errata) >= 4
    for heading in ("## Deviations", "## Not attempted"):
        assert text.index("## Claims in detail") < text.index(heading) < text.index("## Errata of the paper")
