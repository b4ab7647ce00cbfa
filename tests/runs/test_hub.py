"""Runs on the Hub: read by their address, each file checked, from the cache where the Hub cannot be reached."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stand_in_hub import Hub, point_at, stand_in

from modinterp import runs
from modinterp.commands.reproduce import main as reproduce
from modinterp.commands.runs import main
from modinterp.models import TransformerConfig
from modinterp.runs import hub, store, train
from modinterp.sources import load
from modinterp.tasks import addition
from modinterp.training import Recipe, RunSpec

TASK = addition(5)
CONFIG = TransformerConfig.of(TASK, d_model=8, n_heads=1, d_head=8, d_mlp=8)
SPECS = {f"own/{n}": RunSpec(TASK, CONFIG, Recipe(epochs=20, log_every=10, snapshot_every=10), n) for n in range(2)}
REPO = "hf://me/sums"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    train(SPECS, folder, "cpu", progress=False)
    return folder


@pytest.fixture
def server(tmp_path: Path, trained: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with stand_in() as hub_server:
        point_at(hub_server.url, tmp_path / "cache", monkeypatch)
        hub_server.put("me/sums", trained)
        yield hub_server


def test_a_run_is_loaded_by_its_address_and_nothing_else_is_fetched(server: Hub, trained: Path) -> None:
    run = load(f"{REPO}/own/0")
    assert run.name == f"{REPO}/own/0"
    assert run.spec == SPECS["own/0"]
    assert run.history.equals(load("own/0", root=trained).history)
    assert {name.partition("/")[2].partition("/")[0] for name in server.files_asked()} == {"0"}
    server.asked.clear()
    assert len(load("own/0", root=REPO).snapshots) == 3
    assert not server.files_asked(), "it is in the cache"


def test_a_revision_is_another_network(server: Hub, trained: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(trained / "own/1", other / "own/0")
    commit = server.put("me/sums", other, "v2")
    for revision in ("v2", commit):
        assert load(f"{REPO}/own/0@{revision}").spec == SPECS["own/1"]
    assert load(f"{REPO}/own/0").spec == SPECS["own/0"]


def test_without_the_hub_the_cache_answers(server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load(f"{REPO}/own/0")
    point_at("http://127.0.0.1:9", tmp_path / "cache", monkeypatch)
    assert load(f"{REPO}/own/0").spec == SPECS["own/0"]
    with pytest.raises(ValueError, match="own/1: the Hub cannot be reached, and the cache lacks some of its files"):
        load(f"{REPO}/own/1")


@pytest.mark.parametrize(("address", "words"), [
    ("hf://me/none/own/0", "this repository does not exist, or your HF_TOKEN gives no access to it"),
    (f"{REPO}/own/0@v9", "the repository has no such revision"),
    ("hf://me", "is not an address on the Hub; addresses look like hf://OWNER/REPO"),
    (f"{REPO}/../own", "is not the name of a run"),
    (REPO, "is a repository; name one of its runs, as"),
])  # fmt: skip
def test_what_is_not_there_is_said_in_one_line(server: Hub, address: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        load(address)
    assert "\n" not in str(error.value)


def test_a_run_that_is_not_in_the_repository(server: Hub) -> None:
    with pytest.raises(FileNotFoundError, match="no trained run own/9 in hf://me/sums"):
        load(f"{REPO}/own/9")


def test_a_wrong_checksum_is_fetched_again_and_then_refused(server: Hub) -> None:
    server.replaced["own/0/history.csv"] = 1
    assert load(f"{REPO}/own/0").history["epoch"].iloc[-1] == 20, "the second transfer is right"
    assert server.replaced["own/0/history.csv"] == 0
    server.replaced["own/1/history.csv"] = 9
    with pytest.raises(ValueError, match=r"own/1: history.csv is not the file that was published"):
        load(f"{REPO}/own/1")


def test_a_missing_file_is_named(server: Hub, trained: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    shutil.copytree(trained, part)
    (part / "own/0/final.safetensors").unlink()
    server.put("me/part", part)
    with pytest.raises(ValueError, match=r"final.safetensors is missing, though run.json names it"):
        load("hf://me/part/own/0")


def _record_of(server: Hub, trained: Path, tmp_path: Path, change: Callable[[dict], object]) -> None:
    part = tmp_path / "part"
    shutil.copytree(trained, part)
    record = json.loads((part / "own/0/run.json").read_text())
    change(record)
    (part / "own/0/run.json").write_text(json.dumps(record))
    server.put("me/part", part)


@pytest.mark.parametrize("name", ["/proc/self/pagemap", "../1/history.csv", "/etc/hostname", "notes.txt", "C:\\x"])
def test_a_record_that_names_another_file_is_refused_and_the_file_is_not_read(
    name: str, server: Hub, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _record_of(server, trained, tmp_path, lambda record: record["sha256"].update({name: "0"}))
    monkeypatch.setattr(hub, "sha256", lambda path: pytest.fail(f"{path} is read"))
    with pytest.raises(ValueError, match=r"run.json is damaged: the record names .* which is not a file of a run"):
        load("hf://me/part/own/0")
    assert {path.rpartition("/")[2] for path in server.files_asked()} == {"run.json"}


@pytest.mark.parametrize("content", [b'{"sha256": ' + b"[" * 200_000, b"[]", b'{"sha256": 3}', b"\xff"])
def test_a_record_that_is_none_is_refused_in_one_line(
    content: bytes, server: Hub, trained: Path, tmp_path: Path
) -> None:
    part = tmp_path / "part"
    shutil.copytree(trained, part)
    (part / "own/0/run.json").write_bytes(content)
    server.put("me/part", part)
    with pytest.raises(ValueError, match=r"run.json is damaged: .*") as error:
        load("hf://me/part/own/0")
    assert "\n" not in str(error.value)


def test_what_a_record_does_not_name_is_not_fetched(server: Hub, trained: Path, tmp_path: Path) -> None:
    part = tmp_path / "part"
    shutil.copytree(trained, part)
    for n in range(50):
        (part / f"own/0/extra-{n}.bin").write_bytes(bytes(1000))
    server.put("me/part", part)
    assert load("hf://me/part/own/0").has_weights
    assert not [path for path in server.files_asked() if "extra" in path]


@pytest.mark.parametrize(("limit", "words"), [
    ("MOST_OF_RECORD", "run.json has .* bytes, more than is read"),
    ("MOST_OF_FILE", "own/0/.* has .* bytes, more than is read"),
    ("MOST_OF_RUN", "its files have .* bytes, more than is read"),
    ("MOST_LISTED", "has more than 10 files"),
])  # fmt: skip
def test_sizes_are_looked_at_before_anything_is_fetched(
    limit: str, words: str, server: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, limit, 10)
    with pytest.raises(ValueError, match=words):
        load(f"{REPO}/own/0")
    assert {path.rpartition("/")[2] for path in server.files_asked()} <= {"run.json"}


def test_a_connection_that_breaks_off_leaves_nothing_half(server: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file whose bytes no other has: what another file brought is in the cache, and is not asked for again."""
    monkeypatch.setattr(time, "sleep", lambda _: None)  # a second before each of the client's further attempts
    server.break_off["own/0/history.csv"] = 1000
    with pytest.raises(ValueError, match="own/0|sums") as error:
        load(f"{REPO}/own/0")
    assert "\n" not in str(error.value)
    server.break_off.clear()
    assert load(f"{REPO}/own/0").has_weights


