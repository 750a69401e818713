"""Where the series of comparisons come from: generators whose truth is known, and the embedded sample."""

from fints.studies.sources.cycles import Cycles
from fints.studies.sources.directed import Directed
from fints.studies.sources.drawn import Drawn, Source
from fints.studies.sources.drifting import Drifting
from fints.studies.sources.red_noise import RedNoise
from fints.studies.sources.regime_change import RegimeChange
from fints.studies.sources.sample import Sample
from fints.studies.sources.undirected import Undirected

__all__ = ["Cycles", "Directed", "Drawn", "Drifting", "RedNoise", "RegimeChange", "Sample", "Source", "Undirected"]
