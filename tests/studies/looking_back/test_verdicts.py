import pytest

from fints.studies.looking_back.chapters import attention_chapters
from fints.studies.looking_back.readings import read
from fints.studies.looking_back.verdicts import DIFFERENCES, own, verdict

SEEN = {
    ("echoes", "one day back"): 8.0,
    ("echoes", "one week back"): 8.0,
    ("rhythms", "one week back"): 8.0,
    ("sample", "one week back"): 2.0,
}


def test_peaks_wherever_a_routine_calls_for_them_are_a_yes(make_looks):
    said = verdict(make_looks(SEEN))
    assert said[0].startswith("Yes: trained models look back")
    assert "in 18 of 18 readings" in said[0]
    assert "one day back a bar gets" in said[1]
    assert "not certain" not in said[1]
    assert any("makes no difference to where attention looks" in line for line in said)


def test_what_cannot_be_told_is_no_verdict_and_the_seeds_that_would_be_needed_are_said(make_looks):
    said = verdict(make_looks(dict.fromkeys(SEEN, 1.0), spread=0.5))
    assert said[0].startswith("8 seeds cannot tell")
    assert "in 0 of 18 readings" in said[0]
    assert "seeds would" in said[0]
    assert "(not certain)" in said[1]


def test_even_attention_is_a_verdict_where_seeds_agree(make_looks):
    said = verdict(make_looks(dict.fromkeys(SEEN, 1.0), spread=0.005))
    assert said[0].startswith("Not shown: trained models look back")
    assert "cannot be told" not in said[0]


def test_peaks_of_some_encodings_alone_are_told_apart(make_looks):
    stated = SEEN | {("echoes", "rope", name): 1.0 for name in ("one day back", "one week back")}
    said = verdict(make_looks(stated))
    assert said[0].startswith("Mostly")
    over = next(line for line in said if line.startswith("Against RoPE"))
    assert "in 6 of 9 comparisons" in over
    assert "cycle over rope on echoes" in over


def test_a_difference_of_sign_is_told(make_looks):
    stated = SEEN | {("echoes", "both (sym)", "one day back"): 16.0}
    line = next(line for line in verdict(make_looks(stated)) if line.startswith("Symmetric and folded laws differ"))
    assert "both (sym) over both (fold) on echoes, one day back: 2." in line or "1.9" in line


def test_real_bars_and_covariates_have_sentences_of_their_own(make_looks, everything):
    said = verdict(make_looks(SEEN, **everything))
    assert any(line.startswith("On real daily volume attention stands out") for line in said)
    assert any(line.startswith("Given calendar covariates") and "18 of 18" in line for line in said)


@pytest.mark.parametrize("seeds", [1, 5])
def test_every_reading_is_corrected_together_and_shown(make_looks, seeds):
    results = make_looks(SEEN, seeds=seeds)
    found = read(results, DIFFERENCES)
    assert all(height.contrast.p_holm >= height.contrast.p for height in found)
    (chapter,) = attention_chapters(results)
    heights, compared = (table.frame for table in chapter.tables)
    assert len(heights) == len(own(found)) == 2 * 6 * 3
    assert len(compared) == 2 * 5 * 3
    assert len(chapter.charts) == 2
    assert verdict(results)