def test_the_setting_may_be_a_repository(
    server: Hub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("MODINTERP_CHECKPOINTS", REPO)
    assert load("own/1").spec == runs.load("own/1").spec == SPECS["own/1"]
    assert main(["list", "own/*"]) == 0
    listed = capsys.readouterr().out
    assert "trained, on the Hub" in listed, "of own/0 the record alone was fetched"
    assert "trained, 0.0 MiB" in listed
    with pytest.raises(FileNotFoundError, match="did you mean 'own/1'"):
        load("own/11")


def test_claims_are_measured_on_runs_of_a_repository(
    server: Hub, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    shutil.copytree(store.checkpoints() / "mlp/kissane-0", tmp_path / "p/mlp/kissane-0")
    server.put("me/published", tmp_path / "p")
    asked = ["mlp", "--only", "mlp.test_acc", "--out", str(tmp_path / "out")]
    assert reproduce([*asked, "--runs", "hf://me/published"]) == 0
    assert json.loads((tmp_path / "out/claims.json").read_text())[0]["runs"] == ["mlp/kissane-0"]
    assert reproduce([*asked, "--runs", REPO]) == 2
    assert "none of the runs that these claims of mlp ask for is in hf://me/sums" in capsys.readouterr().err


def test_without_a_setting_an_installed_package_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.delenv("MODINTERP_CHECKPOINTS", raising=False)
    monkeypatch.setattr(store, "__file__", str(tmp_path / "site-packages/modinterp/runs/store.py"))
    assert reproduce(["mlp", "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "set MODINTERP_CHECKPOINTS to a folder of published runs, or to a repository of the Hub" in error
    assert main(["list", "mlp/*"]) == 0
    with pytest.raises(FileNotFoundError, match="no trained run mlp/kissane-0: published runs do not come with"):
        load("mlp/kissane-0")
