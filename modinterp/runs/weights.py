"""Weights from a file that anybody may have written: read as data, or refused with one line that says why.

Safetensors files hold nothing but arrays. Pickled files are read by `torch.load(weights_only=True)`, which knows a few
harmless names and executes nothing else; since even those can ask for more memory than there is, a file is
checked before it is read, and the tensors after.
"""

from __future__ import annotations

import pickle
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

PICKLED = (".pt", ".pth")
READ = (".safetensors", *PICKLED)  # suffixes of the files that weights are read from
WEIGHT_KEYS = ("model", "state_dict", "model_state_dict")
LARGEST_FILE = 2**32  # bytes; networks over pairs of residues take a thousandth of it
_CODE = "holds more than weights, and is not read, since that could run code"
_BOMB = b"bytearray"  # the one harmless name that makes memory out of a number


def read_weights(path: Path) -> dict[str, Tensor]:
    """Named tensors from a `.safetensors`, `.pt` or `.pth` file, on the CPU.

    A pickled file may hold the tensors themselves, or a dict that keeps them under `model`, `state_dict` or
    `model_state_dict`; other entries are ignored.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is cut off or damaged, holds no named tensors, declares more than it holds, or needs code
            to be read.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise ValueError(f"{path} is a folder, not a file of weights")
        if not path.is_file():
            raise FileNotFoundError(f"there is no file {path}")
        if path.stat().st_size > LARGEST_FILE:
            raise ValueError(f"{path} has {path.stat().st_size:,} bytes, more than is read ({LARGEST_FILE:,})")
        return _from_pickle(path) if path.suffix in PICKLED else _from_safetensors(path)
    except FileNotFoundError:
        raise
    except OSError as error:  # not readable, a name too long for the disk
        raise ValueError(f"{path} cannot be read: {error.strerror or first_line(error)}") from error


def read_safetensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a safetensors file, on the CPU, and its metadata.

    Raises:
        SafetensorError, OSError: the file is cut off or damaged, or not there.
    """
    with safe_open(path, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118


def _from_safetensors(path: Path) -> dict[str, Tensor]:
    try:
        tensors, _ = read_safetensors(path)
    except FileNotFoundError:
        raise
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise ValueError(f"{path} is not a whole safetensors file: {first_line(error)}") from error
    if not tensors:
        raise ValueError(f"{path} holds no named tensors")
    return tensors


def _from_pickle(path: Path) -> dict[str, Tensor]:
    _check_pickle_size(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old or damaged files torch says more than one line
            content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a damaged file may fail in any way
        if isinstance(error, pickle.UnpicklingError):
            needs = re.search(r"GLOBAL (\S+)", str(error))
            reason = f"; it needs {first_line(needs[1])}" if needs else ""
            raise ValueError(f"{path} {_CODE}{reason}") from error
        raise ValueError(f"{path} is not a whole file of weights: {first_line(error)}") from error
    tensors = _named_tensors(content, path)
    declared = sum(w.numel() * w.element_size() for w in tensors.values() if w.layout == torch.strided)
    if declared > 2 * path.stat().st_size:  # twice, since weights may be tied
        raise ValueError(f"{path} declares {declared:,} bytes of weights, but is {path.stat().st_size:,} bytes long")
    return tensors


def _check_pickle_size(path: Path) -> None:
    """Raises ValueError for a pickled file that would take more memory than its size."""
    raw = path.read_bytes()
    if _BOMB in raw:
        raise ValueError(f"{path} {_CODE}; it needs bytearray")
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, UnicodeError) as error:
        raise ValueError(f"{path} is not a whole file of weights: {first_line(error)}") from error
    if sum(entry.file_size for entry in entries) > len(raw):
        raise ValueError(f"{path} is not a whole file of weights: it declares more bytes than it holds")


def _named_tensors(content: Any, path: Path) -> dict[str, Tensor]:
    """The tensors of a dict, or of the one dict of tensors in it, under whichever of the usual names."""

    def tensors_of(value: Any) -> dict[str, Tensor]:
        items = value.items() if isinstance(value, dict) else ()
        return {name: w for name, w in items if isinstance(name, str) and isinstance(w, Tensor)}

    for _ in range(3):  # a dict in a dict, and that is enough
        inner = {k: content[k] for k in WEIGHT_KEYS if isinstance(content, dict) and isinstance(content.get(k), dict)}
        full = [k for k, value in inner.items() if tensors_of(value) or any(name in value for name in WEIGHT_KEYS)]
        if len(full) > 1:
            raise ValueError(f"{path} holds weights under {' and '.join(full)}; keep one of them")
        if not full:
            break
        content = inner[full[0]]
    tensors = tensors_of(content)
    if not tensors:
        kind = type(content).__name__
        names = f" of {', '.join(map(repr, list(content)[:6]))}" if isinstance(content, dict) and content else ""
        raise ValueError(f"{path} holds no named tensors, but {first_line(f'{kind}{names}')}")
    return tensors


def first_line(error: object) -> str:
    """The first sentence of an error message, on one line of at most 200 characters."""
    lines = (str(error) or type(error).__name__).splitlines()
    text = lines[0].partition(". ")[0] if lines else type(error).__name__
    return text if text.isprintable() and len(text) <= 200 else ascii(text)[1:-1][:200]
