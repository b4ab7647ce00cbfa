"""Read weights from an untrusted file as data, or refuse the file with a reason in one line.

Safetensors files hold nothing but arrays. Pickled files are read as data, too, and never executed
(`modinterp.runs.pickles`). Reading a file never imports or calls anything that the file names. Only the bytes of the
requested weights are read.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import load
from torch import Tensor

from modinterp.files import no_file
from modinterp.runs.pickles import NotPlain, Opaque, TensorEntry
from modinterp.runs.series import state_dicts_in, tensors_in
from modinterp.runs.torch_files import MOST_WEIGHTS, saved_file

PICKLED = (".pt", ".pth", ".ckpt", ".bin")
READ = (".safetensors", *PICKLED)  # suffixes of the files that weights are read from
WEIGHT_KEYS = ("model", "state_dict", "model_state_dict")
LARGEST_FILE = 2**32  # bytes; weights take a part of it, and the rest is not read
MOST_HEADER = 2**24  # bytes of a safetensors file that describe its arrays, and the metadata
MOST_TENSORS = 20_000
_OTHER_KINDS = {  # how a file begins, in small letters, to what it is
    b"version https://git-lfs": (
        "is a pointer of Git LFS and not the file of weights; `git lfs pull` fetches the file"
    ),
    b"<!doctype": "is a web page and not a file of weights; download the file itself",
    b"<html": "is a web page and not a file of weights; download the file itself",
    b"\x89hdf": "is a file of HDF5, as Keras writes; save the weights by torch.save or as safetensors",
    b"\x1f\x8b": "is packed by gzip; unpack it first",
}
_HARMLESS = {
    "torch.device",
    "torch.Size",
    "torch.dtype",
    "numpy.dtype",
    "numpy.core.multiarray.scalar",
    "numpy._core.multiarray.scalar",
}  # beside weights, none of them
_CODE = "holds more than weights, and is not read, since that could run code"
_SAVE = "save model.state_dict() instead, or pass the module itself: mi.explain(module, ...)"
_DAMAGED = "is not a whole file of weights"
_AGAIN = "copy the file, or save it, again"
_WITHOUT_NUMBERS = {
    "torch._utils._rebuild_meta_tensor_no_storage": "holds tensors on the device meta, which have no numbers; save the "
    "weights after they are loaded",
    "torch._utils._rebuild_qtensor": "holds quantised tensors; save them after dequantize()",
}


def read_weights(path: Path) -> dict[str, Tensor]:
    """Read named tensors from a `.safetensors`, `.pt`, `.pth`, `.ckpt` or `.bin` file, on the CPU.

    The content of the file, and not its name, decides in which format the file is read. A pickled file may hold the
    tensors themselves, or a dict with them under `model`, `state_dict` or `model_state_dict`. Other entries of the dict
    are ignored, and their objects are never built.

    Raises:
        FileNotFoundError: the file does not exist.
        ValueError: the file is cut off or damaged, holds no named tensors, declares more than it holds, or needs code
            to be read.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise ValueError(f"{path} is a folder, not a file of weights")
        if not path.is_file():
            raise no_file(path)
        if path.stat().st_size > LARGEST_FILE:
            raise ValueError(f"{path} has {path.stat().st_size:,} bytes, more than is read ({LARGEST_FILE:,})")
        return _from_safetensors(path) if _is_safetensors(path) else _from_pickle(path)
    except FileNotFoundError:
        raise
    except OSError as error:  # not readable, a name too long for the disk
        raise ValueError(f"{path} cannot be read: {error.strerror or first_line(error)}") from error


def _is_safetensors(path: Path) -> bool:
    """Return True if a file begins like a safetensors file; if the first bytes are ambiguous, its name decides.

    Raises:
        ValueError: the first bytes belong to another kind of file.
    """
    with open(path, "rb") as file:
        begin = file.read(64)
    for mark, kind in _OTHER_KINDS.items():
        if begin.lower().lstrip(b"\xef\xbb\xbf \r\n\t").startswith(mark):
            raise ValueError(f"{path} {kind}")
    if begin[8:9] == b"{" and begin[6:8] == b"\0\0":  # the length of a header, and the header in JSON
        return True
    return path.suffix not in PICKLED and not begin.startswith((b"PK\3\4", b"\x80"))


