"""Pickles made to hang, to eat memory or to run code are answered in a moment, and what stands beside weights is left."""

from __future__ import annotations

import io
import pickle
import resource
import struct
import time
import zipfile
from pathlib import Path

import pytest
import torch

from modinterp.runs.pickles import MOST_OPCODES, NotPlain, Opaque, StorageEntry, TensorEntry, plain
from modinterp.runs.weights import read_safetensors, read_weights

# a tuple of two of a tuple of two ..., 60 deep: 437 bytes, whose hash or repr would take a year
NESTED = b"\x80\x02)q\x00" + b"".join(b"h%ch%c\x86q%c0" % (i, i, i + 1) for i in range(60))
SAME_HASH = b"".join(b"\x8a\x0a" + (i * (2**61 - 1)).to_bytes(10, "little") + b"N" for i in range(50_000))

BOMBS = {
    "a nested key": NESTED + b"}h<K\x01s.",
    "nested in a list": NESTED + b"]h<a.",
    "nested in a set": NESTED + b"\x8f(h<\x90.",
    "nested in a counter": NESTED + b"ccollections\nCounter\n}h<K\x01s\x85R.",
    "a list in a list": b"\x80\x02" + b"]" * 50_000 + b"a" * 49_999 + b".",
    "a list in itself": b"\x80\x02]q\x00h\x00a.",
    "keys of one hash": b"\x80\x02}(" + SAME_HASH + b"u.",
    "a number of a million digits": b"\x80\x02L" + b"9" * 10**6 + b"L\n.",
    "instructions without end": b"\x80\x02" + b"]" * (2 * MOST_OPCODES) + b".",
    "a name without end": b"\x80\x02c" + b"a" * 2**24,
    "an empty stack": b"\x80\x02u.",
    "marks": b"\x80\x02" + b"(" * 1000 + b".",
    "nothing": b"",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_in_a_moment(tmp_path: Path, bomb: str) -> None:
    path, packed = tmp_path / "model.pt", tmp_path / "packed.pth"
    path.write_bytes(BOMBS[bomb])
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("model/data.pkl", BOMBS[bomb])
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    for file in (path, packed):
        with pytest.raises(
            ValueError, match=r"whole file|no named tensors|beside its weights|more than weights"
        ) as caught:
            read_weights(file)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 800
    assert time.process_time() - began < 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**19  # KiB


def test_archives_with_too_many_or_packed_entries_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        for i in range(50_000):
            archive.writestr(f"{i:060d}", b"")
    with pytest.raises(ValueError, match="too many entries"):
        read_weights(path)


def test_headers_of_safetensors_have_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    entries = (b'"%d":{"dtype":"F32","shape":[],"data_offsets":[%d,%d]}' % (i, 4 * i, 4 * i + 4) for i in range(21_000))
    header = b"{" + b",".join(entries) + b"}"
    path.write_bytes(struct.pack("<Q", len(header)) + header + bytes(4 * 21_000))
    with pytest.raises(ValueError, match="21,000 arrays, more than modinterp reads"):
        read_safetensors(path)
    path.write_bytes(struct.pack("<Q", 2**25) + bytes(2**25 + 8))
    with pytest.raises(ValueError, match="header has 33,554,432 bytes"):
        read_weights(path)


class Config:
    """A stranger's description of a network, which is never built."""

    def __init__(self) -> None:
        self.d_model = 8

    def __setstate__(self, state: object) -> None:
        raise AssertionError("it was built")


@pytest.mark.parametrize("archived", [True, False])
def test_what_stands_beside_the_weights_is_not_built(tmp_path: Path, archived: bool) -> None:
    weights = {"W": torch.arange(6.0).view(2, 3).T, "tied": torch.ones(2)}
    weights["also tied"] = weights["tied"]
    content = {"model": weights, "config": Config(), "rates": (1, 2.5, None, True), 3: {b"x": "y"}, (1, 2): [b"\0"]}
    torch.save(content, tmp_path / "model.pt", _use_new_zipfile_serialization=archived)
    found = read_weights(tmp_path / "model.pt")
    assert list(found) == list(weights)
    assert all(torch.equal(found[name], w) for name, w in weights.items())


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
def test_plain_content_is_what_was_pickled(protocol: int) -> None:
    content = {"a": [1, -5, 2**40, 1.5, "ж\n", None, True, False, (), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)], "b": {}}
    content["shared"] = content["a"]
    assert plain(io.BytesIO(pickle.dumps(content, protocol))).content == content


