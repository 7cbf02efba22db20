"""Makes the modules of docs/extensions and tools importable, which are not in a package."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "docs" / "extensions"), str(ROOT / "tools")]
