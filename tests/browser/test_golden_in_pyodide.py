"""Every golden case in Pyodide, whose Python is newer than those that most machines have."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from toolglot import golden

SOURCE = Path(golden.__file__).parents[1]


def test_golden_cases(pyodide: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node")
    script = Path(__file__).with_name("golden.mjs")
    command = [node, str(script), str(pyodide), str(SOURCE), str(golden.FOLDER)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=550)
    said = json.loads(result.stdout)
    print(f"\n{said}")
    assert said["platform"] == "emscripten"
    assert said["cases"] == len(golden.load()) > 0
    assert said["wrong"] == []
