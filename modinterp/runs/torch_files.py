"""Read files of `torch.save`, in both of its formats, as data and without executing code."""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import torch
from torch import Tensor

from modinterp.runs.pickles import MOST_BYTES, NotPlain, StorageEntry, TensorEntry, plain

MOST_WEIGHTS = 2**30  # bytes that are read from a file; networks over pairs of residues take a thousandth of it
_MOST_DIRECTORY = 2**22  # bytes of an archive's list of entries
_NOT_WHOLE = "is not a whole file of weights"
_TIED = 8  # times that a weight may be in a file; TransformerLens' bridges have each four times
_LEGACY = 0x1950A86A20F9469CFC6C  # the first object in a file of the older format
_DTYPES = {
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}


@dataclass(frozen=True)
class Place:
    """A range of bytes in a file: its first byte, its length, and its checksum if the file stores one."""

    begin: int
    size: int
    crc: int | None


@dataclass(frozen=True)
class SavedFile:
    """The content of a file that `torch.save` wrote.

    Attributes:
        content: the saved object as plain data, with a `TensorEntry` for each tensor and an `Opaque` for each other
            object. The content may contain itself, so code that traverses the content must limit the depth.
        places: map from the key of each storage to its range of bytes.
    """

    path: Path
    content: Any
    places: Mapping[str, Place]

    def tensors(self, entries: Mapping[str, TensorEntry]) -> dict[str, Tensor]:
        """Read the tensors of the given entries, on the CPU; only the storages of these tensors are read.

        Raises:
            NotPlain: the tensors declare more bytes than the file holds or than the limit, or lie outside their
                storages.
        """
        declared = sum(math.prod(x.shape) * _dtype(x.storage).itemsize for x in entries.values())
        if declared > _TIED * (size := self.path.stat().st_size):
            raise NotPlain(f"declares {declared:,} bytes of weights, but is {size:,} bytes long")
        storages = {x.storage.key: x.storage for x in entries.values()}
        if (most := max(declared, sum(self._length(s) for s in storages.values()))) > MOST_WEIGHTS:
            raise NotPlain(f"holds {most:,} bytes of weights, more than is read ({MOST_WEIGHTS:,})")
        with open(self.path, "rb") as file:
            rows = {key: self._row(file, storage) for key, storage in storages.items()}
        return {name: _view(rows[x.storage.key], x) for name, x in entries.items()}

    def _length(self, storage: StorageEntry) -> int:
        """Return the size of a storage [bytes], after checking that the file holds it."""
        needed = storage.size * _dtype(storage).itemsize
        if storage.key not in self.places or self.places[storage.key].size != needed:
            raise NotPlain(f"{_NOT_WHOLE}: a storage is missing or of another length")
        return needed

    def _row(self, file: BinaryIO, storage: StorageEntry) -> Tensor:
        content = bytearray(_bytes_at(file, self.places[storage.key]))
        dtype = _dtype(storage)
        return torch.frombuffer(content, dtype=dtype) if content else torch.empty(0, dtype=dtype)


def saved_file(path: Path) -> SavedFile:
    """Read the content of a file that `torch.save` wrote, but do not read its tensors yet.

    Raises:
        NotPlain: the file is damaged, or declares more bytes than it holds.
        OSError: the file cannot be read.
    """
    with open(path, "rb") as file:
        try:
            archived = zipfile.is_zipfile(file)
        except zipfile.BadZipFile:  # it is one, and damaged, which opening it tells
            archived = True
        file.seek(0)
        return _archived(path, file) if archived else _legacy(path, file)


