"""`modinterp explain FILE` explains a network over pairs in one table and on one page."""

from __future__ import annotations

from argparse import BooleanOptionalAction
from pathlib import Path

from modinterp.cluster.cores import set_threads
from modinterp.files import folder_name, own_page, writable_folder
from modinterp.lazy import staying
from modinterp.terminal.errors import one_line_errors
from modinterp.terminal.parser import Parser, folder

ACTIVATIONS = (
    "relu", "gelu", "none", "square", "tanh", "abs", "cube", "elu", "leaky_relu", "sigmoid", "silu", "sin", "softplus",
)  # fmt: skip


def add_operation(parser: Parser) -> None:
    """Add the argument that names the operation on which a file's network was trained."""
    operation = (
        "the task that a file was trained on: add, sub, mul, div, group, '2a + 3b', 'a^2 + b'; for sequences max, min, "
        "median, sort, digits, cumsum, palindrome, unique (default: add, or a run's)"
    )
    parser.add_argument("--op", help=operation)


def add_forward_pass(parser: Parser) -> None:
    """Add the arguments that state how a file's network computes, and which tokens it takes."""
    add = parser.add_argument
    neurons = "the nonlinearity of the neurons of the network in a file (default: relu)"
    add("--act", dest="act_fn", metavar="NAME", choices=ACTIVATIONS, help=neurons)
    rate = (
        "the share of softmax in the attention of the network in a file; the other share is constant attention "
        "(default: 1)"
    )
    add("--attention-rate", metavar="RATE", type=float, help=rate)
    causal = (
        "whether each position of the network in a file attends only to itself and earlier positions (default: yes)"
    )
    add("--causal", action=BooleanOptionalAction, help=causal)
    equals = "whether the token = follows the numbers (default: taken from the shapes)"
    add("--equals", action=BooleanOptionalAction, help=equals)
    vocabularies = "2 if the second number has its own tokens (default: taken from the shapes)"
    add("--vocabularies", type=int, choices=(1, 2), help=vocabularies)
    joined = "how the hidden layer of the network in a file combines the embeddings (default: taken from the shapes)"
    add("--joined", choices=("sum", "sum after W_in", "concatenated"), help=joined)


def _parser(prog: str) -> Parser:
    parser = Parser(
        prog=prog,
        description="""Explain a network over pairs of numbers mod p, of elements of a group, or on sequences.

Finds the frequencies that the network uses, compares them with random matrices, and changes
their waves inside the network. Prints one table and writes one page. Nothing in a file is executed.

A file does not determine how its network computes: set the options that you know. The explanation states the usual
values that it assumes for all other options, and warns if another value fits better.""",
        epilog="""examples:
  %(prog)s model.pt --op add --p 97
  %(prog)s model.pt --attention-rate 0 --no-causal
  %(prog)s model.safetensors --act gelu --out mine
  %(prog)s model.pt --op group --group S5 --elements order.txt
  %(prog)s model.pt --op sort         a list and its order; also max, digits, cumsum and more
  %(prog)s SOURCE/RUN                a run that `python -m modinterp.runs list` shows

exit code: 0 whatever the verdict, 2 on bad usage, 130 after Ctrl-C.""",
    )
    add = parser.add_argument
    add("network", metavar="FILE", help="a .safetensors, .pt or .pth file, or the name of a run, SOURCE/RUN")
    add_operation(parser)
    add("--p", metavar="P", type=int, help="the modulus p (default: taken from the shapes)")
    group = "S5, D59, A5, C2 x S3, a CSV file with a table, or answers: the network's own table (default: answers)"
    add("--group", metavar="GROUP", help=f"with --op group: {group}")
    elements = "a file with the elements of the group, one on each line, in the order of their tokens (default: sorted)"
    add("--elements", metavar="FILE", type=Path, help=elements)
    add_forward_pass(parser)
    add("--runs", metavar="DIR", help="look for named runs in DIR, or in hf://OWNER/REPO (default: checkpoints/)")
    add("--out", metavar="DIR", type=folder, help="folder for the report (default: reports/explain/NAME)")
    add("--device", default="cpu", help="cpu, cuda, or auto: a GPU if there is one (default: cpu)")
    draws = "random draws for each null hypothesis about the spectrum, at least 99 (default: 199)"
    threads = "number of threads (default: one per free core)"
    add("--threads", metavar="N", type=int, help=threads)
    add("--draws", metavar="N", type=int, default=199, help=draws)
    return parser


@one_line_errors("stopped; nothing was written")
def main(arguments: list[str] | None = None, prog: str = "python -m modinterp.explain") -> int:
    """Run the command, which the user calls `prog`, and return its exit code."""
    options, is_own_process = vars(_parser(prog).parse_args(arguments)), arguments is None
    with staying(is_own_process):
        set_threads(options.pop("threads"))
        from modinterp.explain.entry import explain
        from modinterp.explain.page import write_explanation
        from modinterp.runs.weights import READ
        from modinterp.tasks.group import elements_in
        from modinterp.training import prepare_cpu

    if is_own_process:
        prepare_cpu()
    network, out, root = options.pop("network"), options.pop("out"), options.pop("runs")
    options["elements"] = () if options["elements"] is None else elements_in(options["elements"])
    path = Path(network)
    is_file = path.suffix in READ or path.is_absolute() or path.exists()
    out = out or Path("reports/explain") / (folder_name(path) if is_file else path)
    own_page(writable_folder(out), "explanation.json")
    explanation = explain(network, **options, root=root)
    print(f"{explanation}\n", flush=True)  # the page, with formulas and figures, takes as long again
    print(f"report: {write_explanation(explanation, out)}")
    return 0
