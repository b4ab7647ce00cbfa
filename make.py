"""Create the environment if it is not there, then do one of the things below; needs Python 3.11 and nothing else.

    python3 make.py SOURCE    measure every claim of a source on the shipped networks: a table, a page
    python3 make.py all       the same for all sources, with an index of their pages
    python3 make.py test      lint, types, and all tests; with --quick lint and those tests that take a minute
    python3 make.py docs      the documentation, into docs/_build/html
    python3 make.py notebooks run the notebooks anew and store what came out; with names, some of them
    python3 make.py gallery   draw the pictures of the figures anew; with names, those of some modules

Pages go into reports/. Anything after the name is handed on: `python3 make.py SOURCE --only 'fig7.*'`,
`python3 make.py test -k fourier`. The exit code is that of what was done: 0 when every verdict is the recorded one, or
every test passes; 2 on bad usage.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from functools import partial
from pathlib import Path

from modinterp.sources import sources

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
BIN = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
STAMP = ENVIRONMENT / "installed"
WANTED_BY = ("pyproject.toml", "constraints.txt", "requirements.lock")


def environment() -> None:
    """A virtual environment with the exact versions of constraints.txt, made anew when what is wanted has changed.

    All of it but PyTorch, of which each kind of GPU has its own, is held against the checksums of requirements.lock.
    """
    wanted = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in WANTED_BY)).hexdigest()
    if STAMP.is_file() and STAMP.read_text() == wanted:
        return
    print(f"installing into {ENVIRONMENT.name} (once; some minutes)", flush=True)
    if not BIN.is_dir():
        venv.create(ENVIRONMENT, with_pip=True)
    pip = [BIN / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run([*pip, "--no-deps", "--require-hashes", "--requirement", "requirements.lock"])
    run([*pip, "--constraint", "constraints.txt", "--editable", ".[test]"])
    STAMP.write_text(wanted)


def run(command: list, **variables: str) -> None:
    """Run a command in the project's root; leave with its exit code if it fails."""
    code = subprocess.run([str(part) for part in command], cwd=ROOT, env=os.environ | variables, check=False).returncode
    if code:
        sys.exit(code)


def reproduce(source: str, *more: str) -> None:
    """Measure every claim of a source, print one table, write one page."""
    run([BIN / "python", "-m", "modinterp.reproduce", source, *more])


def test(*more: str) -> None:
    """Lint and tests, types among them, two at a time with one thread each; `--quick` before a commit."""
    run([BIN / "ruff", "check", "."])
    run([BIN / "ruff", "format", "--check", "."])
    quick = "--quick" in more
    # dozens of processes import the package, which jaxtyping's hook compiles anew where bytecode is not written
    variables = {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    run([BIN / "python", "-m", "pytest", "-n", "2", *more, *["tests"] * quick], **variables)


def docs(*more: str) -> None:
    """The documentation, its figures drawn by its snippets, every warning an error; as a test builds it."""
    shutil.rmtree(ROOT / "docs" / "api", ignore_errors=True)  # or the page of a module that is gone would be built on
    run([BIN / "python", "-m", "sphinx", "-q", "-W", "-n", "--keep-going", *more, "docs", "docs/_build/html"])
    print("docs/_build/html/index.html")


def notebooks(*names: str) -> None:
    """Run the notebooks and store what came out."""
    run([BIN / "python", "notebooks/renew.py", *names], PYTHONPATH=str(ROOT))


def gallery(*modules: str) -> None:
    """Draw the pictures of the gallery."""
    run([BIN / "python", "docs/gallery.py", *modules])


if __name__ == "__main__":
    known = {source: partial(reproduce, source) for source in (*sources(), "all")} | {
        each.__name__: each for each in (test, docs, notebooks, gallery)
    }
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        print("Sources:\n")
        for name, source in sources().items():
            print(f"    {name:<12} {source.title} ({source.citation})")
        sys.exit(0 if sys.argv[1:] else 2)
    if sys.argv[1] not in known:
        print(f"error: no {sys.argv[1]!r} to do; there are {', '.join(known)}", file=sys.stderr)
        sys.exit(2)
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.exit(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    environment()
    known[sys.argv[1]](*sys.argv[2:])
