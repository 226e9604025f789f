import re
from pathlib import Path
from typing import Any

from modgrok.reproduce.catalogue import CLAIMS, chosen_studies
from modgrok.reproduce.pipeline import reproduce
from modgrok.reproduce.plan import union
from modgrok.reproduce.profile import TINY
from modgrok.reproduce.request import Request
from modgrok.reproduce.settings import describe


def test_the_report_is_whole_and_needs_nothing_else(tmp_path: Path, write_runs: Any) -> None:
    names = ("fig0", "fig2", "kernel")
    write_runs(union(chosen_studies(names, TINY), TINY))
    outcome = reproduce(Request("tiny", names, tmp_path), None, lambda text: None)
    assert outcome.report is not None
    html, markdown = outcome.report.read_text(), (tmp_path / "report.md").read_text()
    assert set(outcome.verdicts) == set(CLAIMS)
    for claim in CLAIMS.values():
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
    phrases = describe(union(chosen_studies(("fig3",), TINY), TINY))
    assert "n + m" in phrases
    assert "p = 13" in phrases
    assert "α = 0.5, 0.8" in phrases
    assert "2 seeds" in phrases
    assert "batch norm on and off" in phrases
    assert describe([]) == []