def test_tensors_are_described() -> None:
    file = io.BytesIO()
    torch.save({"w": torch.nn.Parameter(torch.ones(2, 3)), "m": torch.nn.Linear(1, 1)}, file)
    with zipfile.ZipFile(file) as archive:
        found = plain(io.BytesIO(archive.read("archive/data.pkl")))
    assert found.content["w"] == TensorEntry(StorageEntry("torch.FloatStorage", "0", 6), 0, (2, 3), (3, 1))
    assert found.content["m"] == Opaque("torch.nn.modules.linear.Linear")


def tensor(offset: int = 0, shape: object = (2,), stride: object = (1,), kind: str = "FloatStorage") -> bytes:
    """A pickle of a tensor of a storage of two numbers, with whatever is said of it."""
    parts = (pickle.dumps(x, 2)[2:-1] for x in (offset, shape, stride))
    storage = b"(X\x07\x00\x00\x00storagectorch\n%s\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02tQ" % kind.encode()
    return b"\x80\x02}X\x01\x00\x00\x00wctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"".join(parts) + b"\x89NtRs."


LIES = {
    "behind its storage": (tensor(offset=1), "outside of its storage"),
    "of wide steps": (tensor(stride=(2**40,)), "outside of its storage"),
    "of more steps than axes": (tensor(stride=(1, 1)), "impossible shape"),
    "of negative size": (tensor(shape=(-1,)), "impossible shape"),
    "of a size beyond numbers": (tensor(shape=(2**70,)), "impossible shape"),
    "of many axes": (tensor(shape=(1,) * 40, stride=(1,) * 40), "40 axes"),
    "of texts": (tensor(shape=("x",)), "impossible shape"),
    "of the whole memory": (tensor(shape=(2**40,), stride=(0,)), "declares"),
    "of another kind": (tensor(kind="QInt8Storage"), "kind torch.QInt8Storage, which modinterp does not read"),
    "of longer numbers": (tensor(kind="DoubleStorage"), "missing or of another length"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_tensor_that_lies_is_refused(tmp_path: Path, lie: str) -> None:
    content, message = LIES[lie]
    with zipfile.ZipFile(tmp_path / "model.pt", "w") as archive:
        archive.writestr("model/data.pkl", content)
        archive.writestr("model/data/0", struct.pack("<2f", 1, 2))
    with pytest.raises(ValueError, match=message):
        read_weights(tmp_path / "model.pt")


def test_a_whole_tensor_made_by_hand_is_read(tmp_path: Path) -> None:
    for shape, stride, values in [((2,), (1,), [1, 2]), ((2,), (0,), [1, 1]), ((0, 5), (1, 1), [])]:
        with zipfile.ZipFile(tmp_path / "model.pt", "w") as archive:
            archive.writestr("model/data.pkl", tensor(shape=shape, stride=stride))
            archive.writestr("model/data/0", struct.pack("<2f", 1, 2))
        assert read_weights(tmp_path / "model.pt")["w"].flatten().tolist() == values


def test_a_checksum_that_differs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save({"w": torch.full((8,), 3.0)}, path)
    content = path.read_bytes().replace(struct.pack("<f", 3), struct.pack("<f", 4))
    path.write_bytes(content)
    with pytest.raises(ValueError, match="its bytes are not those that were written"):
        read_weights(path)


def test_an_opcode_that_is_not_needed_is_refused() -> None:
    with pytest.raises(NotPlain, match="has the instruction EXT1"):
        plain(io.BytesIO(b"\x80\x02\x82\x01."))
