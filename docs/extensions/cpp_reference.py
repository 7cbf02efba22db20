"""Sphinx extension: the reference of the C++ libraries, from the comments of their public headers.

    ```{public-headers} contact
    ```

documents the public headers of src/stiction/contact. Headers that cmake/StictionInstall.cmake names, and
that callers include, come first. The headers that these include follow. Declarations keep their order.
"""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

from declarations import Declaration, Header, read_headers
from docutils import nodes
from plain_text import convert_comment
from public_headers import INSTALL_LIST, SOURCES, list_public_headers, run_doxygen
from sphinx.application import Sphinx
from sphinx.domains.cpp import DefinitionError, DefinitionParser
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

_EXTENSIONS = Path(__file__).parent


class PublicHeaders(SphinxDirective):
    required_arguments = 1  # a folder of src/stiction

    def run(self) -> list[nodes.Node]:
        for path in (INSTALL_LIST, *_EXTENSIONS.glob("*.py")):
            self.env.note_dependency(path)
        prefix = f"stiction/{self.arguments[0]}/"
        names = [name for name in list_public_headers() if name.startswith(prefix)]
        if not names:
            raise self.error(f"no public header is in src/{prefix}")
        return [self._make_section(name) for name in names]

    def _make_section(self, name: str) -> nodes.section:
        self.env.note_dependency(SOURCES / name)
        title = Path(name).name
        section = nodes.section(ids=[nodes.make_id(title)], names=[title])
        section += nodes.title("", "", nodes.literal("", title))
        header = self.env.app.cpp_headers.get(name, Header())
        section += self.parse_text_to_nodes(f"```{{eval-rst}}\n{self._format_header(header)}\n```")
        return section

    def _format_header(self, header: Header) -> str:
        # A header that only includes others has no namespace.
        namespace = f".. cpp:namespace:: {header.namespace}" if header.namespace else ""
        parts = [convert_comment(header.comment), namespace]
        return "\n\n".join([*parts, *map(self._format, header.declarations)])

    def _format(self, declaration: Declaration) -> str:
        body = [convert_comment(declaration.comment), *map(self._format, declaration.members)]
        content = textwrap.indent("\n\n".join(body), "   ")
        for signature in declaration.signatures:
            if self._can_parse(declaration.kind, signature):
                return f".. cpp:{declaration.kind}:: {signature}\n\n{content}"
        return f"``{declaration.signatures[-1]}``\n\n{content}"

    def _can_parse(self, kind: str, signature: str) -> bool:
        """Returns True if Sphinx can parse the signature.

        Sphinx cannot parse designated initializers, for example, and its warning would fail the build.
        """
        parser = DefinitionParser(signature, location=None, config=self.config)
        object_type = {"struct": "class", "enum-class": "enum"}.get(kind, kind)
        try:
            parser.parse_declaration(object_type, kind)
            parser.assert_end()
        except DefinitionError:
            return False
        return True


def _read_headers(app: Sphinx) -> None:
    folder = app.outdir.resolve().parent / "doxygen"
    headers = {name: (SOURCES / name).read_text() for name in list_public_headers()}
    try:
        xml = run_doxygen(headers, folder)
    except FileNotFoundError as e:
        raise ExtensionError("doxygen is not installed; ./dev setup installs it") from e
    except subprocess.CalledProcessError as e:
        raise ExtensionError(f"doxygen cannot read the public headers below {folder}") from e
    app.cpp_headers = read_headers(xml)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", _read_headers)
    app.add_directive("public-headers", PublicHeaders)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
