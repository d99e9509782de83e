#!/usr/bin/env python3
"""The name by which command sheets know ``scripts/eval/resume_chunked.py``."""

import runpy
from pathlib import Path

runpy.run_path(str(Path(__file__).resolve().parents[1] / "scripts" / "eval" / "resume_chunked.py"), run_name="__main__")
