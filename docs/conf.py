"""Sphinx configuration: `./dev docs` builds these pages, warnings being errors."""

project = "Stiction"
copyright = "the Stiction authors, Apache-2.0"
extensions = ["myst_parser", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
html_theme = "alabaster"
html_theme_options = {"description": "Contact simulation that a roboticist can trust"}
html_static_path: list[str] = []
exclude_patterns = ["images/*.py"]
