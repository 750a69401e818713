"""What a warm night would work out again from the same rows, kept beside a fit: fitted baselines, past forecasts.

Nothing here is decided by a name or a date: a file is taken only if it was made from the same values, by the same
models, on the same calendars, so that a night with it and a night without it are the same to the bit. Whatever is
missing or damaged is worked out anew.
"""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from fints.baselines import stored
from fints.errors import BundleError
from fints.forecast import KEYS, Forecast, lookback
from fints.sessions import calendar_version
from fints.transformer import CycleTransformer
from pipelines.excerpt import Excerpt
from pipelines.sealed import read_sealed, write_sealed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from typing import Self

    from fints.combination import Combined
    from fints.forecast import Forecaster

    Fit = Callable[[Forecaster], tuple[Forecaster, frozenset[str]]]
    Say = Callable[[CycleTransformer, pd.DataFrame], tuple[str, ...]]

PANTRY = "pantry"
"""Folder of a shelf."""

_FORMAT = 2
_MOST_FORECASTS = 64
_MOST_MODELS = 8
_UNUSED = 7 * 24 * 3600.0  # seconds after which what no night has read is thrown away


@dataclass(frozen=True, slots=True)
class Pantry:
    """Kept parts of one fit.

    Parameters
    ----------
    folder : pathlib.Path, optional
        Where they lie; None keeps nothing.
    """

    folder: Path | None = None

    @classmethod
    def beside(cls, place: Path | None) -> Self:
        """Return the one of a fit that lies in a folder of a shelf; a fit that lies nowhere has an empty one."""
        return cls(None if place is None else place.parent / PANTRY / place.name)

    def fitted(self, model: Forecaster, rows: Excerpt, fit: Fit) -> tuple[Forecaster, frozenset[str]]:
        """Fit a baseline on rows, or take what it learned from the same ones.

        Parameters
        ----------
        model : Forecaster
            Unfitted; it stays as it is.
        rows : Excerpt
        fit : callable
            Returns a copy of a model, fitted on the rows, and the series that it can forecast.

        Raises
        ------
        Exception
            Whatever `fit` raises.
        """
        if self.folder is None:
            return fit(model)
        mark = _mark(model, rows)
        file = self.folder / "members" / f"{mark[:16]}.safetensors"
        content = read_sealed(file, mark)
        if content is not None:
            with suppress(BundleError):
                known = stored.from_bytes(model, content)
                return self.keeping(known, mark), frozenset(known.fits)
        fitted, able = fit(model)
        content = stored.to_bytes(fitted)
        if content is None:
            return fitted, able
        write_sealed(file, mark, content)
        _keep_newest(file.parent, _MOST_MODELS)
        return self.keeping(fitted, mark), able

    def keeping(self, model: Forecaster, mark: str) -> Forecaster:
        """Return a fitted model that keeps here what it forecasts from past bars.

        Parameters
        ----------
        model : Forecaster
        mark : str
            Names it: what has the same mark gives the same forecasts. Without one, nothing is kept.
        """
        return model if self.folder is None or not mark else Keeping(model, self.folder / mark[:16], mark)

    def mark_of(self, combined: Combined) -> str:
        """Name a combination of kept baselines and the transformer of the fit; empty where a member has no name."""
        if self.folder is None:
            return ""
        marks = [member.mark if isinstance(member, Keeping) else self._bundled(member) for member in combined.members]
        able = {name: sorted(series) for name, series in combined.series.items()}
        said = [marks, combined.weights.to_plain(), able, calendar_version()]
        return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest() if all(marks) else ""

    def said(self, model: CycleTransformer, rows: Excerpt, say: Say) -> tuple[str, ...]:
        """Take what was said about the transformer of the fit and the rows that it learned from, or say it.

        Parameters
        ----------
        model : CycleTransformer
        rows : Excerpt
        say : callable
            Returns sentences about the two.
        """
        bundle = self._bundled(model)
        if self.folder is None or not bundle:
            return say(model, rows.cut())
        label, file = f"{_FORMAT} {bundle} {calendar_version()} {_digest(rows, model)}", self.folder / "said.json"
        content = read_sealed(file, label)
        if content is not None:
            return tuple(map(str, json.loads(content)))
        made = say(model, rows.cut())
        write_sealed(file, label, json.dumps(made).encode())
        return made

    def _bundled(self, member: Forecaster) -> str:
        """Name the transformer by its files; it is the only member that lies in the fit itself."""
        if self.folder is None or not isinstance(member, CycleTransformer):
            return ""
        bundle, content = self.folder.parent.parent / self.folder.name / "model", sha256()
        for file in sorted(bundle.rglob("*")):
            if file.is_file():
                content.update(file.name.encode() + file.read_bytes())
        return content.hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Keeping:
    """A fitted model whose forecasts from past bars, on the calendar as known at the last of them, are kept.

    Parameters
    ----------
    model : Forecaster
    folder : pathlib.Path
        Of its forecasts.
    mark : str
        Names the fitted model: another one with the same mark gives the same forecasts.
    """

    model: Forecaster
    folder: Path
    mark: str

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    @property
    def h(self) -> int:
        """Bars ahead."""
        return self.model.h

    @property
    def lookback(self) -> int | None:
        """The model's."""
        return lookback(self.model)

    def fit(self, panel: pd.DataFrame) -> Self:
        """Refuse: what is kept is of the model as it is.

        Raises
        ------
        TypeError
            Always.
        """
        del panel
        raise TypeError(f"{self.name} keeps its forecasts and is not fitted again; fit the model itself")

    def forecast(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> Forecast:
        """Forecast, or take what was forecast from the same rows; see `fints.forecast.Forecaster.forecast`."""
        if panel is None or at is not None or known_at is not None:
            return self.model.forecast(panel, at=at, known_at=known_at)
        key = _digest(Excerpt.whole(panel), self.model)
        label, file = f"{_FORMAT} {self.mark} {key}", self.folder / f"{key[:16]}.safetensors"
        content = read_sealed(file, label)
        if content is not None:
            return _from_bytes(content)
        made = self.model.forecast(panel)
        content = _to_bytes(made)
        if _same(_from_bytes(content), made):
            write_sealed(file, label, content)
            _keep_newest(self.folder, _MOST_FORECASTS)
        return made

    def predict(
        self,
        panel: pd.DataFrame | None = None,
        *,
        at: str | pd.Timestamp | None = None,
        known_at: str | pd.Timestamp | None = None,
    ) -> pd.DataFrame:
        """Forecast as a wide frame."""
        return self.model.predict(panel, at=at, known_at=known_at)


def _mark(model: Forecaster, rows: Excerpt) -> str:
    """Name what a baseline learns from rows."""
    settings = {name: repr(value) for name, value in vars(model).items() if not name.startswith("_")}
    said = [_FORMAT, type(model).__name__, model.name, model.h, settings, calendar_version(), _digest(rows, model)]
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _digest(rows: Excerpt, model: Forecaster) -> str:
    """Return a hash of those columns of some rows that a model reads."""
    reads: Callable[[str], bool] = getattr(model, "reads", lambda _column: True)
    content = sha256()
    for column in filter(reads, rows.columns):
        content.update(column.encode() + b"\0")
        for part in rows.hashed(column):
            content.update(part)
    return content.hexdigest()


def _to_bytes(made: Forecast) -> bytes:
    from safetensors.numpy import save

    owner, names = pd.factorize(made.frame["unique_id"])
    arrays = {"owner": owner, "ds": made.frame["ds"].to_numpy().view(np.int64), "step": made.frame["step"].to_numpy()}
    arrays |= {"mean": made.mean, "quantiles": made.quantiles}
    card = {
        "names": list(map(str, names)),
        "name_type": str(made.frame["unique_id"].dtype),
        "ds_type": str(made.frame["ds"].dtype),
    }
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return bytes(save(plain, metadata={"card": json.dumps(card)}))


def _from_bytes(content: bytes) -> Forecast:
    from safetensors.numpy import load

    size = int.from_bytes(content[:8], "little")
    card = json.loads(json.loads(content[8 : 8 + size])["__metadata__"]["card"])
    arrays = load(content)
    names = pd.Series(np.array(card["names"], dtype=object)[arrays["owner"]]).astype(card["name_type"])
    frame = pd.DataFrame({"unique_id": names, "ds": arrays["ds"].view(card["ds_type"]), "step": arrays["step"]})
    return Forecast(frame, arrays["mean"], arrays["quantiles"])


def _same(one: Forecast, other: Forecast) -> bool:
    frame = other.frame[list(KEYS)].reset_index(drop=True)
    alike = one.frame.equals(frame) and list(one.frame.dtypes) == list(frame.dtypes)
    return alike and np.array_equal(one.mean, other.mean) and np.array_equal(one.quantiles, other.quantiles)


def _keep_newest(folder: Path, most: int) -> None:
    """Remove what was not used of late from a folder, and folders beside it that are not among the newest."""
    with suppress(OSError):
        files = sorted(((file.stat().st_mtime, file) for file in folder.glob("*.safetensors")), reverse=True)
        for number, (used, old) in enumerate(files):
            if number >= most or used < files[0][0] - _UNUSED:
                old.unlink(missing_ok=True)
        beside = [each for each in folder.parent.iterdir() if each.is_dir()]
        for other in sorted(beside, key=lambda each: each.stat().st_mtime)[:-_MOST_MODELS]:
            shutil.rmtree(other, ignore_errors=True)
