from fints.report import StudyReport, render_index, render_study
from fints.studies import Chapter, Findings


def page(name, verdicts):
    findings = Findings(f"About {name}", verdicts, [Chapter("Part", "- No verdict.\n\nText.")])
    return render_study(StudyReport(name, f"Is {name} so?", f"fints study {name} --budget full", findings)).markdown


def test_every_page_has_its_title_question_first_verdict_and_command_in_the_order_of_names():
    index = render_index({"b": page("b", ["Yes.", "And more."]), "a": page("a", ["No."])})
    assert index.index("About a") < index.index("About b")
    assert "## [About b](b.md)\n\nIs b so?\n\n**Yes.**\n\n`fints study b --budget full`" in index
    assert "And more" not in index
    assert "No verdict" not in index


def test_what_is_no_page_of_a_study_is_linked_and_nothing_is_made_up():
    index = render_index({"odd": "nothing here"})
    assert "[odd](odd.md)" in index
    assert "**" not in index
