"""
ARFF, the format of the UCI and Weka collections, gzip or not.

The header is read here, because liac-arff knows neither ranges nor blanks in quoted labels; the
rows are liac-arff's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import arff
import numpy as np

from bncc._types import StrPath
from bncc.data.columns import (
    category_column,
    check_names,
    checked_table,
    column_of_text,
    first_text_row,
)
from bncc.data.dataset import Column, Table
from bncc.data.files import check_cells, read_text
from bncc.errors import DataError

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"{{][^\s{{]*)\s*(.*)", re.IGNORECASE)
_NUMERIC = re.compile(r"(?:integer|real|numeric)\s*(?:\[[^\]]*\])?", re.IGNORECASE)
_LABEL = re.compile(rf"\s*({_QUOTED}|[^,'\"]*?)\s*(?:,|$)")
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True)
class _Attribute:
    """A declaration: its name, and its labels when it is nominal."""

    name: str
    is_numeric: bool
    labels: frozenset[str] | None


def read_arff(path: StrPath) -> Table:
    """Read an ARFF table."""
    attributes, rows = _split(path, read_text(path))
    check_names(path, [attribute.name for attribute in attributes])
    check_cells(path, len(rows), len(attributes))
    header = ["@relation table", *(f"@attribute a{i} string" for i in range(len(attributes)))]
    try:
        cells = arff.loads("\n".join([*header, "@data", *rows]))["data"]
    except (arff.ArffException, ValueError) as error:
        reason = " ".join(str(error).split())[:80]
        raise DataError(f"'{path}' violates the ARFF format ({reason}); fix the rows") from None
    if not cells:
        raise DataError(f"'{path}' has no rows under @data; add at least one")
    columns = zip(*cells, strict=True)
    return checked_table(path, [_column(a, c) for a, c in zip(attributes, columns, strict=True)])


def _split(path: StrPath, text: str) -> tuple[list[_Attribute], list[str]]:
    attributes: list[_Attribute] = []
    lines = _LINE_END.split(text)
    for number, line in enumerate(lines):
        line = line.strip()
        if line[:5].lower() == "@data":
            return attributes, lines[number + 1 :]
        if line[:10].lower() == "@attribute":
            attributes.append(_attribute(path, number + 1, line))
        elif line and not line.startswith("%") and line[:9].lower() != "@relation":
            break
    raise DataError(f"'{path}' is not an ARFF file, as no @data line ends its header; add it")


def _attribute(path: StrPath, number: int, line: str) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(line)
    if match:
        name, kind = _unquoted(match[1]), match[2].split("%")[0].strip()
        if _NUMERIC.fullmatch(kind):
            return _Attribute(name, True, None)
        if kind.lower() == "string":
            return _Attribute(name, False, None)
        kind = match[2].strip()
        if kind.startswith("{") and kind.endswith("}"):
            labels = _labels(kind[1:-1])
            if labels is not None:
                return _Attribute(name, False, labels)
    raise DataError(
        f"'{path}', line {number}: unsupported attribute; declare it as numeric, string, or "
        "labels in braces"
    )


def _labels(inside: str) -> frozenset[str] | None:
    labels, position = [], 0
    while position < len(inside):
        match = _LABEL.match(inside, position)
        if match is None:
            return None
        labels.append(_unquoted(match[1]))
        position = match.end()
    return frozenset(labels)


def _unquoted(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token[:1] in ("'", '"') else token


def _column(attribute: _Attribute, cells: Sequence[str | None]) -> Column:
    if attribute.labels is None:
        column = column_of_text(attribute.name, ["?" if cell is None else cell for cell in cells])
        if attribute.is_numeric and column.kind == "category" and not column.missing.all():
            row = first_text_row(column)
            raise DataError(
                f"attribute {attribute.name!r} is numeric but contains {column.values[row]!r} in "
                f"row {row + 1}; fix the cell, or mark it as missing with '?'"
            )
        return column
    for row, cell in enumerate(cells, start=1):
        if cell is not None and cell not in attribute.labels:
            raise DataError(
                f"attribute {attribute.name!r} contains {cell!r} in row {row}, which is not a "
                "declared label; add the label to the declaration"
            )
    missing = np.array([cell is None for cell in cells], dtype=np.bool_)
    texts = ["" if cell is None else cell for cell in cells]
    return category_column(attribute.name, texts, missing)
