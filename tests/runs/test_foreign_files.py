"""Files that anybody may have written: read as data or refused in one line, whatever is wrong with them."""

from __future__ import annotations

import io
import os
import pickle
import random
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from modinterp.explain import explain
from modinterp.models import TransformerConfig, initial_weights
from modinterp.runs import load, store
from modinterp.tasks import addition

TASK = addition(5)
WEIGHTS = initial_weights(TransformerConfig.of(TASK, d_model=8, n_heads=2, d_head=4, d_mlp=12), seed=0)
EVERY_LOSS = {"epoch": 7, "train_losses": [1.0, 0.5], "optimizer": {"state": {0: {"step": 3}}, "param_groups": []}}


def as_safetensors(path: Path, content=None) -> Path:
    store.write_weights(path.with_suffix(".safetensors"), content or WEIGHTS)
    return path.with_suffix(".safetensors")


def as_zip(path: Path, content=None) -> Path:
    torch.save(content or {"model": WEIGHTS} | EVERY_LOSS, path.with_suffix(".pth"))
    return path.with_suffix(".pth")


def as_legacy(path: Path, content=None) -> Path:
    torch.save(content or WEIGHTS, path.with_suffix(".pt"), _use_new_zipfile_serialization=False)
    return path.with_suffix(".pt")


FORMATS = [as_safetensors, as_zip, as_legacy]


def refused(path: Path, match: str = ".") -> None:
    with pytest.raises(ValueError, match=match) as caught:
        load(path, TASK)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 800


def read_or_refused(path: Path) -> bool:
    """Whether it was read; anything but a ValueError of one line is an error."""
    said = ""
    try:
        run = load(path, TASK)
    except ValueError as error:
        said = str(error)
    if not said:
        assert all(w.isfinite().all() for w in run.model.state_dict().values())
    assert "\n" not in said
    return not said


