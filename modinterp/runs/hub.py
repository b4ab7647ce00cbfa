"""Runs in a repository of the Hugging Face Hub, under addresses such as `hf://OWNER/REPO/SOURCE/RUN@REVISION`.

Where a folder of runs can be named, such a repository can: `local` gives a folder that holds what is asked for, which
for a repository is fetched into the cache of `huggingface_hub`, and read from there where the Hub cannot be reached.
That library is imported when an address is met. Its settings hold: HF_ENDPOINT, HF_HOME, HF_HUB_OFFLINE, HF_TOKEN.
"""

from __future__ import annotations

import glob
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from modinterp.files import sha256
from modinterp.runs.weights import first_line

SCHEME = "hf://"
PATTERN = re.compile(r"hf://(?P<owner>[\w.-]+)/(?P<repo>[\w.-]+)(?:/(?P<run>[^@\s]+))?(?:@(?P<revision>[^@\s]+))?")
Root = Path | str  # a folder of runs, or the address of a repository


@dataclass(frozen=True)
class Address:
    """A repository of the Hub, and a run in it.

    Attributes:
        repo: `OWNER/REPO`.
        run: name of the run; empty for the repository itself.
        revision: a branch, a tag or a commit.

    >>> str(Address.parsed("hf://me/sums/paper/first-0@v1"))
    'hf://me/sums/paper/first-0@v1'
    """

    repo: str
    run: str = ""
    revision: str = "main"

    def __post_init__(self) -> None:
        if self.run and any(part in ("", ".", "..") for part in self.run.split("/")):
            raise ValueError(f"{self.run!r} is no name of a run, such as SOURCE/RUN")

    @classmethod
    def parsed(cls, text: str) -> Address:
        """The address that a text is.

        Raises:
            ValueError: it is none.
        """
        found = PATTERN.fullmatch(text)
        if found is None:
            raise ValueError(f"an address on the Hub is hf://OWNER/REPO, hf://OWNER/REPO/RUN or one of these with "
                             f"@REVISION, unlike {text!r}")  # fmt: skip
        return cls(f"{found['owner']}/{found['repo']}", (found["run"] or "").rstrip("/"), found["revision"] or "main")

    def __str__(self) -> str:
        revision = "" if self.revision == "main" else f"@{self.revision}"
        return f"{SCHEME}{self.repo}{f'/{self.run}' if self.run else ''}{revision}"


def is_address(name: Root) -> bool:
    """Whether a name is an address on the Hub."""
    return isinstance(name, str) and name.startswith(SCHEME)


def root(text: str) -> Root:
    """A folder of runs, or the address of a repository of them, from what a user wrote.

    Raises:
        ValueError: an address that is none of a repository.
    """
    if not is_address(text):
        return Path(text)
    address = Address.parsed(text)
    if address.run:
        raise ValueError(f"{text} names a run; a place of runs is {replace(address, run='')}")
    return str(address)


def local(where: Root, *patterns: str) -> Path:
    """A folder of runs on this machine that holds at least the files that fit some patterns.

    Args:
        where: a folder, which is returned as it is; or the address of a repository, of which these files are fetched.
        patterns: such as `*/run.json`; a star stands for any text, slashes included.
    Raises:
        ValueError: no folder; no address; no such repository or revision; the Hub cannot be reached, and what is asked
            for is not in the cache; the transfer broke off.
    """
    if is_address(where):
        return _fetched(Address.parsed(str(where)), patterns)
    if not Path(where).is_dir():
        raise ValueError(f"{where} is not a folder")
    return Path(where)


def fetched_run(address: Address) -> Path:
    """The folder of a run on the Hub, whose files were fetched and are those that its `run.json` names.

    A file that does not have the checksum which `run.json` says is fetched once more.

    Raises:
        FileNotFoundError: there is no such run in the repository.
        ValueError: as `local`, or a file is not the one that was published.
    """
    if not address.run:
        raise ValueError(f"{address} is a repository; a run of it is {address}/RUN")
    patterns = (f"{glob.escape(address.run)}/*",)
    folder = _fetched(address, patterns) / address.run
    if not (folder / "run.json").is_file():
        raise FileNotFoundError(f"no trained run {address.run} in {replace(address, run='')}")
    if _damaged(folder):
        _fetched(address, patterns, force_download=True)
        if damaged := _damaged(folder):
            raise ValueError(f"{address}: {damaged[0]} is not the file that was published: its sha256 differs")
    return folder


def _damaged(folder: Path) -> list[str]:
    """Files of a run that are there and do not have the checksum that `run.json` says; damage of that is told later."""
    try:
        recorded = json.loads((folder / "run.json").read_text(encoding="utf-8"))["sha256"]
        return [
            name for name, digest in recorded.items() if (folder / name).is_file() and sha256(folder / name) != digest
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []


def _fetched(address: Address, patterns: tuple[str, ...], **options: Any) -> Path:
    """The folder of the repository of an address in the cache, with the files that fit some patterns."""
    with hub_errors(str(address)):
        import huggingface_hub
        from tqdm.auto import tqdm

        class Bar(tqdm):
            def __init__(self, *arguments: Any, **settings: Any):
                super().__init__(*arguments, **settings | {"disable": not sys.stderr.isatty()})

        folder = huggingface_hub.snapshot_download(
            address.repo, revision=address.revision, allow_patterns=list(patterns), tqdm_class=Bar, **options
        )
        return Path(folder)


@contextmanager
def hub_errors(subject: str) -> Iterator[None]:
    """What goes wrong with the Hub, as a ValueError of one line.

    Args:
        subject: what was asked for, for the error.
    """
    from huggingface_hub import errors

    try:
        yield
    except errors.RepositoryNotFoundError as error:
        raise ValueError(f"{subject}: there is no such repository, or it is not open to you (HF_TOKEN)") from error
    except errors.RevisionNotFoundError as error:
        raise ValueError(f"{subject}: there is no such revision") from error
    except errors.LocalEntryNotFoundError as error:
        raise ValueError(f"{subject}: the Hub cannot be reached, and it is not all in the cache") from error
    except (errors.HTTPError, errors.OfflineModeIsEnabled) as error:  # pyright: ignore[reportPrivateImportUsage]
        raise ValueError(f"{subject}: {first_line(error)}") from error
    except (OSError, RuntimeError) as error:  # the disk is full, what came is shorter than it should be
        raise ValueError(f"{subject}: {type(error).__name__}: {first_line(error)}") from error
