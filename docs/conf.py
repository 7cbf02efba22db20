"""Sphinx configuration: `./dev docs` builds these pages, warnings being errors."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "Stiction"
copyright = "the Stiction authors, Apache-2.0"
extensions = [
    "citations",
    "cpp_reference",
    "folder_readmes",
    "mathml",
    "myst_parser",
    "option_table",
    "outline",
    "python_reference",
]
exclude_patterns = ["images/*.py"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
smartquotes_action = "D"  # dashes; quotes are code: 'lagged'

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
html_theme = "alabaster"
html_theme_options = {
    "description": "Contact simulation that a roboticist can trust",
    "page_width": "1080px",  # leaves 800px for formulas
}
html_static_path = ["static"]
html_css_files = ["layout.css", "math.css"]
toc_object_entries_show_parents = "hide"
