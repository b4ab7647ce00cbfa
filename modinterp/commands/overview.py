"""`modinterp COMMAND ...` runs the named command; without a command, it prints an overview of all commands."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from modinterp import __version__
from modinterp.terminal.errors import one_line_errors
from modinterp.terminal.suggestions import suggestion


class Command(NamedTuple):
    """One line of the overview of commands: the name of a command, and its description."""

    purpose: str
    example: str


COMMANDS = {
    "explain": Command("find the algorithm that a network over pairs has learned", "model.pt --op add --p 113"),
    "compare": Command("put several networks side by side, as one table and one page", "a.pt b.pt --op add --p 97"),
    "distill": Command("write a network as formulas, and a formula as a program", "model.pt --op add --out clock.py"),
    "reproduce": Command("measure every claim of a source on trained networks", "all --only '*losses*'"),
    "train": Command("train a network of your own on arithmetic mod p", "--op add --p 59 --seed 1"),
    "runs": Command("list, train, watch and check runs, or search for hyper-parameters", "list"),
    "publish": Command("put finished runs among the checkpoints, or onto the Hub", "mine/sums-0 --snapshots"),
    "sources": Command("list the sources, or write a template for one of your own", "new your_paper"),
}


def _overview(prog: str) -> str:
    width = max(map(len, COMMANDS)) + 1
    commands = "\n".join(f"  {name:<{width}} {command.purpose}" for name, command in COMMANDS.items())
    examples = "\n".join(f"  {prog} {name} {command.example}" for name, command in COMMANDS.items())
    return f"""usage: {prog} COMMAND ...

Find the algorithm inside a small network, and test it.

commands:
{commands}

options:
  -h, --help     show this overview
  --version      show the version

examples:
{examples}

`{prog} COMMAND --help` explains one command."""


@one_line_errors("stopped")
def main(arguments: list[str] | None = None) -> int:
    """Run the command that the first argument names, and return its exit code."""
    prog = "python -m modinterp" if Path(sys.argv[0]).name == "__main__.py" else "modinterp"
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or ["--help"]
    if name in ("-h", "--help"):
        print(_overview(prog))
        return 0
    if name == "--version":
        print(f"modinterp {__version__}")
        return 0
    if name not in COMMANDS:
        meant = suggestion(name, COMMANDS)
        raise ValueError(f"no command {name!r}{meant or ';'} `{prog} --help` lists all commands")
    run = import_module(f"modinterp.commands.{name}").main
    if arguments is not None:
        return run(rest, f"{prog} {name}")
    sys.argv[1:] = rest  # the command reads them itself, and knows by that that the process is its own
    return run(None, f"{prog} {name}")