class _ShortReads(io.BufferedReader):
    """A file that refuses to read more bytes at once than the directory of a zip archive may have."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > _MOST_DIRECTORY:
            raise NotPlain(f"{_NOT_WHOLE}: it has too many entries")
        return super().read(size)


def _archived(path: Path, file: BinaryIO) -> SavedFile:
    try:
        with _ShortReads(io.FileIO(path)) as raw, zipfile.ZipFile(raw) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, struct.error) as error:
        raise error if isinstance(error, NotPlain) else NotPlain(f"{_NOT_WHOLE}: {error}") from error
    if any(re.fullmatch("[^/]+/code/.*", entry.filename) for entry in entries):
        raise NotPlain("is a TorchScript program; load it with torch.jit.load and give the module")
    if sum(entry.file_size for entry in entries) > path.stat().st_size:
        raise NotPlain(f"{_NOT_WHOLE}: it declares more bytes than it holds")
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise NotPlain(f"{_NOT_WHOLE}: it is packed, which torch never does")
    prefixes = [e.filename.removesuffix("data.pkl") for e in entries if re.fullmatch("[^/]+/data.pkl", e.filename)]
    if len(prefixes) != 1:
        raise NotPlain(f"{_NOT_WHOLE}: it has no data.pkl of its own")
    places = {e.filename.removeprefix(prefixes[0]): Place(_begin(file, e), e.file_size, e.CRC) for e in entries}
    if (size := places["data.pkl"].size) > MOST_BYTES:
        raise NotPlain(f"has {size:,} bytes beside its weights, more than is read ({MOST_BYTES:,})")
    if "byteorder" in places and _bytes_at(file, places["byteorder"]) != b"little":
        raise NotPlain("holds numbers in a byte order that modinterp does not read")
    content = plain(io.BytesIO(_bytes_at(file, places["data.pkl"]))).content
    return SavedFile(path, content, {key.removeprefix("data/"): place for key, place in places.items()})


def _begin(file: BinaryIO, entry: zipfile.ZipInfo) -> int:
    """Return the position of the first byte of a zip entry's content, after the entry's header."""
    file.seek(entry.header_offset)
    header = file.read(30)
    if len(header) < 30 or header[:4] != b"PK\3\4":
        raise NotPlain(f"{_NOT_WHOLE}: an entry has no header")
    name, extra = struct.unpack("<HH", header[26:30])
    return entry.header_offset + 30 + name + extra


def _bytes_at(file: BinaryIO, place: Place) -> bytes:
    file.seek(place.begin)
    content = file.read(place.size)
    if len(content) != place.size or (place.crc is not None and zlib.crc32(content) != place.crc):
        raise NotPlain(f"{_NOT_WHOLE}: it is cut off, or its bytes are not those that were written")
    return content


def _legacy(path: Path, file: BinaryIO) -> SavedFile:
    head = io.BytesIO(file.read(MOST_BYTES))
    first = plain(head)
    if first.content != _LEGACY:
        return SavedFile(path, first.content, {})
    _, _, of_weights, keys = (plain(head) for _ in range(4))
    places, place = {}, head.tell()
    for key in keys.content if isinstance(keys.content, list) else ():
        if not isinstance(key, str) or key not in of_weights.storages:
            raise NotPlain(f"{_NOT_WHOLE}: a storage belongs to no tensor")
        file.seek(place)
        count = file.read(8)
        size = of_weights.storages[key].size
        if len(count) < 8 or struct.unpack("<q", count)[0] != size:
            raise NotPlain(f"{_NOT_WHOLE}: a storage is cut off, or of another length")
        places[key] = Place(place + 8, size * _dtype(of_weights.storages[key]).itemsize, None)
        place += 8 + places[key].size
    return SavedFile(path, of_weights.content, places)


def _dtype(storage: StorageEntry) -> torch.dtype:
    kind = storage.kind.removeprefix("torch.")
    if kind not in _DTYPES:
        raise NotPlain(f"holds numbers of the kind {storage.kind}, which modinterp does not read")
    return _DTYPES[kind]


def _view(row: Tensor, entry: TensorEntry) -> Tensor:
    """Return a tensor as a view of its storage."""
    if math.prod(n for n in entry.shape if n) > MOST_WEIGHTS:
        raise NotPlain(f"{_NOT_WHOLE}: a weight has the shape {entry.shape}, which is too large")
    if 0 not in entry.shape:
        last = entry.offset + sum((n - 1) * step for n, step in zip(entry.shape, entry.stride, strict=True))
        if last >= len(row):
            raise NotPlain(f"{_NOT_WHOLE}: a weight lies outside of its storage")
        return row.as_strided(entry.shape, entry.stride, entry.offset)
    return torch.empty(entry.shape, dtype=row.dtype)