@pytest.mark.parametrize("write", FORMATS)
def test_whole_files_are_read(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    network = load(write(tmp_path / "model"), TASK).model
    assert all(torch.equal(w, WEIGHTS[name]) for name, w in network.state_dict().items())


@pytest.mark.parametrize("write", FORMATS)
def test_no_part_of_a_file_passes_for_the_whole(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    path = write(tmp_path / "model")
    content = path.read_bytes()
    for keep in sorted({0, 1, 7, 8, 9, 63, 64, 65, *range(100, len(content), len(content) // 40), len(content) - 1}):
        path.write_bytes(content[:keep])
        refused(path)


@pytest.mark.parametrize("write", FORMATS)
def test_flipped_bits_are_noticed_or_harmless(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    path = write(tmp_path / "model")
    content, chance = path.read_bytes(), random.Random(0)
    read = 0
    for place in [*range(0, 600, 5), *(chance.randrange(len(content)) for _ in range(150))]:
        spoiled = bytearray(content)
        spoiled[place] ^= 1 << chance.randrange(8)
        path.write_bytes(spoiled)
        read += read_or_refused(path)
    assert 0 < read < 270  # a bit of a weight is another weight


@pytest.mark.parametrize("write", FORMATS)
def test_bytes_behind_the_end_do_not_matter_or_are_noticed(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    path = write(tmp_path / "model")
    path.write_bytes(path.read_bytes() + b"\0" * 100)
    read_or_refused(path)


class Gadget:
    """Unpickling this calls a function."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


GADGETS: dict[str, Callable[[Path], Gadget]] = {
    "os.system": lambda marker: Gadget(os.system, f"touch {marker}"),
    "eval": lambda marker: Gadget(eval, f"open({str(marker)!r}, 'w')"),
    "open": lambda marker: Gadget(open, str(marker), "w"),
    "Path.touch": lambda marker: Gadget(Path.touch, marker),
    "torch.save": lambda marker: Gadget(torch.save, 1, str(marker)),
    "torch.load": lambda marker: Gadget(torch.load, str(marker)),
}


@pytest.mark.parametrize("gadget", GADGETS)
@pytest.mark.parametrize("protocol", [0, 1, 2, 4, 5])
def test_no_gadget_is_called(tmp_path: Path, gadget: str, protocol: int) -> None:
    marker, path = tmp_path / "called", tmp_path / "model.pt"
    content = WEIGHTS | {"x": GADGETS[gadget](marker)}
    pickled = pickle.dumps(content, protocol)
    for write in (lambda: path.write_bytes(pickled), lambda: torch.save(content, path, pickle_protocol=protocol),
                  lambda: torch.save({"model": content}, path, _use_new_zipfile_serialization=False)):  # fmt: skip
        write()
        refused(path, "holds more than weights, and is not read, since that could run code|is not a whole file")
        assert not marker.exists()


def test_the_reason_names_what_a_pickle_needs(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(WEIGHTS | {"config": Gadget(os.system, "true")}, path)
    refused(path, r"could run code; it needs (posix|nt)\.system")


def test_a_pickle_that_makes_memory_out_of_a_number_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    bomb = {"x": Gadget(bytearray, 10**13)}
    path.write_bytes(pickle.dumps(bomb, 2))
    refused(path, r"could run code; it needs (builtins|__builtin__)\.bytearray")
    torch.save(bomb, path)
    refused(path, r"could run code; it needs (builtins|__builtin__)\.bytearray")


def test_more_numbers_than_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    torch.save(WEIGHTS | {"embed.W_E": torch.zeros(1, 1).expand(10**7, 10**7)}, path)
    refused(path, "declares 400,000,000,.* bytes of weights, but is .* bytes long")
    one = torch.zeros(10**4)
    torch.save({f"w{i}": one for i in range(1000)}, path)
    refused(path, "declares")


def test_an_archive_that_unpacks_to_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    path, packed = as_zip(tmp_path / "model"), tmp_path / "packed.pth"
    with zipfile.ZipFile(path) as plain, zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in plain.infolist():
            content = plain.read(entry) if not entry.filename.endswith("data/0") else b"\0" * 10**8
            archive.writestr(entry.filename, content)
    refused(packed, "declares more bytes than it holds")


@pytest.mark.parametrize("header", [b"{}", b'{"x":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4]}}',
                                    b'{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4000000000000]}}',
                                    b'{"x":{"dtype":"Q7","shape":[1],"data_offsets":[0,4]}}', b"[[[[", b"\xff\xfe"])  # fmt: skip
def test_safetensors_headers_that_lie_are_refused(tmp_path: Path, header: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 4)
    refused(path, "is not a complete safetensors file|holds no named tensors")
    path.write_bytes(struct.pack("<Q", 2**62) + header)
    refused(path, "is not a complete safetensors file")


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    for suffix in (".pt", ".safetensors"):
        with pytest.raises(FileNotFoundError, match="there is no file"):
            load(tmp_path / f"none{suffix}", TASK)
        folder, loop, astray = (tmp_path / f"{name}{suffix}" for name in ("folder", "loop", "astray"))
        folder.mkdir()
        refused(folder, "is a folder, not a file of weights")
        loop.symlink_to(loop)
        astray.symlink_to(tmp_path / "nowhere")
        for path in (loop, astray):
            with pytest.raises(FileNotFoundError, match="there is no file"):
                load(path, TASK)
        refused(tmp_path / f"{'x' * 300}{suffix}", "cannot be read")


def test_links_pipes_and_giants(tmp_path: Path) -> None:
    path = as_safetensors(tmp_path / "model")
    (tmp_path / "link.safetensors").symlink_to(path)
    assert read_or_refused(tmp_path / "link.safetensors")
    os.mkfifo(tmp_path / "pipe.pt")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load(tmp_path / "pipe.pt", TASK)
    for suffix in (".pt", ".safetensors"):
        with open(tmp_path / f"giant{suffix}", "wb") as file:
            file.truncate(2**40)
        refused(tmp_path / f"giant{suffix}", "more than is read")


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_precisions_are_read(tmp_path: Path, dtype: torch.dtype) -> None:
    for write in FORMATS:
        network = load(write(tmp_path / "model", {n: w.to(dtype) for n, w in WEIGHTS.items()}), TASK).model
        assert network.W_E.dtype == torch.float32
        torch.testing.assert_close(network.W_E, WEIGHTS["embed.W_E"], rtol=1e-2, atol=1e-3)


SPOILED: dict[str, tuple[Callable[[], dict], str]] = {
    "integers": (lambda: {"embed.W_E": torch.ones(6, 8, dtype=torch.int64)}, "embed.W_E is not a dense array of real"),
    "truth values": (
        lambda: {"embed.W_E": torch.ones(6, 8, dtype=torch.bool)},
        "embed.W_E is not a dense array of real",
    ),
    "infinite in float32": (
        lambda: {"embed.W_E": torch.full((6, 8), 1e300, dtype=torch.float64)},
        "not finite: embed.W_E",
    ),
    "not a number": (lambda: {"unembed.W_U": torch.full((8, 5), torch.nan)}, "not finite: unembed.W_U"),
    "no tokens": (lambda: {"embed.W_E": torch.ones(0, 8)}, "d_vocab must be a whole number .*, got 0"),
    "no heads": (lambda: {"blocks.0.attn.W_Q": torch.ones(0, 8, 4)}, "n_heads must be a whole number .*, got 0"),
    "no outputs": (lambda: {"unembed.W_U": torch.ones(8, 0)}, "d_vocab_out must be a whole number .*, got 0"),
    "another modulus": (lambda: {"embed.W_E": torch.ones(9, 8)}, "needs d_vocab 6, but the weights have 9"),
    "names of other scripts": (lambda: {"веса\n\u202e": torch.ones(2)}, r"without a place: '\\u0432"),
    "a thousand names": (lambda: {f"w{i}": torch.ones(1) for i in range(1000)}, "without a place: .* and 988 more"),
    "both layouts": (lambda: {"W_E": torch.ones(6, 8)}, "without a place: W_E"),
    "a layer far away": (lambda: {"blocks.999999.attn.W_Q": torch.ones(2, 8, 4)}, "numbered from 0 without a gap"),
    "a layer beyond numbers": (lambda: {f"blocks.{'9' * 5000}.x": torch.ones(1)}, "without a place"),
}


@pytest.mark.parametrize("case", SPOILED)
def test_what_does_not_fit_is_named(tmp_path: Path, case: str) -> None:
    spoil, message = SPOILED[case]
    refused(as_legacy(tmp_path / "model", WEIGHTS | spoil()), message)


NESTED: dict[str, tuple[Callable[[], object], str]] = {
    "under model": (lambda: {"model": WEIGHTS}, ""),
    "under state_dict": (lambda: {"state_dict": WEIGHTS} | EVERY_LOSS, ""),
    "under model_state_dict": (lambda: {"model_state_dict": WEIGHTS, "loss": torch.tensor(1.0)}, ""),
    "twice deep": (lambda: {"model": {"state_dict": WEIGHTS}}, ""),
    "beside a model that is a description": (lambda: {"model": {"d_model": 8}, "state_dict": WEIGHTS}, ""),
    "under two names": (lambda: {"model": WEIGHTS, "state_dict": WEIGHTS}, "weights under model and state_dict; keep weights under one"),
    "under another name": (lambda: {"net": WEIGHTS}, "holds no named tensors, but dict of 'net'"),
    "a list": (lambda: list(WEIGHTS.values()), "holds no named tensors, but list"),
    "one tensor": (lambda: torch.ones(3), "holds no named tensors, but Tensor"),
    "nothing": (lambda: {}, "holds no named tensors, but dict"),
    "a name that is a number": (lambda: {0: torch.ones(2)}, "holds no named tensors, but dict of 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", NESTED)
def test_weights_are_found_where_they_may_be(tmp_path: Path, case: str) -> None:
    content, message = NESTED[case]
    path = tmp_path / "model.pt"
    torch.save(content(), path)
    if message:
        refused(path, message)
    else:
        assert torch.equal(load(path, TASK).model.W_E, WEIGHTS["embed.W_E"])


class Config:
    """Settings of somebody's training, of a class that must never be made."""

    made = 0

    def __init__(self) -> None:
        self.d_model, self.device, self.act = 8, torch.device("cpu"), os.path.join

    def __setstate__(self, state: dict) -> None:
        Config.made += 1


@pytest.mark.parametrize("zipped", [True, False])
def test_weights_beside_settings_are_read_and_the_settings_never_made(tmp_path: Path, zipped: bool) -> None:
    """As in `grokking_demo.pth`: weights, their configuration as an object, every checkpoint, losses and rows."""
    path, before = tmp_path / "demo.pth", Config.made
    content = {"model": WEIGHTS, "config": Config(), "checkpoints": [WEIGHTS, WEIGHTS], "checkpoint_epochs": [0, 100],
               "test_losses": [1.0], "train_losses": [1.0], "train_indices": torch.arange(9)}  # fmt: skip
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    run = load(path, TASK)
    assert all(torch.equal(w, WEIGHTS[name]) for name, w in run.network.state_dict().items())
    assert explain(path, draws=99).name == str(path)
    assert Config.made == before
    torch.load(path, weights_only=False)
    assert Config.made == before + 1


def test_a_whole_module_is_refused(tmp_path: Path) -> None:
    path, buffer = tmp_path / "model.pt", io.BytesIO()
    torch.save(torch.nn.Linear(2, 2), buffer)
    path.write_bytes(buffer.getvalue())
    refused(path, r"could run code; it needs torch\.nn\.modules\.linear\.Linear")
