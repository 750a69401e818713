"""One request to a provider over HTTP: the token, the limits, and what each kind of refusal means."""

from __future__ import annotations

import logging
import os
import threading
import time
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urljoin, urlsplit

from fints.bars.sources.http_address import names_token
from fints.errors import ConfigError, RateLimitedError, SourceError, TransientError, UnknownSymbolError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import requests

    from fints.bars.sources.config import HttpConfig

_CHUNK: Final = 65_536  # bytes
_REDIRECTS: Final = 3
_PATIENCE: Final = 5.0  # of the time-out, for a whole answer
_GZIP: Final = 16 + zlib.MAX_WBITS
_MEBIBYTE: Final = 1 << 20
_PASSING: Final = (408, 425)


class SlowDownError(RateLimitedError):
    """A rate limit with the pause that the provider asks for, in seconds; 0 where it names none."""

    def __init__(self, message: str, pause: float = 0.0) -> None:
        super().__init__(message)
        self.pause = pause


@dataclass(frozen=True, slots=True)
class Answer:
    """The body of an answer, and whether its length was announced, so that a cut would have been noticed."""

    body: bytes
    measured: bool


class Transport:
    """Asks a provider; the token is read from the environment for each request and kept nowhere.

    Parameters
    ----------
    config : HttpConfig
        Token, time-out, size limit.
    """

    def __init__(self, config: HttpConfig) -> None:
        self._config = config
        self._local = threading.local()

    def token(self) -> str | None:
        """Return the token; None where none is configured.

        Raises
        ------
        ConfigError
            The environment variable is missing, or what it holds cannot be sent. Its value is never shown.
        """
        name = self._config.token_env
        if name is None:
            return None
        token = os.environ.get(name, "").strip()
        if not token:
            raise ConfigError(
                f"the environment variable {name} is not set; it has to hold the token of the source "
                f"{self._config.name!r} (option `token_env`)"
            )
        if not (token.isascii() and token.isprintable()):
            raise ConfigError(f"the environment variable {name} holds characters that no header can carry")
        return token

    def ask(self, address: str, asked: str) -> Answer:
        """Send one request.

        Parameters
        ----------
        address : str
            Complete and quoted.
        asked : str
            What is asked for, for messages.

        Raises
        ------
        RateLimitedError, TransientError
            Another try may help.
        UnknownSymbolError
            404 or 410.
        ConfigError
            The token is missing or refused.
        SourceError
            Anything else: a refusal, a redirection to elsewhere, an answer beyond the size limit.
        """
        import requests
        from urllib3.exceptions import HTTPError

        token = self.token()
        try:
            with _unheard(), self._send(address, token, asked) as response:
                self._check(response, asked)
                answer = Answer(self._body(response, asked), _measured(response))
        except (requests.RequestException, HTTPError, OSError, zlib.error, EOFError) as error:
            # their texts may quote addresses of proxies and headers: the kind of fault is enough
            raise TransientError(f"{asked}: the request failed ({_cause(error)})") from None
        if token is not None and any(text.encode() in answer.body for text in (token, quote(token, safe=""))):
            raise SourceError(f"{asked}: the answer repeats the token; nothing of it was used")
        return answer

    def _send(self, address: str, token: str | None, asked: str) -> requests.Response:
        """Send, and follow redirections as long as they stay on the same host: the token goes nowhere else."""
        config, session = self._config, self._session()
        headers = {"Accept-Encoding": "gzip"}
        if token is not None and not names_token(config.url):
            headers[config.token_header] = config.token_prefix + token
        for _ in range(_REDIRECTS + 1):
            response = session.get(
                address, headers=headers, timeout=config.timeout, stream=True, allow_redirects=False, auth=_unsigned
            )
            if not response.is_redirect:
                return response
            target = urljoin(address, response.headers["Location"])
            response.close()
            if _origin(target) != _origin(address):
                raise SourceError(
                    f"{asked}: redirected to {urlsplit(target).hostname!r}, which was not followed; if that is the "
                    "provider's address now, set it as `url`"
                )
            address = target
        raise SourceError(f"{asked}: redirected more than {_REDIRECTS} times")

    def _session(self) -> requests.Session:
        """Return the session of this thread; sessions keep connections and are not to be shared."""
        import requests

        if not hasattr(self._local, "session"):
            self._local.session = requests.Session()
        session: requests.Session = self._local.session
        return session

    def _check(self, response: requests.Response, asked: str) -> None:
        status = response.status_code
        if status == HTTPStatus.OK:
            return
        said = f"{asked}: HTTP {status}"
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            name = self._config.token_env
            cure = (
                "name the environment variable that holds a token as `token_env`"
                if name is None
                else f"the token in the environment variable {name} was refused"
            )
            raise ConfigError(f"{said}; {cure}")
        if status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
            raise UnknownSymbolError(f"{said}: the symbol is not known there")
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            pause = _pause(response.headers.get("Retry-After", ""))
            raise SlowDownError(f"{said}: too many requests{f'; wait {pause:.0f} s' if pause else ''}", pause)
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _PASSING:
            raise TransientError(f"{said}: the server failed")
        raise SourceError(f"{said}: the request was refused; look at `url` and `intervals`")

    def _body(self, response: requests.Response, asked: str) -> bytes:
        limit, until = self._config.limit_mb * _MEBIBYTE, time.monotonic() + _PATIENCE * self._config.timeout
        unpack = zlib.decompressobj(_GZIP) if "gzip" in response.headers.get("Content-Encoding", "") else None
        body = bytearray()
        while chunk := response.raw.read1(_CHUNK, decode_content=False):
            while chunk and unpack is not None and len(body) <= limit:
                if unpack.eof:  # another member follows, as bgzip writes them; zeros between members are padding
                    chunk = chunk.lstrip(b"\0")
                    unpack = zlib.decompressobj(_GZIP) if chunk else unpack
                    continue
                body += unpack.decompress(chunk, limit + 1 - len(body))
                chunk = unpack.unused_data
            body += b"" if unpack is not None else chunk
            if len(body) > limit:
                raise SourceError(f"{asked}: the answer is longer than {self._config.limit_mb} MB (`limit_mb`)")
            if time.monotonic() > until:
                raise TransientError(f"{asked}: the answer took longer than {_PATIENCE:g} times the time-out")
        if unpack is not None and not unpack.eof:
            raise EOFError("a compressed answer was cut short")
        return bytes(body)


