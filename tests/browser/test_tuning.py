"""What a person finds of a search who opens the links that ``fints ui`` prints, and its page on a phone."""

import pytest

from tests.browser.conftest import serve
from tests.browser.test_mlflow import sees

pytestmark = pytest.mark.filterwarnings("ignore")  # mlflow and its libraries warn about themselves

PHONE = {"width": 390, "height": 844}
LEAST_LETTER = 9.0
"""Height in pixels at which letters can still be read on a phone."""


@pytest.fixture(scope="module")
def served(chromium, tiny_tuning, tmp_path_factory):
    """The MLflow server of the home, and the links that `fints ui` would print."""
    with serve(tiny_tuning.home, tmp_path_factory.mktemp("server") / "log") as places:
        yield places


def test_the_run_of_a_study_begins_with_the_verdict_and_leads_to_its_trials(page, served, tiny_tuning):
    page.goto(served.tuning.links["verdict"])
    sees(page, served.tuning.sentence[:60])
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Trials", exact=True).click()
    opened.value.set_default_timeout(90_000)
    sees(opened.value, "trial 0", "headline/error")
    opened.value.close()


def test_the_trials_are_ranked_by_their_error(page, served, tiny_tuning):
    (link,) = [link for words, link in served.tuning.links.items() if words.startswith("curves")]
    page.goto(link.replace("&compareRunsMode=CHART", ""))
    sees(page, "trial 0", "headline/error")
    cells = page.locator("[role=gridcell][col-id*='headline/error']")
    cells.nth(len(tiny_tuning.found["trials"]) - 1).wait_for()
    errors = [float(text) for text in cells.all_inner_texts()]
    assert errors == sorted(errors)


def test_the_periods_of_the_trials_are_drawn_by_training_step(page, served):
    (link,) = [link for words, link in served.tuning.links.items() if words.startswith("curves")]
    page.goto(link)
    sees(page, "Periods while training", "theta/20 sessions")
    page.locator(".js-line").first.wait_for(state="attached")


@pytest.mark.parametrize("name", ["history", "valley-20-sessions", "theta-20-sessions"])
def test_a_figure_is_shown_among_the_artifacts(page, served, tiny_tuning, name):
    page.goto(served.tuning.links["report"].replace("report/index.html", f"plots/{name}.svg"))
    image = page.locator("img[src*='blob'], img[src*='svg'], img[src*='artifact']").first
    image.wait_for()
    page.wait_for_function("image => image.complete && image.naturalWidth > 300", arg=image.element_handle())


def test_the_report_is_shown_among_the_artifacts(page, served):
    page.goto(served.tuning.links["report"])
    report = page.frame_locator("iframe").first
    for text in ("Confirmation and test", "The valley around each cycle", "Trials"):
        report.get_by_text(text, exact=False).first.wait_for()


def test_the_page_can_be_read_on_a_phone(page, tiny_tuning):
    (path,) = (tiny_tuning.home / "reports" / "tuning").glob("*/index.html")
    page.set_viewport_size(PHONE)
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    figures = page.locator("figure svg")
    assert figures.count() >= 5
    for i in range(figures.count()):
        figure = figures.nth(i)
        assert len(figure.get_attribute("aria-label")) > 30
        letters = figure.locator("text").evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
        assert min(letters) >= LEAST_LETTER
        outside = figure.locator("text").evaluate_all(
            "all => all.filter(one => one.getBoundingClientRect().right > innerWidth + 1"
            " || one.getBoundingClientRect().left < -1).map(one => one.textContent)"
        )
        assert not outside
