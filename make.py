"""Create the environment if it is not there, then do one of the things below; needs Python 3.11 and nothing else.

    python3 make.py SOURCE    measure every claim of a source on the shipped networks: a table, a page
    python3 make.py all       the same for all sources, with an index of their pages
    python3 make.py test      lint, types, and all tests; with --quick lint and those tests that take a minute
    python3 make.py docs      the documentation, into docs/_build/html
    python3 make.py notebooks run the notebooks anew and store what came out; with names, some of them
    python3 make.py gallery   draw the pictures of the figures anew; with names, those of some modules

Pages go into reports/. Anything after the name is handed on: `python3 make.py SOURCE --only 'fig7.*'`,
`python3 make.py test -k fourier`. The exit code is that of what was done: 0 when every verdict is the recorded one, or
every test passes; 2 on bad usage, or where the environment cannot be made.

SOURCE and `all` install what the package itself needs; the other four add pytest, Sphinx, Jupyter's kernel and pyright.
An environment whose installation was interrupted is made anew the next time.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
BIN = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
STAMP = ENVIRONMENT / "installed"  # the checksum of WANTED_BY and what was installed, or UNFINISHED
UNFINISHED = "unfinished"
LOCKS = {"commands": ["requirements.lock"], "all": ["requirements.lock", "requirements-test.lock"]}
WANTED_BY = ("pyproject.toml", "constraints.txt", *LOCKS["all"])


def environment(what: str) -> None:
    """Install the exact versions of constraints.txt into .venv, for the commands or for all, unless they are there.

    pip compares every download but PyTorch, which differs for each kind of GPU, with the checksums of the lock files.
    """
    wanted = hashlib.sha256(b"".join((ROOT / name).read_bytes() for name in WANTED_BY)).hexdigest()
    if installed(wanted, what):
        return
    with alone() as lock:
        if installed(wanted, what):  # by the process that held the lock
            return
        print(f"installing into {ENVIRONMENT.name} (once; some minutes)", flush=True)
        if stamp() == UNFINISHED or not has_pip():
            make_anew(lock)
        # an eighth of the code is ever imported, and that is compiled then: 290 MiB and half a minute less
        pip = [PYTHON, "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check", "--no-compile"]
        pip_alone = [*pip, "--no-deps"]  # so that these three install different packages, and can do so side by side
        locks = [part for name in LOCKS[what] for part in ("--requirement", name)]
        torch = ["--constraint", "constraints.txt", "torch"]
        write_stamp(UNFINISHED)
        package = [*pip_alone, "--editable", "."]
        install(lock, [*pip_alone, "--require-hashes", *locks], [*pip_alone, *torch], package)
        install(lock, [*pip, *torch])  # with the libraries of a GPU, where this PyTorch needs some
        write_stamp(f"{wanted} {what}")


def installed(wanted: str, what: str) -> bool:
    """True if the last installation is complete and holds what is needed: `all` includes what the commands need."""
    return stamp() in (f"{wanted} {what}", f"{wanted} all") and PYTHON.exists()


def stamp() -> str:
    """Return what the stamp says, or nothing where make.py has not finished an installation.

    A stamp without text was cut off while it was written.
    """
    return (STAMP.read_text(encoding="utf-8", errors="replace").strip() or UNFINISHED) if STAMP.is_file() else ""


def write_stamp(text: str) -> None:
    """Replace the stamp in one step, so that no interruption leaves half of it."""
    new = STAMP.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(STAMP)


def has_pip() -> bool:
    """True if the environment's Python starts and finds pip."""
    try:
        return not subprocess.run([str(PYTHON), "-m", "pip", "--version"], capture_output=True).returncode
    except OSError:
        return False


def make_anew(lock) -> None:
    """Remove what an interruption left of the environment, and make one that holds pip alone."""
    if importlib.util.find_spec("ensurepip") is None:
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        fail(f"this Python has no ensurepip, which makes environments; on Debian and Ubuntu: apt install {package}")
    if not stamp() and {path.name.partition("-")[0] for path in distributions()} - {"pip", "setuptools"}:
        fail(f"make.py did not make {ENVIRONMENT.name}, and no pip starts there; move that folder away")
    ENVIRONMENT.mkdir(exist_ok=True)
    write_stamp(UNFINISHED)
    for path in ENVIRONMENT.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif path != STAMP:  # which is there from the first moment to the last
            path.unlink()
    install(lock, [sys.executable, "-m", "venv", ENVIRONMENT])


