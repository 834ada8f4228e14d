"""The container: a zip that other programs read, and that passes only byte for byte."""

import io
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bncc.errors import ModelFileError
from bncc.model.archive import MAX_ENTRIES, SUMS, from_npy, npy, pack, unpack, with_sums

ENTRIES = {"a.json": b"{}\n", "b/c.npy": b"", "d": bytes(range(256))}
NAMES = st.text("abcdefgh./", min_size=1, max_size=10)


@given(st.dictionaries(NAMES, st.binary(max_size=50), min_size=1, max_size=5))
def test_what_was_packed_is_unpacked(entries):
    assert unpack(pack(entries)) == entries
    assert list(unpack(pack(entries))) == list(entries)


def test_the_zip_module_reads_a_packed_archive():
    with zipfile.ZipFile(io.BytesIO(pack(ENTRIES))) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == ENTRIES
        infos = archive.infolist()
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    assert {info.external_attr >> 16 for info in infos} == {0o100644}


@pytest.mark.parametrize("bit", range(8))
def test_no_bit_of_an_archive_can_flip_unseen(bit):
    data = pack(ENTRIES)
    for position in range(len(data)):
        flipped = bytearray(data)
        flipped[position] ^= 1 << bit
        with pytest.raises(ModelFileError):
            unpack(bytes(flipped))


def test_no_truncated_or_lengthened_archive_passes():
    data = pack(ENTRIES)
    for n in range(len(data)):
        with pytest.raises(ModelFileError):
            unpack(data[:n])
    for longer in (data + b"\x00", b"\x00" + data, data + data):
        with pytest.raises(ModelFileError):
            unpack(longer)


@given(st.binary(max_size=200))
def test_no_random_bytes_pass(noise):
    for data in (noise, b"PK\x03\x04" + noise, pack(ENTRIES)[:60] + noise):
        with pytest.raises(ModelFileError):
            unpack(data)


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2])
def test_a_compressed_entry_never_passes_however_far_it_would_unfold(compression):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        archive.writestr("a.json", bytes(10**7))
    with pytest.raises(ModelFileError, match="corrupt"):
        unpack(stream.getvalue())


def test_an_archive_of_another_program_is_refused_even_when_stored():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.json", b"{}\n")
    with pytest.raises(ModelFileError, match="another program"):
        unpack(stream.getvalue())


@pytest.mark.parametrize("size", [0x7FFFFFFF, 0xFFFFFFFF])
def test_a_declared_size_beyond_the_file_is_refused(size):
    data = bytearray(pack(ENTRIES))
    data[18:22] = data[22:26] = size.to_bytes(4, "little")
    with pytest.raises(ModelFileError, match="entries are corrupt"):
        unpack(bytes(data))


def test_a_name_twice_is_refused():
    data = pack({"a": b"1", "b": b"2"}).replace(b"b", b"a")
    with pytest.raises(ModelFileError, match="entries are corrupt"):
        unpack(data)


def test_a_name_beyond_ascii_is_refused():
    data = pack({"a": b""}).replace(b"a", b"\xe9")
    with pytest.raises(ModelFileError, match="structure is corrupt"):
        unpack(data)


def test_more_entries_than_any_format_needs_are_refused():
    entries = {str(k): b"" for k in range(MAX_ENTRIES)}
    assert unpack(pack(entries)) == entries
    with pytest.raises(ModelFileError):
        unpack(pack({**entries, "one more": b""}))


def test_sums_are_in_the_format_of_sha256sum():
    """The digest of the empty string is in every textbook."""
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert with_sums({"x": b""}) == {"x": b"", SUMS: f"{empty}  x\n".encode()}


@pytest.mark.parametrize(
    ("bits", "dtype"), [(1, "u1"), (8, "u1"), (9, "u2"), (16, "u2"), (17, "u4"), (31, "u4")]
)
def test_arrays_take_the_smallest_type_and_numpy_reads_them(bits, dtype):
    values = np.array([0, 1, 2**bits - 1], dtype=np.int64)
    content = npy(values, bits)
    loaded = np.load(io.BytesIO(content), allow_pickle=False)
    assert loaded.dtype == np.dtype(f"<{dtype}")
    assert loaded.tolist() == values.tolist()
    assert from_npy(content, 3, bits).tolist() == values.tolist()
    assert from_npy(content, 3, bits).dtype == np.int64


def _saved(array, **options):
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        npy(np.zeros(4, dtype=np.int64), 8)[:-1],
        npy(np.zeros(4, dtype=np.int64), 8) + b"\x00",
        npy(np.zeros(3, dtype=np.int64), 8),
        npy(np.zeros(4, dtype=np.int64), 9),
        _saved(np.array([{}, 1, 2, 3], dtype=object), allow_pickle=True),
        _saved(np.asfortranarray(np.zeros((2, 2), dtype=np.uint8))),
        _saved(np.zeros(4, dtype=np.int8)),
        _saved(np.zeros(4, dtype=">u2")),
        npy(np.zeros(4, dtype=np.int64), 8).replace(b"(4,)", b"(9223372036854775807,)"),
    ],
    ids=["empty", "short", "long", "shape", "wide", "object", "fortran", "signed", "big", "huge"],
)
def test_an_array_of_another_type_or_shape_is_refused(content):
    with pytest.raises(ModelFileError, match="does not have the 4 costs"):
        from_npy(content, 4, 8)
