"""Sphinx extension: formulas as MathML, which browsers draw without a script or a network.

A formula with a command that the converter does not know gives a warning with page and line.
"""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

_log = logging.getLogger(__name__)

# The converter leaves the spacing of some operators to the browser. These rules set the spacing of TeX.
_SPACING = (
    # Bars are delimiters: they have no space and a fixed size.
    (
        re.compile(r'<mo(?: stretchy="false")?>(&#x0007C;|&#x02016;)</mo>'),
        r'<mo stretchy="false" lspace="0em" rspace="0em">\1</mo>',
    ),
    # A minus after one of = ( , [ is a sign.
    (
        re.compile(r"(&#x0003D;|&#x00028;|&#x0002C;|&#x0005B;)</mo><mo>(&#x02212;)"),
        r'\1</mo><mo form="prefix">\2',
    ),
    # Names of functions have a thin space beside them.
    (
        re.compile(r"<m[io]>(arctan|arg|cos|ln|max|min|sin|tan)</m[io]>"),
        r'<mo form="prefix" lspace="0.167em" rspace="0.167em">\1</mo>',
    ),
    # Perpendicular is a relation.
    (re.compile(r"<mi>&#x027C2;</mi>"), r"<mo>&#x022A5;</mo>"),
)


def _convert(node: nodes.math | nodes.math_block, display: str) -> str:
    formula = node.astext()
    try:
        mathml = convert(formula.replace(r"\arg", r"\operatorname{arg}"), display=display)
    except Exception as error:  # noqa: BLE001, the converter raises many types
        _log.warning("formula %r: %r", formula, error, location=node)
        return ""
    if "\\" in mathml:
        _log.warning("formula %r: a command is not known", formula, location=node)
    for pattern, replacement in _SPACING:
        mathml = pattern.sub(replacement, mathml)
    return mathml


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    translator.body.append(_convert(node, "inline"))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    translator.body.append(_convert(node, "block") + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
