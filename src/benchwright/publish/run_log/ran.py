"""Whether a run is one of the method that its entry is to name."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchwright.arena import MethodMetadata
from benchwright.arena.config_names import prefix_of
from benchwright.contract import Problem, some
from benchwright.publish.run_log.records import SetUp
from benchwright.publish.run_log.settings import Settings

_RUNNERS = "ta-"
_DEVICE = re.compile(r"[_-](gpu|cpu)\Z")


def other_method(
    reference: str, metadata: MethodMetadata, settings: Settings, set_ups: Sequence[SetUp]
) -> Problem | None:
    """What is wrong if the run is none of the method that ``reference`` declares.

    The models of the run's plan and the names that its configs begin with are compared with the method's name and
    keys, in any case of letters, without a ``TA-`` in front and a ``_GPU`` or ``_CPU`` at the end. A run whose plan
    does not spell its models out may be of any method.
    """
    configs = {prefix_of(name, {}) for one in set_ups for name in one.experiments}
    ran = [*dict.fromkeys([*(name for name, _ in settings.models), *sorted(configs)])]
    names = [metadata.method, metadata.ag_key, metadata.model_key, metadata.display_name]
    known = {_bare(name) for name in names if name}
    if not ran or any(_bare(name) in known for name in ran):
        return None
    fix = "name the declaration of the method that this script ran"
    return Problem("method-differs", f"--method-metadata {reference}", metadata.method, some(ran), fix)


def _bare(name: str) -> str:
    return _DEVICE.sub("", name.lower().removeprefix(_RUNNERS))