class _Unheard(logging.Filter):
    """Drops what urllib3 says in a thread that asks: it logs addresses, and a token may stand in one."""

    def __init__(self) -> None:
        super().__init__()
        self.asking = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002 - the name is logging's
        return not getattr(self.asking, "now", False)


_UNHEARD: Final = _Unheard()


@contextmanager
def _unheard() -> Iterator[None]:
    logging.getLogger("urllib3.connectionpool").addFilter(_UNHEARD)  # the same filter is added once
    _UNHEARD.asking.now = True
    try:
        yield
    finally:
        _UNHEARD.asking.now = False


def _unsigned(request: requests.PreparedRequest) -> requests.PreparedRequest:
    """Leave a request as it is: without this, credentials of a file .netrc would take the place of the token."""
    return request


def _origin(address: str) -> tuple[str, str | None, int | None]:
    url = urlsplit(address)
    return url.scheme, url.hostname, url.port


def _measured(response: requests.Response) -> bool:
    headers = response.headers
    return "Content-Length" in headers or "Transfer-Encoding" in headers or "Content-Encoding" in headers


def _pause(text: str) -> float:
    """Read the header Retry-After: seconds, or a date."""
    from datetime import UTC, datetime
    from email.utils import parsedate_to_datetime

    if text.strip().isdecimal():
        return float(text)
    try:
        until = parsedate_to_datetime(text)
        until = until if until.tzinfo is not None else until.replace(tzinfo=UTC)
        return max((until - datetime.now(UTC)).total_seconds(), 0.0)
    except (ValueError, OverflowError):
        return 0.0


def _cause(error: BaseException) -> str:
    """Name the kind of a fault, and of the fault beneath it."""
    inner = getattr(error.args[0], "reason", error.args[0]) if error.args else None
    names = [type(error).__name__] + ([type(inner).__name__] if isinstance(inner, BaseException) else [])
    return ", ".join(dict.fromkeys(names))
