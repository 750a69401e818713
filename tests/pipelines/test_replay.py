"""A night in which the baseline stood in for a damaged book, replayed once the book is whole again."""

from tests.pipelines.test_damaged_book import spoil


def test_the_baseline_stands_in_once_more_though_the_book_has_been_mended(after):
    play, _ = after
    whole = play.models.book.file.read_bytes()
    spoil(play)
    _, done = play.night("2017-07-11")
    assert set(play.stored("2017-07-11")["model"]) == {"HAR"}
    for content in (play.models.book.file.read_bytes(), whole):
        play.models.book.file.write_bytes(content)
        found = play.replay("2017-07-11", done.entry.made_at)
        assert found.equal, found.sentences()
        assert play.models.book.file.read_bytes() == content


def test_where_the_result_is_another_runs_the_cause_is_named(after):
    play, _ = after
    whole = play.models.book.file.read_bytes()
    spoil(play)
    _, done = play.night("2017-07-11")
    play.models.book.file.write_bytes(whole)
    _, again = play.night("2017-07-11")
    assert set(play.stored("2017-07-11")["model"]) == {"Combination"}
    assert play.replay("2017-07-11", again.entry.made_at).equal
    found = play.replay("2017-07-11", done.entry.made_at)
    assert not found.equal
    assert "log_volume: HAR forecast it that night, and Combination does now." in found.sentences()[-1]
    assert "the book of decisions" in found.sentences()[-1]
