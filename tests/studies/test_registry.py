import subprocess
import sys

import pytest

from fints.errors import UnknownNameError
from fints.studies import STUDIES, Study, get_study


@pytest.mark.parametrize("name", sorted(STUDIES))
def test_every_study_answers_the_interface_under_its_own_name(name):
    study = get_study(name)
    assert isinstance(study, Study)
    assert study.name == name
    assert study.question.endswith("?")


def test_an_unknown_study_is_refused_with_the_closest_name():
    with pytest.raises(UnknownNameError, match="Did you mean 'extrapolation'"):
        get_study("extrapolate")


def test_naming_the_studies_loads_no_heavy_library():
    code = "import sys, fints.studies; print({'torch', 'mlflow', 'matplotlib', 'lightning'} & set(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"
