"""The declaration that the results suggest, ready to paste, with the fields that only a person knows left open."""

from __future__ import annotations

import json
import re
from typing import Any

from benchwright.raw.inference import Inferred
from benchwright.raw.methods import RUNNER_PREFIX

_MANUAL = (
    ('display_name="..."', ""),
    ('reference_url="https://..."', ""),
    ('date="{day}"', "the day of the run"),
    ("verified=False", ""),
    ('cache_type="r2"', "or s3, or local, which has no bucket"),
    ('cache_kwargs={{"bucket": "...", "prefix": "..."}}', ""),
)


def snippet(inferred: Inferred) -> str | None:
    """Python source that declares the method; None where the results are of two types, or of several baselines.

    Fields that are required and not inferable are comments, so that a pasted snippet that nobody completed fails its
    checks: without ``suite``, the method would be its own.
    """
    if inferred.method_type is None or inferred.several_of_a_system:
        return None
    method = inferred.method.removeprefix(RUNNER_PREFIX)
    lines = [
        f"{variable(method, inferred.last_day)} = MethodMetadata.{inferred.method_type}(",
        *(f"    {line}" for line in (*_fields(inferred, method), *_manual(inferred))),
        ")",
    ]
    return "\n".join(lines)


def variable(method: str, day: str | None) -> str:
    """The name that a run of a method is declared under, beside those of its other runs.

    It is ``tabpfn_3_2026_06_30_method_metadata`` for ``TabPFN-3``, and has no date where the day is not known.
    """
    slug = re.sub(r"[^a-z0-9_]", "", method.lower().replace("-", "_")) or "method"
    date = "" if day is None else f"_{day.replace('-', '_')}"
    return f"{'' if slug[0].isalpha() else '_'}{slug}{date}_method_metadata"


def _fields(inferred: Inferred, method: str) -> list[str]:
    lines = [
        f"method={_literal(method)},",
        '# suite="...",  # REQUIRED: the dated id of the run, other than the method',
    ]
    if inferred.compute is None:
        lines.append(f'# compute="...",  # REQUIRED, cpu or gpu; {inferred.compute_note}')
    else:
        lines.append(f"compute={_literal(inferred.compute)},")
    if inferred.method_type == "config":
        lines += _config_fields(inferred, method)
    key = inferred.protocols.key
    if key is not None and inferred.protocols.disputed:
        lines.append(f"# validation_protocol={_literal(key)},  # {inferred.protocols.source()}")
    elif key is not None and inferred.protocols.recorded:
        lines.append(f"validation_protocol={_literal(key)},")
    elif key is not None:
        lines.append(f"# validation_protocol={_literal(key)},  # shown by the results, which do not record it")
    return lines


def _config_fields(inferred: Inferred, method: str) -> list[str]:
    lines = [] if inferred.ag_key is None else [f"ag_key={_literal(inferred.ag_key)},"]
    if inferred.config_default is None:
        lines.append(f'# config_default="...",  # REQUIRED: {inferred.config_default_note}')
    else:
        default = f"{method}{inferred.config_default.removeprefix(inferred.method)}"
        lines.append(f"config_default={_literal(default)},")
    return [*lines, f"can_hpo={inferred.can_hpo},", f"is_bag={inferred.is_bag},"]


def _manual(inferred: Inferred) -> list[str]:
    lines = ["# Not in the results; fill in what applies:"]
    if inferred.method_type == "baseline":
        lines.append("# A whole pipeline, an agent or a hosted API? Then MethodMetadata.system(...), and set tags.")
    for field, note in _MANUAL:
        filled = field.format(day=inferred.last_day or "YYYY-MM-DD")
        lines.append(f"# {filled},{f'  # {note}' if note else ''}")
    return lines


def _literal(value: Any) -> str:
    """A text as ruff wants it: in double quotes."""
    return json.dumps(value, ensure_ascii=False)
