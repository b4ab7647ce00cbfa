"""A package is imported by parts, and is whole for whoever asks for more of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = {
    "__init__.py": "from . import heavy\nfrom .Circle import Circle\nfrom .below import shape as form\nSIZE = heavy.SIZE\n",
    "heavy.py": "from lump.below import angle\nSIZE = 3 * angle.FULL\n",
    "Circle.py": "from lump.below.shape import NAME\n\nclass Circle:\n    name = NAME\n",
    "below/__init__.py": "from lump import heavy\nfrom lump.below.angle import FULL\n",
    "below/angle.py": "FULL = 2\n",
    "below/shape.py": "NAME = 'round'\n",
}
BY_PARTS = "import sys\nfrom modinterp.lazy import by_parts\nwith by_parts('lump'):\n    from lump import Circle\n"


def outcome(folder: Path, code: str) -> str:
    """What a program prints that can import the package `lump`."""
    for name, text in PACKAGE.items():
        path = folder / "lump" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, '.')\n{code}"], cwd=folder,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("code", "printed"),
    [
        (f"{BY_PARTS}print(Circle.name, 'lump.heavy' in sys.modules)", "round False"),
        (f"{BY_PARTS}import lump\nprint(lump.Circle is Circle, 'lump.heavy' in sys.modules)", "True True"),
        (f"{BY_PARTS}from lump import SIZE, form\nprint(SIZE, form.__name__)", "6 lump.below.shape"),
        (f"{BY_PARTS}import lump.below\nprint(lump.below.FULL, lump.below.heavy.SIZE)", "2 6"),
        (f"{BY_PARTS}import lump\nprint(hasattr(lump, 'nothing'), type(lump).__name__)", "False module"),
        (f"import lump\n{BY_PARTS}print(lump.Circle is Circle, 'lump.heavy' in sys.modules)", "True True"),
        (
            "from modinterp.lazy import by_parts\nwith by_parts('lump'):\n    from lump import SIZE\nprint(SIZE)",
            "6",
        ),  # a name that is not imported is there once all is executed
        (
            f"{BY_PARTS}import lump, pickle\nprint(pickle.loads(pickle.dumps(Circle())).name, lump.__spec__.loader)",
            "round",
        ),
    ],
)
def test_a_package_is_imported_by_parts(tmp_path: Path, code: str, printed: str) -> None:
    assert outcome(tmp_path, code).startswith(printed)


def test_garbage_is_not_looked_for_among_what_stays(tmp_path: Path) -> None:
    code = """import gc
from modinterp.lazy import staying
with staying():
    looked_for, here = gc.isenabled(), [[] for _ in range(5_000)]
print(looked_for, gc.isenabled(), gc.get_freeze_count() > 5_000, len(gc.get_objects()) < 5_000)"""
    assert outcome(tmp_path, code) == "False True True True"


def test_a_package_that_cannot_be_executed_says_so_each_time(tmp_path: Path) -> None:
    code = f"""{BY_PARTS}
open('lump/heavy.py', 'w').write('import no_such_library')
import lump
for _ in range(2):
    try:
        lump.SIZE
    except ModuleNotFoundError as error:
        print(error.name)
"""
    assert outcome(tmp_path, code).split() == ["no_such_library"] * 2


@pytest.mark.long
def test_a_network_does_not_wait_for_what_language_models_need() -> None:
    code = """
import sys
import modinterp.explain.entry, modinterp.reproduce.reproduction, modinterp.explain.page
from modinterp.models import Network
heavy = {"transformers", "datasets", "pytest", "huggingface_hub"}
print(sorted(heavy & sys.modules.keys()))
from transformer_lens import ActivationCache, HookedRootModule, TransformerBridge, patching, utilities
from modinterp.activations import ActivationCache as ours
print(issubclass(Network, HookedRootModule), ActivationCache is ours, utilities.get_act_name("q", 0))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["[]", "True True blocks.0.attn.hook_q"], done.stderr
