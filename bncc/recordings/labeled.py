"""Windows of recordings as the rows of a data set."""

from dataclasses import replace

import numpy as np

from bncc.data.dataset import Column, Dataset, Table
from bncc.data.target import dataset_of
from bncc.recordings.front_end import FrontEnd
from bncc.recordings.table import FeatureTable


def front_end_of(table: FeatureTable) -> FrontEnd:
    """Return what computes the features of a table from samples."""
    of = table.recordings
    return FrontEnd(of.sample_format, of.channels, table.windows, table.columns, of.rate)


def dataset_of_windows(
    table: FeatureTable, *, ordered: bool = False, digest: str | None = None
) -> Dataset:
    """Return a row for each window with a label, whose groups, else recordings, stay together."""
    of = table.recordings
    present = np.zeros(len(table.values), dtype=np.bool_)
    columns = front_end_of(table).table(table.values).columns
    names = [each.name if each.group is None else each.group for each in of.recordings]
    groups = np.array(names, dtype=object)[table.recording]
    labels = np.array(of.labels, dtype=object)[table.label]
    group_name = of.group_column or of.recording_column
    of_rows = Table((*columns, Column(group_name, "category", groups, present)))
    label = Column(of.label_column, "category", labels, present)
    dataset = dataset_of(of_rows, y=label, groups=group_name, ordered=ordered)
    return replace(dataset, digest=digest, sequences=table.segment)
