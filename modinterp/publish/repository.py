"""Make a repository of the Hugging Face Hub from published runs: their files, a card, and one network in a common
format.

README.md            the card: licence, library, tags, test accuracy, the claims that hold
config.json          of the first run, and
model.safetensors    its weights, as `PyTorchModelHubMixin` reads them; see `modinterp.publish.hub_network`
SOURCE/RUN/...       every run as it is published, for `modinterp.load("hf://OWNER/REPO/SOURCE/RUN")`
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from huggingface_hub import EvalResult, HfApi, ModelCardData

from modinterp.claims import Result
from modinterp.files import write_atomically
from modinterp.measurements import measure_as_published
from modinterp.publish.hub_network import LIBRARY, configuration, hub_class
from modinterp.runs import TrainedRun, hub, load, store
from modinterp.sources import sources

TAGS = ["mechanistic-interpretability", "grokking", "transformer-lens"]


def claims_that_hold(run: TrainedRun) -> tuple[Result, ...]:
    """Return the single-network claims of a run's source that hold on the run; empty for a run without a source."""
    about = sources().get(run.name.partition("/")[0])
    measured = {run.name: measure_as_published(run)}
    results = [] if about is None else [c.check_available(measured) for c in about.values() if run.name in c.needs]
    return tuple(result for result in results if result.verdict == "holds" and result.runs)


def accuracy_held_out(run: TrainedRun) -> float | None:
    """Return the accuracy on held-out inputs at the end of a training; None if it was not recorded."""
    return float(run.history["test_accuracy"].iloc[-1]) if "test_accuracy" in run.history else None


def card(repo: str, runs: Sequence[TrainedRun], held: Mapping[str, Sequence[Result]], licence: str) -> str:
    """Return the text of `README.md`: first metadata for the Hub, then text for people.

    Args:
        repo: name of the repository, `OWNER/REPO`.
        held: map from the name of a run to the claims that hold on it.
        licence: licence of the weights, by the Hub's name, such as `mit`.
    """
    accuracies = [(run, accuracy) for run in runs if (accuracy := accuracy_held_out(run)) is not None]
    results = [
        EvalResult("other", run.name, run.task.name, "accuracy", accuracy, metric_name=f"test accuracy of {run.name}")
        for run, accuracy in accuracies
    ]
    data = ModelCardData(
        license=licence,
        library_name=LIBRARY,
        tags=TAGS,
        model_name=repo.partition("/")[2],
        eval_results=results or None,
    )
    reader = hub_class(runs[0].network).__name__ if runs[0].has_weights else ""
    lines = [
        f"---\n{data.to_yaml()}\n---",
        f"# {repo.partition('/')[2]}",
        "",
        "```python",
        "import modinterp as mi",
        "",
    ]
    lines += [f'run = mi.load("{hub.SCHEME}{repo}/{run.name}")' for run in runs[:3]]
    if reader:
        lines += [
            "",
            f"from modinterp.publish.hub_network import {reader}",
            f'network = {reader}.from_pretrained("{repo}")',
        ]
    lines += ["```", "", "| run | learned | test accuracy | claims that hold |", "|---|---|---|---|"]
    for run in runs:
        accuracy = accuracy_held_out(run)
        told = "" if accuracy is None else f"{accuracy:.4f}"
        lines.append(f"| `{run.name}` | {run.task.name} | {told} | {len(held.get(run.name, ()))} |")
    for run in runs:
        if results_of_run := held.get(run.name):
            lines += ["", f"## Claims that hold for `{run.name}`", ""]
            lines += [f"- `{r.claim.id}` ({r.claim.where}): {r.claim.statement} *{r.measured_text(r.claim.expected)}*"
                      for r in results_of_run]  # fmt: skip
    return "\n".join(lines) + "\n"


def write_repository(repo: str, names: Sequence[str], folder: Path, licence: str = "mit") -> tuple[TrainedRun, ...]:
    """Write card, configuration and weights into a folder of published runs, and return the runs.

    Args:
        names: names of the runs in the folder; `from_pretrained` reads the first run.
    """
    runs = tuple(load(name, root=folder) for name in names)
    first = runs[0]
    if first.has_weights:
        network = first.network
        write_atomically(folder / "config.json", (json.dumps(configuration(network.cfg), indent=1) + "\n").encode())
        store.write_weights(folder / "model.safetensors", dict(network.state_dict()), {"format": "pt"})
    held = {run.name: claims_that_hold(run) for run in runs if run.has_weights}
    write_atomically(folder / "README.md", card(repo, runs, held, licence).encode())
    return runs


def upload(repo: str, folder: Path, names: Sequence[str]) -> str:
    """Upload a folder that `write_repository` completed, and return its address on the Hub, with the commit.

    The upload contains the named runs and the files at the top level of the folder.

    Raises:
        ValueError: the Hub cannot be reached, or does not let the user's token (HF_TOKEN) write to the repository.
    """
    address = hub.Address.parsed(f"{hub.SCHEME}{repo}")
    with hub.hub_errors(str(address)):
        api = HfApi()
        api.create_repo(repo, exist_ok=True)
        wanted = ["README.md", "config.json", "model.safetensors", *(f"{name}/*" for name in names)]
        commit = api.upload_folder(
            repo_id=repo, folder_path=folder, allow_patterns=wanted, ignore_patterns=["*/.*"],
            commit_message=f"{len(names)} run{'s' * (len(names) > 1)} from {LIBRARY}",
        )  # fmt: skip
    return f"{address}@{commit.oid}"
