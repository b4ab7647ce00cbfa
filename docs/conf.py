"""The documentation: `python3 make.py docs` builds it into docs/_build/html, without a network."""

import re
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain
from sphinx.util.rst import escape

from modinterp import __version__

project = "modinterp"
author = copyright = "the authors of modinterp"
release = __version__

sys.path.insert(0, str(Path(__file__).parent))
extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "myst_parser",
    "sphinx_copybutton",
    "drawn",  # figures made by the snippets of a page
    "gallery",  # every figure with its example
    "pictures",  # stand-ins for figures, where the pages are read as files
]
if not tags.has("without_code"):  # pyright: ignore[reportUndefinedVariable] (Sphinx gives it)
    extensions.append("sphinx.ext.viewcode")  # the source of each module as a page
exclude_patterns = ["_build", "trained"]
templates_path = ["_templates"]
html_static_path = ["_static"]
html_css_files = ["pages.css"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
default_role = "py:obj"  # `name` in a docstring is a link where there is such a name, and code where there is none
nitpick_ignore_regex = [
    ("py:obj", ".*"),
    ("py:.*", r"(?!modinterp).*"),  # other packages' names lead nowhere offline
    ("py:class", r"modinterp\..*\.(Kind|Block|[A-Z])"),  # a type variable has no page
]

autodoc_default_options = {"members": True, "ignore-module-all": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_use_type_comments = False  # there are none, and to look for them parses every function
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
python_maximum_signature_line_length = 120
add_module_names = False
toc_object_entries_show_parents = "hide"

CLAIMS_OF_A_SOURCE = re.compile(r"modinterp\.sources\.\w+\.claims\b")

html_theme = "furo"
html_title = f"modinterp {release}"


class Python(PythonDomain):
    """Sphinx's table of names, which compares a name with all nine thousand only if one of them has its last part."""

    @cached_property
    def _last_parts(self) -> set[str]:
        return {name.rpartition(".")[2] for name in self.objects}

    def find_obj(self, env: Any, modname: Any, classname: Any, name: str, type: Any, searchmode: int = 0) -> list:
        """Called by Sphinx for every name, when all pages are read."""
        there = name.removesuffix("()").rpartition(".")[2] in self._last_parts
        return super().find_obj(env, modname, classname, name, type, searchmode) if there else []


def with_claims(_app: Sphinx, what: str, name: str, module: Any, _options: Any, lines: list[str]) -> None:
    """A module of claims or of contradictions lists them below its docstring."""
    if what != "module" or not CLAIMS_OF_A_SOURCE.match(name) or hasattr(module, "SECTIONS"):
        return
    for claim in getattr(module, "CLAIMS", ()):
        bands = "; ".join(f"{number} {band}" for number, band in claim.expected.items())
        why = f": {claim.finding.why}" if claim.finding.why else ""
        lines += ["", f"``{claim.id}`` ({escape(claim.where)})", f"   {escape(claim.statement)}", ""]
        lines += [f"   *Expected:* {escape(bands)}. *Verdict:* {claim.finding.verdict}{escape(why)}"]
    for conflict in getattr(module, "CONTRADICTIONS", ()):
        lines += ["", f"``{conflict.id}``", f"   {escape(conflict.conflict)}", "", f"   {escape(conflict.follows)}"]


def attributes_as_code(_app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """What begins with a dot, such as `.keys`, is an attribute of what was just named: code, and no link."""
    lines[:] = [re.sub(r"(?<!`)`(\.\w+)`(?!`)", r"``\1``", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_domain(Python, override=True)
    app.connect("autodoc-process-docstring", with_claims)
    app.connect("autodoc-process-docstring", attributes_as_code)
