"""The API reference: `python3 make.py docs` builds it into docs/_build/html, without a network."""

from typing import Any

from sphinx.application import Sphinx
from sphinx.util.rst import escape

from modinterp import __version__

project = "modinterp"
author = copyright = "the authors of modinterp"
release = __version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
default_role = "py:obj"  # `name` in a docstring is a link where there is such a name, and code where there is none
nitpick_ignore_regex = [("py:obj", ".*"), ("py:.*", r"(?!modinterp).*")]  # other packages' names lead nowhere offline

autodoc_default_options = {"members": True, "ignore-module-all": True}
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = False
napoleon_custom_sections = [("Attributes", "params_style")]
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"modinterp {release}"


def with_claims(_app: Sphinx, what: str, _name: str, module: Any, _options: Any, lines: list[str]) -> None:
    """A module of claims or contradictions lists them after its docstring."""
    if what != "module" or "claims" not in module.__name__:
        return
    for claim in module.__dict__.get("CLAIMS", ()) if not hasattr(module, "SECTIONS") else ():
        bands = "; ".join(f"{name} {band}" for name, band in claim.expected.items())
        finding = f"{claim.finding.verdict}: {claim.finding.why}" if claim.finding.why else claim.finding.verdict
        lines += ["", f"``{claim.id}`` ({escape(claim.where)})"]
        lines += [f"   {escape(claim.statement)} *Expected:* {escape(bands)}. *Finding:* {escape(finding)}"]
    for conflict in module.__dict__.get("CONTRADICTIONS", ()) if not hasattr(module, "SECTIONS") else ():
        lines += ["", f"``{conflict.id}``", f"   {escape(conflict.conflict)} {escape(conflict.follows)}"]


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", with_claims)
