"""Sphinx extension: a list of links becomes a grid of cards.

    :::{cards} 3
    - [Title](page.md): A sentence or more.
    - [Title](page.md#section): ![What one sees](images/picture.png) A sentence.
    :::

The argument is the number of columns on a wide page. The source is also a list on pages that do not know
this directive, such as those of a code host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_ITEM = re.compile(
    r"\[(?P<title>[^\]]+)\]\((?P<target>[^)]+)\): "
    r"(?:!\[(?P<alt>[^\]]*)\]\((?P<picture>[^)]+)\) )?(?P<text>.+)"
)


class Cards(SphinxDirective):
    required_arguments = 1  # columns on a wide page
    has_content = True

    def run(self) -> list[nodes.Node]:
        columns = int(self.arguments[0])
        grid = f"::::{{grid}} 1 2 {min(columns, 3)} {columns}\n:gutter: 3\n"
        return self.parse_text_to_nodes("\n".join([grid, *self._make_cards(), "::::"]))

    def _make_cards(self) -> Iterator[str]:
        text = " ".join(line.strip() for line in self.content)
        for item in re.split(r"(?:^|\s)- (?=\[)", text)[1:]:
            match = _ITEM.fullmatch(item.strip())
            if match is None:
                raise self.error(f"a card must be '- [title](page.md): text', not '- {item}'")
            # The title is the link, so that Sphinx checks it as any other.
            yield f":::{{grid-item-card}} [{match['title']}]({match['target']})"
            if match["picture"]:
                yield f":img-top: {match['picture']}\n:img-alt: {match['alt']}"
            yield f"\n{match['text']}\n:::"


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("cards", Cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
