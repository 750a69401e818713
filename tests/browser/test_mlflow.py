"""What a person finds who opens the links that ``fints ui`` prints."""

import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

TRANSFORMERS = ("CycleTransformer[cycle]", "CycleTransformer[rope]")
NAMES = (*TRANSFORMERS, "HAR", "Naive")


def sees(page, *texts):
    """Wait until every text can be seen."""
    for text in texts:
        page.get_by_text(text, exact=False).locator("visible=true").first.wait_for()


def curves(served):
    """Return the link to the curves."""
    (link,) = [link for words, link in served.places.latest.links.items() if words.startswith("curves")]
    return link


def test_the_table_of_runs_ranks_the_models_by_their_error(page, served):
    page.goto(curves(served).replace("&compareRunsMode=CHART", ""))
    sees(page, *NAMES, "headline/rmse", "headline/skill")
    cells = page.locator("[role=gridcell][col-id*='headline/rmse']")
    cells.nth(len(NAMES) - 1).wait_for()
    scores = [float(text) for text in cells.all_inner_texts()]
    assert len(scores) == len(NAMES)
    assert scores == sorted(scores)


def test_the_chart_compares_the_curves_of_all_models(page, served):
    page.goto(curves(served))
    sees(page, "Errors by bars ahead", "by_horizon/rmse", *NAMES)
    sees(page, *(f"{name} (by_horizon/rmse)" for name in TRANSFORMERS))  # the legend
    lines = page.locator(".js-line")
    lines.nth(len(NAMES) - 1).wait_for(state="attached")
    assert len(set(lines.evaluate_all("lines => lines.map(line => getComputedStyle(line).stroke)"))) == len(NAMES)


def test_the_report_is_shown_among_the_artifacts(page, served):
    page.goto(served.places.latest.links["report"])
    report = page.frame_locator("iframe").first
    for text in ("Leaderboard", *NAMES[2:]):
        report.get_by_text(text, exact=False).first.wait_for()


def test_the_page_of_a_backtest_begins_with_the_verdict_and_leads_to_the_curves(page, served):
    latest = served.places.latest
    page.goto(latest.links["verdict"])
    sees(page, latest.sentence[:60], *NAMES)
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Curves").click()
    opened.value.set_default_timeout(90_000)
    sees(opened.value, "by_horizon/rmse")
    opened.value.close()
