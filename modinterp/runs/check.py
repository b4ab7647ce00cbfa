"""Read every file of a run and compare it with its checksum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modinterp.runs import states, store
from modinterp.runs.damage import Damage
from modinterp.runs.loading import load
from modinterp.runs.ongoing import damaged_files, wrong_files
from modinterp.tasks.description import TaskNotImportable


@dataclass(frozen=True)
class Checked:
    """The result of checking all files of one run.

    Attributes:
        stands: text that says whether the run is finished or still training, and at which epoch.
        files: number of files that were read.
        damages: the damaged files; empty if every file matches its checksum.
    """

    name: str
    stands: str
    files: int
    damages: tuple[Damage, ...]


def names_of_all(root: Path) -> list[str]:
    """Return the sorted names of the runs in a folder, including runs in training."""
    marks = (store.RECORD, states.STATE, states.BEFORE)
    folders = {path.parent for mark in marks for path in root.rglob(mark) if path.parent != root}
    return sorted(name for name in (f.relative_to(root).as_posix() for f in folders) if store.is_name(name))


def checked(name: str, root: Path) -> Checked:
    """Read every file of a run in a folder, and compare it with its recorded checksum.

    Raises:
        FileNotFoundError: the folder has no run of this name.
        ValueError: the name is not a valid run name.
    """
    folder = root / store.checked_name(name)
    present = [mark for mark in (store.RECORD, states.STATE, states.BEFORE) if (folder / mark).is_file()]
    if not present:
        raise FileNotFoundError(f"there is no run in {folder}")
    stands, files, damages = "unknown", set(present), []
    if store.RECORD in present:
        try:
            record = store.read_record(folder)
            stands = f"finished, epoch {record['epoch']:,}"
            files |= set(record["sha256"])
            damages += wrong_files(folder, record["sha256"]) or _unreadable(name, root)
        except ValueError as error:
            damages.append(Damage(store.RECORD, str(error)))
    for mark in (states.STATE, states.BEFORE):
        try:
            written = states.read_state(folder / mark)
        except FileNotFoundError:
            continue
        except TaskNotImportable as error:
            damages.append(Damage(mark, str(error)))
            continue
        except ValueError as error:
            damages.append(Damage(mark, str(error)))
            continue
        if stands == "unknown":
            stands = f"in training, epoch {written.state.epoch:,}"
        files |= set(written.files or ())
        told = {damage.file for damage in damages}
        damages += [damage for damage in damaged_files(folder, written) if damage.file not in told]
    return Checked(name, stands, len(files), tuple(damages))


def _unreadable(name: str, root: Path) -> list[Damage]:
    """Return the damage of a finished run whose weights do not fit its network, although all checksums match."""
    try:
        run = load(name, root=root)
        for epoch in run.snapshots:
            run.at(epoch)
    except TaskNotImportable:
        return []  # its class is elsewhere; the files are whole
    except (ValueError, FileNotFoundError) as error:
        return [Damage(store.RECORD, str(error))]
    return []


def lines(runs: list[Checked]) -> Iterator[str]:
    """Return the checks as lines of text: one line for each run, and below it one line for each damaged file."""
    rows = [("run", "state", "files", "found")]
    rows += [(r.name, r.stands, str(r.files), f"{len(r.damages)} damaged" if r.damages else "whole") for r in runs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, found in zip(rows, [None, *runs], strict=True):
        yield "  ".join(map(str.ljust, row, widths)).rstrip()
        yield from (f"    {damage.what}" for damage in (found.damages if found else ()))
