"""
Hostile blobs: the C runtime under sanitizers compared with the reader in Python.

    python -m benchmarks.campaigns.hostile_blobs -n 1000000

Good blobs are of models by hand and of one that is trained. Each hostile one is random bytes, a
good one that is truncated or changed in some bytes, fields of the header or marks of cuts, or a
random header with random tables. Most have the right CRC, many also the digest of their own
decisions, so that every check is reached. A blob is in an object of exactly its size, and so is a
row of readings. Anything that the sanitizers find ends the campaign; so does another return value
than the reader's, or another decision for a blob that is accepted.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from random import Random

import click
import numpy as np

from bncc.device.blobs import BlobRunner, Request, host_runner
from bncc.errors import BnccError
from bncc.pack.blob import (
    CODES,
    HEADER,
    MAGIC,
    MAX_CLASSES,
    MAX_FEATURES,
    Blob,
    BlobError,
    parsed,
    read,
    with_crc,
    with_digests,
)
from bncc.pack.runtime import runtime_files
from bncc.pack.writer import pack
from tests import models as hand
from tests.packed import trained

BATCH = 5000
N_ROWS = 3
"""Decisions that are compared of each accepted blob."""
BY_HAND = (
    "naive_integer", "tan_float", "int32_thresholds", "int8_readings", "bytes_and_others",
    "category_with_missing", "general_network", "pseudo_tan", "sum_of_tables", "ties",
)  # fmt: skip
FIELDS = ((8, 2), (10, 2), (12, 4), (16, 2), (18, 2), (20, 1), (21, 1), (22, 2))
"""Offset and bytes of each field that the CRC covers."""
EDGES = (0, 1, 2, 3, 23, 24, 25, 63, 64, 65, 127, 128, 255, 256, 2**15, 2**16 - 1, 2**31, 2**32 - 1)
NAMES = {0: "accepted", **{code: name for name, code in CODES.items()}}


Counts = Counter[tuple[str, str]]


class WrongAnswerError(BnccError):
    """The runtime and the reader disagree, or a sanitizer has found something."""


def good_blobs() -> list[bytes]:
    """Return blobs that are accepted."""
    models = [hand.NAMED[name]() for name in BY_HAND]
    return [pack(model, 5).content for model in (*models, trained("iris"))]


def _random_bytes(rng: Random, _: bytes) -> bytes:
    blob = rng.randbytes(rng.randrange(200))
    return MAGIC.to_bytes(4, "little") + blob if rng.random() < 0.7 else blob


def _truncated(rng: Random, good: bytes) -> bytes:
    return good[: rng.randrange(len(good))]


def _shortened(rng: Random, good: bytes) -> bytes:
    """Return a blob that ends earlier, with the length of what is left."""
    n = rng.randrange(HEADER.size, len(good))
    return good[:8] + n.to_bytes(2, "little") + good[10:n]


def _changed(rng: Random, good: bytes) -> bytes:
    blob = bytearray(good)
    for _ in range(rng.choice((1, 1, 2, 4, 16))):
        at = rng.randrange(len(blob))
        blob[at] = rng.choice((blob[at] ^ 1 << rng.randrange(8), rng.randrange(256), 0, 255))
    return bytes(blob)


def _fields(rng: Random, good: bytes) -> bytes:
    """Return a blob with other numbers in some fields of its header."""
    blob = bytearray(good)
    for at, n in rng.sample(FIELDS, rng.choice((1, 1, 1, 2, 3))):
        before = int.from_bytes(blob[at : at + n], "little")
        value = rng.choice((before + 1, before - 1, before ^ 1 << rng.randrange(8 * n),
                            rng.choice(EDGES), rng.randrange(1 << 8 * n)))  # fmt: skip
        blob[at : at + n] = (value % (1 << 8 * n)).to_bytes(n, "little")
    return bytes(blob)


def _marks(rng: Random, good: bytes) -> bytes:
    """Return a blob with other entries of cuts."""
    blob, header = bytearray(good), parsed(good, MAX_FEATURES, MAX_CLASSES)[0].header
    step = header.entry_bytes + header.limit_bytes
    places = range(HEADER.size, int.from_bytes(good[10:12], "little"), step)
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.choice(places)
        blob[at] ^= rng.choice((1, 2, 3, 4, 1 << rng.randrange(8)))
    return bytes(blob)


def _tables(rng: Random, _: bytes) -> bytes:
    """Return a header with random widths, and tables whose sizes are right."""
    cost_bits, limit, entry = (rng.randint(1, most) for most in (8, 4, 2))
    n_features, n_classes = rng.randint(1, MAX_FEATURES), rng.randint(1, MAX_CLASSES)
    widths = cost_bits - 1 | (limit - 1) << 3 | (entry - 1) << 7
    row_bytes, n_rows, cuts = (n_classes * cost_bits + 7) // 8, 0, b""
    for _ in range(rng.randint(1, 4)):
        size = before = 1
        n_cuts = rng.randint(1, 5)
        for k in range(n_cuts):
            again = int(rng.random() < 0.4)
            before = before if again else size
            size += before
            number = rng.randrange(n_features) << 2 | again | 2 * (k + 1 < n_cuts)
            cuts += (number % (1 << 8 * entry)).to_bytes(entry, "little") + rng.randbytes(limit)
        n_rows += size
    rows_at = HEADER.size + len(cuts)
    rows = rng.randbytes(n_rows * row_bytes)
    length, base = rows_at + len(rows), rng.choice((0, 2**31, 2**31 - 9, rng.getrandbits(32)))
    header = HEADER.pack(MAGIC, 0, length, rows_at, base, 0, n_features, n_classes, widths, 0)
    return header + cuts + rows


def _wrapped(rng: Random, _: bytes) -> bytes:
    """Return a table whose size is that of its rows modulo a power of 2."""
    n_cuts, n_features = rng.choice((8, 15, 16, 17, 31, 32, 33)), rng.randint(1, MAX_FEATURES)
    n_classes, cost_bits = rng.randint(1, MAX_CLASSES), rng.randint(1, 8)
    size = (n_classes * cost_bits + 7) // 8 << n_cuts
    rows = rng.randbytes(size % (1 << rng.choice((8, 16, 32))) % 2**14)
    marks = [2] * (n_cuts - 1) + [0]
    cuts = b"".join(bytes([rng.randrange(n_features) << 2 | mark, 0]) for mark in marks)
    rows_at = HEADER.size + len(cuts)
    header = HEADER.pack(
        MAGIC, 0, rows_at + len(rows), rows_at, 0, 0, n_features, n_classes, cost_bits - 1, 0
    )
    return header + cuts + rows


KINDS: Mapping[str, Callable[[Random, bytes], bytes]] = {
    "random bytes": _random_bytes,
    "truncated": _truncated,
    "shortened": _shortened,
    "changed bytes": _changed,
    "changed fields": _fields,
    "changed cuts": _marks,
    "random tables": _tables,
    "wrapped sizes": _wrapped,
}
"""Blobs by what was done to them, before digests are repaired."""
UNREPAIRED = 0.1
"""Share of blobs whose CRC is left as it is."""
UNDIGESTED = 0.3
"""Share of the others whose digest is left as it is."""


def hostile(rng: Random, kind: str, good: bytes) -> bytes:
    """Return a hostile blob, most with the right CRC and the digest of their own decisions."""
    blob = KINDS[kind](rng, good)
    if rng.random() < UNREPAIRED or len(blob) < HEADER.size:
        return blob
    length = int.from_bytes(blob[8:10], "little")
    if not HEADER.size <= length <= len(blob):
        return with_crc(blob)
    blob, rest = with_crc(blob[:length]), blob[length:]
    if rng.random() > UNDIGESTED:
        # Where an index is out of bounds, that is the check to be reached.
        with suppress(BlobError):
            blob = with_digests(blob)
    return blob + rest


def expected(blob: bytes) -> tuple[int, Blob | None]:
    """Return what the reader says of a blob."""
    try:
        return 0, read(blob)
    except BlobError as error:
        return error.code, None


def readings_for(rng: Random, found: Blob) -> list[list[int]]:
    """Return rows of readings next to limits, and at the ends of 32 bits."""
    rows = []
    for _ in range(N_ROWS):
        row = [rng.choice((0, -(2**31), 2**31 - 1)) for _ in range(found.header.n_features)]
        for table in found.tables:
            for feature, _, limit in table.cuts:
                row[feature] = rng.choice((limit, min(limit + 1, 2**31 - 1), row[feature]))
        rows.append(row)
    return rows


def batches(n: int, seed: int, goods: Sequence[bytes]) -> Iterator[list[tuple[str, bytes]]]:
    """Yield hostile blobs with their kinds; a seed gives the same ones."""
    rng = Random(seed)
    for start in range(0, n, BATCH):
        kinds = [rng.choice(list(KINDS)) for _ in range(min(BATCH, n - start))]
        yield [(kind, hostile(rng, kind, rng.choice(goods))) for kind in kinds]


def campaign(runner: BlobRunner, n: int, seed: int, goods: Sequence[bytes]) -> Counts:
    """Open blobs and compare; return how many of each kind had each answer."""
    counts: Counts = Counter()
    rng = Random(seed + 1)
    for batch in batches(n, seed, goods):
        told = [expected(blob) for _, blob in batch]
        rows = [[] if found is None else readings_for(rng, found) for _, found in told]
        requests = [
            Request(blob, np.array(x, dtype=np.int64) if x else np.zeros((0, 1), dtype=np.int64))
            for (_, blob), x in zip(batch, rows, strict=True)
        ]
        answers = runner.answers(requests)
        for (kind, blob), (code, found), x, answer in zip(batch, told, rows, answers, strict=True):
            classes = [] if found is None else [found.decide(row) for row in x]
            if answer.opened != code or answer.classes.tolist() != classes:
                raise WrongAnswerError(
                    f"{kind} {blob.hex()}: expected {NAMES[code]} {classes}, found "
                    f"{answer.opened} {answer.classes.tolist()}"
                )
            counts[kind, NAMES[code]] += 1
    return counts


@click.command()
@click.option("-n", "n", default=20_000, show_default=True, help="Number of blobs.")
@click.option("--seed", default=0, show_default=True, help="Random seed.")
@click.option("--json", "as_json", is_flag=True, help="Print counts as JSON.")
def main(n: int, seed: int, as_json: bool) -> None:
    """Open hostile blobs with the runtime under sanitizers."""
    begin = time.monotonic()
    with host_runner(runtime_files()) as runner:
        counts = campaign(runner, n, seed, good_blobs())
    if as_json:
        print(json.dumps({kind: {a: counts[kind, a] for a in NAMES.values()} for kind in KINDS}))
        return
    columns = [name for name in NAMES.values() if any(counts[kind, name] for kind in KINDS)]
    print(f"{'blobs':16}" + "".join(f"{name:>10}" for name in columns))
    for kind in KINDS:
        print(f"{kind:16}" + "".join(f"{counts[kind, name]:10}" for name in columns))
    total = sum(counts.values())
    print(f"{total} blobs, 0 wrong answers, nothing found by sanitizers, ", end="")
    print(f"{time.monotonic() - begin:.0f} s", file=sys.stdout)


if __name__ == "__main__":
    main()
