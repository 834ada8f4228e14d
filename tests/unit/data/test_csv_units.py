"""Units of columns, from a file."""

import pytest

from bncc.data.csv import read_units
from bncc.errors import DataError

COLUMNS = ("speed", "depth, mean", "label")


def written(tmp_path, text):
    path = tmp_path / "units.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_units_by_column(tmp_path):
    """Quoted names, blanks around a unit, empty lines, and columns without a unit."""
    path = written(tmp_path, 'column,unit\nspeed, km/h \n\n"depth, mean",\u00b5m\n')
    assert read_units(path, COLUMNS) == {"speed": "km/h", "depth, mean": "\u00b5m"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("speed,km/h\n", "line 1: expected the header 'column,unit'. Add it"),
        (",\n,\n", "line 1: expected the header 'column,unit'. Add it"),
        ("column,unit\nspeed\n", "line 2: expected 2 cells, found 1. Write COLUMN,UNIT"),
        ("column,unit\nsped,m\n", "line 2: there is no column 'sped'. Correct the name"),
        ("column,unit\nspeed,m\nspeed,km\n", "line 3: column 'speed' occurs twice. Remove"),
        ("column,unit\nspeed,\n", "line 2: '' is not a unit. Write 1 to 30 printable characters"),
        ("column,unit\nspeed," + "m" * 31 + "\n", "is not a unit. Write 1 to 30"),
        ("column,unit\nspeed,\x1b[1m\n", "is not a unit. Write 1 to 30"),
        ('column,unit\nspeed,"m"x\n', "line 2: .*. Fix the quotes of the line"),
    ],
)
def test_a_wrong_file_is_named_with_its_line_and_the_remedy(tmp_path, text, message):
    """One sentence; nothing is guessed."""
    with pytest.raises(DataError, match=message):
        read_units(written(tmp_path, text), COLUMNS)