@contextmanager
def alone():
    """Wait until no other make.py installs.

    The processes that install inherit the lock: they may outlive a make.py that was killed.
    """
    with open(__file__, encoding="utf-8") as lock:
        try:
            import fcntl
        except ImportError:  # Windows
            yield lock
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another make.py, which is installing", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:  # some network file systems have no locks
            pass
        yield lock


def install(lock, *commands: list) -> None:
    """Run a step of the installation, its commands side by side; show the messages of those that fail, and leave."""
    inherited = {} if os.name == "nt" else {"pass_fds": [lock.fileno()]}
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}  # Ctrl-C makes pip print a traceback
    texts = [[str(part) for part in command] for command in commands]
    processes = [subprocess.Popen(text, cwd=ROOT, **output, **inherited) for text in texts]
    try:
        messages = [process.communicate()[0] for process in processes]
    except KeyboardInterrupt:
        for process in processes:
            ended(process)
        raise
    failed = [n for n, process in enumerate(processes) if process.returncode]
    if failed:
        by_itself = all(process.returncode >= 0 for process in processes)
        if by_itself and all((path / "RECORD").is_file() for path in distributions()):
            STAMP.unlink()  # nothing is half installed, since pip writes a RECORD last: the environment may stay
        sys.stderr.write("".join(messages[n].decode(errors="replace") for n in failed))
        fail(f"python {' '.join(texts[failed[0]][1:4])} failed; its messages stand above")


def distributions() -> list:
    """List the folders that describe the installed packages."""
    return list(ENVIRONMENT.glob("**/site-packages/*.dist-info"))


def fail(message: str) -> NoReturn:
    """Print what is wrong and what to do, and leave with the code of bad usage."""
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def ended(process) -> int:
    """Wait for a process that got the same Ctrl-C, terminate it if it goes on, and return its exit code."""
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.communicate()
    return process.returncode


def run(command: list, **variables: str) -> None:
    """Run a command in the project's root; leave with its exit code if it fails."""
    process = subprocess.Popen([str(part) for part in command], cwd=ROOT, env={**os.environ, **variables})
    try:
        code = process.wait()
    except KeyboardInterrupt:  # the command says so itself
        code = ended(process) or 130
    if code:
        sys.exit(code if code > 0 else 128 - code)  # a shell's code for a signal


def reproduce(source: str, *more: str) -> None:
    """Measure every claim of a source, print one table, write one page."""
    run([PYTHON, "-m", "modinterp.reproduce", source, *more])


def test(*more: str) -> None:
    """Lint and tests, types among them, two at a time with one thread each; `--quick` before a commit."""
    run([BIN / "ruff", "check", "."])
    run([BIN / "ruff", "format", "--check", "."])
    quick = "--quick" in more
    # dozens of processes import the package, which jaxtyping's hook compiles anew where bytecode is not written
    variables = {"OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    run([PYTHON, "-m", "pytest", "-n", "2", *more, *["tests"] * quick], **variables)


def docs(*more: str) -> None:
    """The documentation, its figures drawn by its snippets, every warning an error; as a test builds it."""
    shutil.rmtree(ROOT / "docs" / "api", ignore_errors=True)  # or the page of a module that is gone would be built on
    run([PYTHON, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", *more, "docs", "docs/_build/html"])
    print("docs/_build/html/index.html")


def notebooks(*names: str) -> None:
    """Run the notebooks and store what came out."""
    run([PYTHON, "notebooks/renew.py", *names], PYTHONPATH=str(ROOT))


def gallery(*modules: str) -> None:
    """Draw the pictures of the gallery."""
    run([PYTHON, "docs/gallery.py", *modules])


def main(arguments: list) -> None:
    """Do what the command line names, in an environment that holds what it needs."""
    if sys.version_info < (3, 11):  # noqa: UP036
        fail(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    from modinterp.sources import sources  # older versions of Python cannot import it

    known = {source: partial(reproduce, source) for source in (*sources(), "all")}
    everything = {each.__name__: each for each in (test, docs, notebooks, gallery)}
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        print("Sources:\n")
        for name, source in sources().items():
            print(f"    {name:<12} {source.title} ({source.citation})")
        sys.exit(0 if arguments else 2)
    name, *more = arguments
    if name not in known and name not in everything:
        fail(f"no {name!r} to do; there are {', '.join([*known, *everything])}")
    try:
        environment("all" if name in everything else "commands")
    except OSError as error:  # a full disk, a folder that may not be written
        fail(f"{ENVIRONMENT.name} cannot be made: {error}")
    (known | everything)[name](*more)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        print("interrupted; run the same command to go on", file=sys.stderr)
        sys.exit(130)
