"""Runs in a repository of the Hugging Face Hub, under addresses such as `hf://OWNER/REPO/SOURCE/RUN@REVISION`.

A repository may be named wherever a folder of runs may. `local` returns a folder with the requested files. Files of a
repository are downloaded into the cache of `huggingface_hub`, and read from there if the Hub cannot be reached.
`huggingface_hub` is imported when an address on the Hub is first used. The settings of `huggingface_hub` apply:
HF_ENDPOINT, HF_HOME, HF_HUB_OFFLINE, HF_TOKEN.
"""

from __future__ import annotations

import glob
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any

from modinterp.files import sha256
from modinterp.runs.layout import FILES, MOST_OF_FILE, MOST_OF_RECORD, RECORD
from modinterp.runs.weights import first_line

SCHEME = "hf://"
MOST_LISTED, MOST_OF_RUN = 100_000, 2**33  # files of a repository, and bytes that are fetched of it at once
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
    """True if a name is an address on the Hub."""
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
        ValueError: there is no such folder, address, repository or revision; the Hub cannot be reached and the cache
            lacks the files; the transfer broke off.
    """
    if is_address(where):
        address = Address.parsed(str(where))
        return _fetched(address, patterns, _sizes(address), MOST_OF_RECORD)
    if not Path(where).is_dir():
        raise ValueError(f"{where} is not a folder")
    return Path(where)


def fetched_run(address: Address) -> Path:
    """The local folder of a run on the Hub, with the files that its `run.json` names.

    Files that `run.json` does not name are not fetched, and their sizes are looked at before.
    A file that does not have the checksum which `run.json` says is fetched once more.

    Raises:
        FileNotFoundError: there is no such run in the repository.
        ValueError: as `local`, or a file is too large or not the one that was published.
    """
    if not address.run:
        raise ValueError(f"{address} is a repository; a run of it is {address}/RUN")
    sizes = _sizes(address)
    folder = _fetched(address, (f"{glob.escape(address.run)}/{RECORD}",), sizes, MOST_OF_RECORD) / address.run
    if not (folder / RECORD).is_file():
        raise FileNotFoundError(f"no trained run {address.run} in {replace(address, run='')}")
    recorded = _recorded(address, folder / RECORD)
    patterns = tuple(f"{glob.escape(address.run)}/{name}" for name in recorded)
    _fetched(address, patterns, sizes, MOST_OF_FILE)
    if _damaged(folder, recorded):
        _fetched(address, patterns, sizes, MOST_OF_FILE, force_download=True)
        if damaged := _damaged(folder, recorded):
            raise ValueError(f"{address}: {damaged[0]} is not the file that was published: its sha256 differs")
    return folder


def _recorded(address: Address, path: Path) -> dict[str, str]:
    """The files that a run.json names, with their checksums.

    Raises:
        ValueError: it is no such record, or names what is no file of a run; no file that it names was looked at.
    """
    try:
        if path.stat().st_size > MOST_OF_RECORD:
            raise ValueError(f"the record has more than {MOST_OF_RECORD:,} bytes")
        recorded = dict(json.loads(path.read_bytes())["sha256"])
        if strange := [name for name in recorded if not FILES.fullmatch(name)]:
            raise ValueError(f"it names {strange[0]!a:.100}, which is no file of a run")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{address}: {RECORD} is damaged: {first_line(error)}") from error
    return recorded


def _damaged(folder: Path, recorded: Mapping[str, str]) -> list[str]:
    """Files of a run that are there and do not have the checksum that `run.json` says."""
    return [name for name, digest in recorded.items() if (folder / name).is_file() and sha256(folder / name) != digest]


def _sizes(address: Address) -> dict[str, int] | None:
    """Bytes of every file of a repository, or of one run in it; None where the Hub cannot be reached."""
    with hub_errors(str(address)):
        import huggingface_hub
        from huggingface_hub import errors

        try:
            hub = huggingface_hub.HfApi()
            hub.repo_info(address.repo, revision=address.revision)  # listing tries for 23 s to reach the Hub
            tree = hub.list_repo_tree(address.repo, recursive=True, revision=address.revision)
            listed = list(islice(tree, MOST_LISTED + 1))
        except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError):
            raise
        except (errors.HTTPError, errors.OfflineModeIsEnabled, OSError):  # pyright: ignore[reportPrivateImportUsage]
            return None
        if len(listed) > MOST_LISTED:
            raise OSError(f"the repository has more than {MOST_LISTED:,} files")
        return {entry.path: entry.size for entry in listed if isinstance(entry, huggingface_hub.hf_api.RepoFile)}


def _fetched(
    address: Address, patterns: tuple[str, ...], sizes: Mapping[str, int] | None, most: int, **options: Any
) -> Path:
    """The folder of the repository of an address in the cache, with the files that fit some patterns.

    Args:
        sizes: of the files of the repository; None to read the cache alone.
        most: bytes of a file that is fetched.
    Raises:
        ValueError: a file is larger, or all of them are more than is read; none is fetched then.
    """
    fitting = {n: size for n, size in (sizes or {}).items() if any(fnmatchcase(n, pattern) for pattern in patterns)}
    if large := [name for name, size in fitting.items() if size > most]:
        raise ValueError(f"{address}: {large[0]} has {fitting[large[0]]:,} bytes, more than is read ({most:,})")
    if (total := sum(fitting.values())) > MOST_OF_RUN:
        raise ValueError(f"{address}: its files have {total:,} bytes, more than is read ({MOST_OF_RUN:,})")
    with hub_errors(str(address)):
        import huggingface_hub
        from tqdm.auto import tqdm

        class Bar(tqdm):
            def __init__(self, *arguments: Any, **settings: Any):
                super().__init__(*arguments, **settings | {"disable": not sys.stderr.isatty()})

        folder = huggingface_hub.snapshot_download(
            address.repo,
            revision=address.revision,
            allow_patterns=list(patterns),
            tqdm_class=Bar,
            local_files_only=sizes is None,
            **options,
        )
        return Path(folder)


@contextmanager
def hub_errors(subject: str) -> Iterator[None]:
    """Turn errors of the Hub into a ValueError of one line.

    Args:
        subject: the requested file or run, for the message.
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
