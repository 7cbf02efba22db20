"""Sphinx configuration: `./dev docs` builds these pages, warnings being errors."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

project = "Stiction"
copyright = "the Stiction authors, Apache-2.0"
extensions = ["myst_parser", "citations", "mathml", "option_table"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
bibtex_bibfiles = ["references.bib"]
html_math_renderer = "mathml"
html_theme = "alabaster"
html_theme_options = {
    "description": "Contact simulation that a roboticist can trust",
    "page_width": "1080px",  # leaves 800px for formulas
}
html_static_path = ["static"]
html_css_files = ["math.css"]
exclude_patterns = ["images/*.py"]
