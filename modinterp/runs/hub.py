"""Download runs from a repository of the Hugging Face Hub, by addresses such as `hf://OWNER/REPO/SOURCE/RUN@REVISION`.

Functions that take a folder of runs also take the address of a repository. `local` downloads the requested files of a
repository into the cache of `huggingface_hub`, and returns their folder. If the Hub cannot be reached, files are read
from the cache of earlier downloads. `huggingface_hub` is imported when an address on the Hub is first used. The
settings of `huggingface_hub` apply: HF_ENDPOINT, HF_HOME, HF_HUB_OFFLINE, HF_TOKEN.
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
    """The parsed address of a Hub repository, or of one run in a Hub repository.

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
            raise ValueError(f"{self.run!r} is not the name of a run; names look like SOURCE/RUN")

    @classmethod
    def parsed(cls, text: str) -> Address:
        """Parse the text of an address.

        Raises:
            ValueError: the text is not an address on the Hub.
        """
        found = PATTERN.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is not an address on the Hub; addresses look like hf://OWNER/REPO or "
                "hf://OWNER/REPO/RUN, with or without @REVISION")  # fmt: skip
        return cls(f"{found['owner']}/{found['repo']}", (found["run"] or "").rstrip("/"), found["revision"] or "main")

    def __str__(self) -> str:
        revision = "" if self.revision == "main" else f"@{self.revision}"
        return f"{SCHEME}{self.repo}{f'/{self.run}' if self.run else ''}{revision}"


def is_address(name: Root) -> bool:
    """Return True if a name is an address on the Hub."""
    return isinstance(name, str) and name.startswith(SCHEME)


def root(text: str) -> Root:
    """Return a user's text as a path of a folder of runs, or check that it is the address of a Hub repository.

    Raises:
        ValueError: the address names a single run, or is not an address on the Hub.
    """
    if not is_address(text):
        return Path(text)
    address = Address.parsed(text)
    if address.run:
        raise ValueError(f"{text} names a single run; give the repository that contains it, {replace(address, run='')}")
    return str(address)


def local(where: Root, *patterns: str) -> Path:
    """Return a local folder of runs, after downloading the files that match some patterns if runs are on the Hub.

    Args:
        where: a local folder, which is returned unchanged; or the address of a Hub repository, whose matching files are
            downloaded.
        patterns: file patterns such as `*/run.json`; the star stands for any text, including slashes.
    Raises:
        ValueError: no such folder, address, repository or revision exists; the Hub cannot be reached and the cache
            lacks the files; or the transfer broke off.
    """
    if is_address(where):
        address = Address.parsed(str(where))
        return _fetched(address, patterns, _sizes(address), MOST_OF_RECORD)
    if not Path(where).is_dir():
        raise ValueError(f"{where} is not a folder")
    return Path(where)


def fetched_run(address: Address) -> Path:
    """Download a run from the Hub, and return its local folder.

    Only files listed in `run.json` are downloaded, after a check of their sizes. A file whose checksum differs from
    `run.json` is downloaded once more.

    Raises:
        FileNotFoundError: the repository has no run of this name.
        ValueError: a file is too large, or differs from its published checksum; or a reason listed in `local` applies.
    """
    if not address.run:
        raise ValueError(f"{address} is a repository; name one of its runs, as {address}/RUN")
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
    """Return the files listed in a `run.json`, with their checksums.

    Raises:
        ValueError: the file is not a valid `run.json`, or lists a name that is not a file of a run. In that case no
            listed file is opened.
    """
    try:
        if path.stat().st_size > MOST_OF_RECORD:
            raise ValueError(f"the record has more than {MOST_OF_RECORD:,} bytes")
        recorded = dict(json.loads(path.read_bytes())["sha256"])
        if strange := [name for name in recorded if not FILES.fullmatch(name)]:
            raise ValueError(f"the record names {strange[0]!a:.100}, which is not a file of a run")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"{address}: {RECORD} is damaged: {first_line(error)}") from error
    return recorded


def _damaged(folder: Path, recorded: Mapping[str, str]) -> list[str]:
    """Return the names of downloaded files whose checksum differs from `run.json`."""
    return [name for name, digest in recorded.items() if (folder / name).is_file() and sha256(folder / name) != digest]


def _sizes(address: Address) -> dict[str, int] | None:
    """Return the size of every file of a repository [bytes]; None if the Hub cannot be reached."""
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
    """Download the files of a repository that match some patterns, and return the repository's folder in the cache.

    Args:
        sizes: map from file name to size [bytes]; None to read only from the cache.
        most: largest allowed size of a file [bytes].
    Raises:
        ValueError: a file is larger than `most`, or the files together exceed the limit; nothing is downloaded then.
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
    """Turn errors of `huggingface_hub` inside the `with` statement into a ValueError with a one-line message.

    Args:
        subject: the requested file or run, which begins the message.
    """
    from huggingface_hub import errors

    try:
        yield
    except errors.RepositoryNotFoundError as error:
        raise ValueError(
            f"{subject}: this repository does not exist, or your HF_TOKEN gives no access to it"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise ValueError(f"{subject}: the repository has no such revision") from error
    except errors.LocalEntryNotFoundError as error:
        raise ValueError(f"{subject}: the Hub cannot be reached, and the cache lacks some of its files") from error
    except (errors.HTTPError, errors.OfflineModeIsEnabled) as error:  # pyright: ignore[reportPrivateImportUsage]
        raise ValueError(f"{subject}: {first_line(error)}") from error
    except (OSError, RuntimeError) as error:  # the disk is full, what came is shorter than it should be
        raise ValueError(f"{subject}: {type(error).__name__}: {first_line(error)}") from error
