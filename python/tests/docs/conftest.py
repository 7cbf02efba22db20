"""Modules of docs/extensions and tools, which are no package."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "docs" / "extensions"), str(ROOT / "tools")]
