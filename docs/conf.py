"""Sphinx configuration: `./dev site` builds these pages, warnings being errors."""

import logging
import sys
from pathlib import Path

from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs" / "extensions"))

import build_stamp  # noqa: E402

project = "Stiction"
copyright = "the Stiction authors, Apache-2.0"
extensions = [
    "cards",
    "citations",
    "cpp_reference",
    "folder_readmes",
    "mathml",
    "model_traits",
    "myst_nb",
    "option_table",
    "outline",
    "page_contents",
    "python_reference",
    "replays",
    "sphinx_design",
]
exclude_patterns = ["images/*.py"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
smartquotes_action = "D"  # dashes; quotes are code: 'lagged'

# The notebooks of the tutorial. A notebook keeps its results if neither it nor Stiction has changed.
nb_execution_mode = "cache"
nb_execution_cache_path = str(build_stamp.find_notebook_cache(ROOT))
nb_execution_raise_on_error = True
nb_execution_timeout = 60
nb_output_stderr = "warn"  # warnings of a notebook fail the build; it handles those that it expects
KernelManager.transport_encryption.default_value = "auto"  # of the kernels that run them
logging.getLogger("traitlets").setLevel(logging.WARNING)

autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "special-members": "__getitem__, __iter__, __len__",
}
autodoc_typehints_format = "short"
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
autodoc_type_aliases = {name: name for name in ("ArrayLike", "PropertiesLike")}

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "Stiction"
html_favicon = "static/icon.svg"
html_static_path = ["static"]
html_extra_path = ["../build/site_files"]  # the replays, which tools/make_replays.py writes
html_css_files = ["layout.css", "math.css", "replays.css"]
html_js_files = ["replays.js"]
html_search_scorer = str(ROOT / "docs" / "static" / "search_order.js")
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
toc_object_entries_show_parents = "hide"
