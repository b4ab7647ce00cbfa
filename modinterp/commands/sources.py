"""`modinterp sources list` lists the sources; `modinterp sources new NAME` writes a repository for your own source."""

from __future__ import annotations

from pathlib import Path

from modinterp.files import writable_folder
from modinterp.sources import sources
from modinterp.terminal.errors import one_line_errors
from modinterp.terminal.parser import Parser, folder


def _parser(prog: str) -> Parser:
    parser = Parser(
        prog=prog,
        description="List the sources, or write a repository for one of your own from a template.",
        epilog="""examples:
  %(prog)s list
  %(prog)s new your_paper

exit code: 0 when all is done, 2 on bad usage.""",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    commands.add_parser("list", help="every source, with its title",
                        epilog="examples:\n  %(prog)s")  # fmt: skip
    new = commands.add_parser("new", help="write a repository for a source of your own",
                              description="Write a repository that can train, measure, report and test from the start.",
                              epilog="examples:\n  %(prog)s your_paper")  # fmt: skip
    new.add_argument("name", metavar="NAME", help="name of the source, and of its Python package")
    new.add_argument("--out", metavar="DIR", type=folder, help="the folder to create (default: NAME)")
    return parser


@one_line_errors("stopped")
def main(arguments: list[str] | None = None, prog: str = "python -m modinterp.sources") -> int:
    """Run the command, which the user calls `prog`, and return its exit code."""
    options = _parser(prog).parse_args(arguments)
    if options.command == "list":
        for source in sources().values():
            print(f"{source.name:<12} {source.title} ({source.citation})")
        return 0
    from modinterp.sources.new import written

    out = options.out or Path(options.name)
    for path in written(options.name, writable_folder(out)):
        print(path)
    print(f"\nnext: cd {out} && pip install -e '.[test]', then follow {out}/README.md")
    return 0
