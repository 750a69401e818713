"""What is said of settings that do not fit, and what is never said."""

from __future__ import annotations

import pytest

from fints.errors import ConfigError
from fints.settings import load_settings

SECRET = "sk-S3CRET"
ADDRESS = f"https://user:{SECRET}@host/{{symbol}}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{{kind: http, url: '{ADDRESS}'}}", r"source\.http\.url: the address holds a user or a password"),
        (f"{{kind: http, url: 'https://host/{{symbol}}?apikey={SECRET}'}}", r"source\.http\.url: .*`apikey`"),
        (f"{{kind: http, url: 'https://host/{{symbol}}', token_env: {SECRET}}}", r"source\.http\.token_env: "),
        (f"{{kind: http, url: 'https://host/{{symbol}}', name: '!{SECRET}'}}", r"source\.http\.name: "),
        (f"{{url: '{ADDRESS}'}}", "source: it needs a kind"),
        (f"{{token_env: {SECRET}}}", "source: it needs a kind"),
        (f"{{kind: http, rows: ['{ADDRESS}'], url: 'https://host/{{symbol}}'}}", r"source\.http\.rows"),
        (f"'{ADDRESS}'", "source: "),
        (SECRET, "source: "),
        (
            f"{{kind: chain, sources: [{{kind: http, url: '{ADDRESS}'}}, {{kind: sample}}]}}",
            r"source\.chain\.sources\.0",
        ),
        (f"{{kind: chain, sources: [{{url: '{ADDRESS}'}}, {{kind: sample}}]}}", "it needs a kind"),
        (f"{{kind: chain, sources: [{{kind: http, url: 'https://host/{{symbol}}?q={SECRET}'}}]}}", "at least 2"),
    ],
)
def test_a_secret_is_not_repeated_by_the_words_that_refuse_it(tmp_path, text, says) -> None:
    path = tmp_path / "nightly.yaml"
    path.write_text(f"source: {text}\n")
    with pytest.raises(ConfigError, match=says) as caught:
        load_settings(path)
    assert SECRET not in str(caught.value)


def test_what_is_no_secret_is_repeated(tmp_path) -> None:
    path = tmp_path / "nightly.yaml"
    path.write_text("source: {kind: folder, path: in, quiet: -1}\nencoding: {share: 0.5}\n")
    with pytest.raises(ConfigError, match=r"quiet: .* \(got -1\).*encoding: it needs a kind \(got \{'share': 0\.5\}\)"):
        load_settings(path)