def read_safetensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Read the tensors of a safetensors file, on the CPU, and its metadata.

    Raises:
        SafetensorError, OSError: the file is cut off, damaged or missing.
        ValueError: the file declares more bytes than the limit.
    """
    if Path(path).exists() and not Path(path).is_file():  # a pipe, of which reading would wait for ever
        raise ValueError("it is no file")
    with open(path, "rb") as raw:
        length = struct.unpack("<Q", raw.read(8).ljust(8, b"\0"))[0]
    size = Path(path).stat().st_size
    if MOST_HEADER < length < size:
        raise ValueError(f"the file's header has {length:,} bytes, more than modinterp reads ({MOST_HEADER:,})")
    if size - min(length, size) > MOST_WEIGHTS + 8:
        raise ValueError(
            f"the file holds {size - length:,} bytes of weights, more than modinterp reads ({MOST_WEIGHTS:,})"
        )
    if not _is_utf8(path):  # which safetensors does not open
        content = Path(path).read_bytes()
        header = json.loads(content[8 : 8 + length])
        _check_count(len(header))
        return load(content), header.get("__metadata__", {})
    with safe_open(path, framework="pt") as file:
        names = list(file.keys())
        _check_count(len(names))
        return {name: file.get_tensor(name) for name in names}, file.metadata() or {}


def _check_count(arrays: int) -> None:
    if arrays > MOST_TENSORS:
        raise ValueError(f"the file holds {arrays:,} arrays, more than modinterp reads ({MOST_TENSORS:,})")


def _is_utf8(path: Path) -> bool:
    """Return True if a path can be encoded in UTF-8."""
    return not any("\udc80" <= letter <= "\udcff" for letter in str(path))


def _from_safetensors(path: Path) -> dict[str, Tensor]:
    try:
        tensors, _ = read_safetensors(path)
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise ValueError(f"{path} is not a complete safetensors file: {first_line(error)}; {_AGAIN}") from error
    if not tensors:
        raise ValueError(f"{path} holds no named tensors; {_SAVE}")
    return tensors


def _from_pickle(path: Path) -> dict[str, Tensor]:
    try:
        saved = saved_file(path)
        return saved.tensors(_named_entries(saved.content, path))
    except NotPlain as error:
        is_whole = str(error).startswith(("is not", "is a", "holds", "has", "declares"))
        whole = first_line(error if is_whole else f"{_DAMAGED}: {error}")
        raise ValueError(f"{path} {whole}{f'; {_AGAIN}' * whole.startswith(_DAMAGED)}") from error


def _named_entries(content: Any, path: Path) -> dict[str, TensorEntry]:
    """Return the tensors of a dict, or of its only nested dict of tensors under one of the usual names.

    Raises:
        ValueError: the dict holds no tensors, several dicts of tensors, or objects that only code could build.
    """
    for _ in range(3):  # a dict in a dict, and that is enough
        inner = {k: content[k] for k in WEIGHT_KEYS if isinstance(content, dict) and isinstance(content.get(k), dict)}
        full = [k for k, value in inner.items() if tensors_in(value) or any(name in value for name in WEIGHT_KEYS)]
        if len(full) > 1:
            raise ValueError(f"{path} holds weights under {' and '.join(full)}; keep weights under one of these names")
        if not full:
            break
        content = inner[full[0]]
    around = content.values() if isinstance(content, dict) else (content,)
    if opaque := next((value for value in around if isinstance(value, Opaque) and value.name not in _HARMLESS), None):
        needs = f"{_CODE}; it needs {first_line(opaque.name)}; {_SAVE}"
        raise ValueError(f"{path} {_WITHOUT_NUMBERS.get(opaque.name, needs)}")
    entries = tensors_in(content)
    if not entries and (several := state_dicts_in(content)):
        raise ValueError(
            f"{path} holds {len(several)} state dicts; open them with mi.run(network, task, snapshots={path.name!r})"
        )
    if not entries:
        kind = "Tensor" if isinstance(content, TensorEntry) else type(content).__name__
        names = f" of {', '.join(map(_quoted, list(content)[:6]))}" if isinstance(content, dict) and content else ""
        raise ValueError(f"{path} holds no named tensors, but {first_line(f'{kind}{names}')}; {_SAVE}")
    return entries


def _quoted(key: str | int) -> str:
    return repr(key[:100] if isinstance(key, str) else key)


def first_line(error: object) -> str:
    """Return the first sentence of an error message, on one line of at most 200 characters."""
    lines = (str(error) or type(error).__name__).splitlines()
    text = lines[0].partition(". ")[0] if lines else type(error).__name__
    return text if text.isprintable() and len(text) <= 200 else ascii(text)[1:-1][:200]
