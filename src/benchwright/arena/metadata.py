"""What is known of one benchmarked method, in ``tabarena``'s own fields."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, cast

from benchwright.arena import metadata_yaml
from benchwright.arena.metadata_rules import config_type, describe, is_private, settle
from benchwright.contract import Exit, Failure, Problem, did_you_mean
from benchwright.files import inside

MethodType = Literal["config", "baseline", "portfolio"]
METADATA_NAME = "metadata.yaml"
_RUNTIME_FIELDS = ("artifact_dir", "cache_root")
_PROTOCOL_FIELD = "validation_protocol"
_DERIVED = cast(Any, None)
"""The default of a field that is never None once built: leave it out and it follows from the others."""


def default_cache_root() -> Path:
    """Where ``tabarena`` keeps artifacts: ``TABARENA_CACHE``, or else ``~/.cache/tabarena``."""
    given = os.environ.get("TABARENA_CACHE")
    return Path(given) if given else Path.home() / ".cache" / "tabarena"


@dataclass(frozen=True, kw_only=True)
class MethodMetadata:
    """Identity, type, storage and provenance of one benchmarked method.

    Fields, defaults and rules are those of ``tabarena`` 0.1.0, in its declaration order, and ``validation_protocol``.
    (method, suite) is the key. ``can_hpo`` says that more than one config was run. ``config_default`` is the name that
    the default config has after processing. ``artifact_dir`` (the method's own folder) and ``cache_root`` (a cache to
    look in) belong to the running process: they are neither stored nor compared.

    Raises:
        Failure: a rule is broken (exit 2), with a problem for each.
    """

    method: str
    suite: str = _DERIVED
    artifact_dir: Path | None = field(default=None, compare=False)
    cache_root: Path | None = field(default=None, compare=False)
    method_type: MethodType = "config"
    ag_key: str | None = None
    model_key: str | None = None
    config_default: str | None = None
    can_hpo: bool = _DERIVED
    compute: Literal["cpu", "gpu"] = "cpu"
    is_bag: bool = False
    has_raw: bool = True
    has_processed: bool = True
    has_results: bool = True
    name: str | None = None
    name_suffix: str | None = None
    method_class: Literal["model", "system"] = "model"
    tags: tuple[str, ...] = ()
    cache_type: Literal["local", "r2", "s3"] = _DERIVED
    cache_kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    date: str | None = None
    date_introduced: str | None = None
    reference_url: str | None = None
    display_name: str = _DERIVED
    verified: bool = True
    validation_protocol: str | None = None

    def __post_init__(self) -> None:
        values = {name: getattr(self, name) for name in _NAMES}
        for name, value in settle(values, _where(values)).items():
            object.__setattr__(self, name, value)

    @classmethod
    def config(
        cls,
        *,
        method: str,
        ag_key: str | None = None,
        model_key: str | None = None,
        config_default: str | None = None,
        name_suffix: str | None = None,
        can_hpo: bool | None = None,
        is_bag: bool = False,
        **shared: Any,
    ) -> MethodMetadata:
        """A model with one or more configs; ``shared`` are the fields of every type. Raises like ``from_dict``."""
        own = {
            "method": method,
            "method_type": "config",
            "ag_key": ag_key,
            "model_key": model_key,
            "config_default": config_default,
            "name_suffix": name_suffix,
            "can_hpo": can_hpo,
            "is_bag": is_bag,
        }
        return cls._constructed("config", own, shared)

    @classmethod
    def baseline(cls, *, method: str, name: str | None = None, **shared: Any) -> MethodMetadata:
        """A method without configs, such as a preset of an AutoML framework. Raises like ``from_dict``."""
        return cls._constructed("baseline", {"method": method, "method_type": "baseline", "name": name}, shared)

    @classmethod
    def system(
        cls,
        *,
        method: str,
        name: str | None = None,
        tags: tuple[str, ...] = (),
        validation_protocol: str | None = "system",
        **shared: Any,
    ) -> MethodMetadata:
        """A whole pipeline (an AutoML framework, an agent, a hosted API): a baseline of class ``system``.

        Raises like ``from_dict``.
        """
        own = {
            "method": method,
            "method_type": "baseline",
            "method_class": "system",
            "name": name,
            "tags": tags,
            "validation_protocol": validation_protocol,
        }
        return cls._constructed("system", own, shared)

    @classmethod
    def portfolio(cls, *, method: str, name: str | None = None, has_raw: bool = False, **shared: Any) -> MethodMetadata:
        """A fixed selection or ensemble over configs, as a rule without raw results. Raises like ``from_dict``."""
        own = {"method": method, "method_type": "portfolio", "name": name, "has_raw": has_raw}
        return cls._constructed("portfolio", own, shared)

    @classmethod
    def _constructed(cls, constructor: str, own: dict[str, Any], shared: dict[str, Any]) -> MethodMetadata:
        fixed = [
            Problem(
                "metadata-conflict",
                f"{_where(own)}: {name}",
                f"given to MethodMetadata.{constructor}(...), which sets it",
                "",
                f"drop {name}, or use MethodMetadata(...)",
            )
            for name in sorted(own.keys() & shared.keys())
        ]
        return cls._checked({**shared, **own}, _where(own), problems=fixed)

    @classmethod
    def from_dict(cls, values: Mapping[Any, Any], *, where: str | None = None) -> MethodMetadata:
        """The method of a mapping of field names to values; ``where`` names the source in problems.

        Raises:
            Failure: a name is not a field's (with close names), or a rule is broken (exit 2); a problem for each.
        """
        return cls._checked(values, _where(values) if where is None else where)

    @classmethod
    def from_yaml(cls, source: Path | str | bytes) -> MethodMetadata:
        """The method of a ``metadata.yaml``: its path, the folder that holds it, or the YAML text itself.

        A ``str`` with a line break is text, any other one a path. Read from a path, the method's ``artifact_dir`` is
        the file's folder. Keys of older versions are understood (see ``metadata_yaml.modernised``).

        Raises:
            Failure: the file cannot be read, is not a plain YAML mapping, or as for ``from_dict`` (exit 2).
        """
        if isinstance(source, bytes) or (isinstance(source, str) and "\n" in source):
            return cls._stored(metadata_yaml.parse(source, METADATA_NAME), METADATA_NAME)
        path = Path(source)
        if path.is_dir() or (path.suffix != ".yaml" and not path.is_file()):
            path = path / METADATA_NAME
        return cls._stored(metadata_yaml.read(path), str(path), artifact_dir=path.parent)

    @classmethod
    def from_cache(cls, method: str, suite: str, cache_root: Path | str | None = None) -> MethodMetadata:
        """The method that a ``tabarena`` cache holds; ``cache_root`` defaults to ``default_cache_root()``.

        Raises:
            Failure: it is not there, or as for ``from_yaml`` (exit 2).
        """
        path = _folder(cache_root, suite, method) / METADATA_NAME
        return cls._stored(metadata_yaml.read(path), str(path), cache_root=cache_root)

    @classmethod
    def from_object(cls, other: Any) -> MethodMetadata:
        """The method that another library's object describes: ``tabarena``'s, or one of ours as it is.

        Nothing is imported: the object's attributes are read by the names of the fields.

        Raises:
            Failure: it is no method metadata, sets a field that is not known here, or as for ``from_dict`` (exit 2).
        """
        if isinstance(other, MethodMetadata):
            return other
        if not (hasattr(other, "method") and hasattr(other, "method_type")):
            expected, fix = "an object with a method's fields", "name a declaration that makes one"
            raise Failure(Problem("metadata-type", "MethodMetadata", describe(other), expected, fix), exit=Exit.USAGE)
        known = {name: getattr(other, name) for name in _NAMES if hasattr(other, name)}
        return cls.from_dict({**known, **_unknown_facts(other)})

    @classmethod
    def _stored(cls, values: Mapping[Any, Any], where: str, **runtime: Path | str | None) -> MethodMetadata:
        """The method of a stored mapping, with the fields that belong to this process."""
        return cls._checked(metadata_yaml.modernised(values), where, known=_STORED_NAMES, runtime=runtime)

    @classmethod
    def _checked(
        cls,
        values: Mapping[Any, Any],
        where: str,
        *,
        known: Sequence[str] = (),
        runtime: Mapping[str, Any] | None = None,
        problems: Sequence[Problem] = (),
    ) -> MethodMetadata:
        """The method of ``values``, of which all must be ``known`` fields, and ``runtime``; refuses all at once."""
        known = known or _NAMES
        found = [*problems, *(_unknown_field(key, where) for key in values if key not in known)]
        fields_given = {key: value for key, value in values.items() if key in known}
        try:
            settled = settle({**_DEFAULTS, **fields_given, **(runtime or {})}, where)
        except Failure as failure:
            raise Failure([*found, *failure.problems], exit=Exit.USAGE) from None
        if found:
            raise Failure(found, exit=Exit.USAGE)
        return cls(**settled)

    @property
    def key(self) -> tuple[str, str]:
        """What identifies the method: its name and suite."""
        return self.method, self.suite

    @property
    def config_type(self) -> str | None:
        """The family key in a config method's result rows: model key and name suffix; None for other types."""
        return config_type({name: getattr(self, name) for name in ("method_type", "model_key", "name_suffix")})

    @property
    def is_system(self) -> bool:
        """Whether a whole system was benchmarked, not a single model."""
        return self.method_class == "system"

    @property
    def path(self) -> Path:
        """The folder of the method's artifacts.

        Raises:
            Failure: the folder would leave the cache, by a link in it.
        """
        return self.artifact_dir or _folder(self.cache_root, self.suite, self.method)

    def to_dict(self, *, with_protocol: bool = True) -> dict[str, Any]:
        """The stored fields in declaration order, as plain values that JSON and YAML hold."""
        values = {name: getattr(self, name) for name in _STORED_NAMES}
        if not with_protocol:
            del values[_PROTOCOL_FIELD]
        return values | {"tags": list(self.tags), "cache_kwargs": dict(self.cache_kwargs)}

    def to_yaml(self, *, with_protocol: bool = False) -> str:
        """``metadata.yaml`` as ``tabarena`` 0.1.0 writes and reads it: its own fields, keys sorted.

        That version refuses a field it does not know, so ``validation_protocol`` is left to a sidecar file unless
        ``with_protocol`` is set.
        """
        return metadata_yaml.dump(self.to_dict(with_protocol=with_protocol))


_NAMES = tuple(entry.name for entry in fields(MethodMetadata))
_STORED_NAMES = tuple(name for name in _NAMES if name not in _RUNTIME_FIELDS)
_DEFAULTS: Mapping[str, Any] = {entry.name: entry.default for entry in fields(MethodMetadata)} | {
    # No default, and a default that is made anew: a missing method is refused like an empty one.
    "method": None,
    "cache_kwargs": {},
}


def _where(values: Mapping[Any, Any]) -> str:
    method = values.get("method")
    shown = isinstance(method, str) and not is_private(method)
    return f"MethodMetadata {describe(method)}" if shown else "MethodMetadata"


def _unknown_field(key: Any, where: str) -> Problem:
    code = "metadata-unknown-field"
    if key in _RUNTIME_FIELDS:
        return Problem(code, f"{where}: {key}", "a path of one machine", "facts that hold everywhere", "drop the line")
    if not isinstance(key, str):
        return Problem(code, where, f"{describe(key)} as a key", "the names of fields", "correct it there")
    if is_private(key):
        return Problem(code, where, "a name that must not be published", "the names of fields", "take it out")
    shown = key if key.isprintable() and len(key) < 60 else describe(key)
    return Problem(code, f"{where}: {shown}", "not a field of a method", "", did_you_mean(key, _STORED_NAMES))


def _unknown_facts(other: Any) -> dict[str, Any]:
    """The fields of a foreign dataclass that are unknown here and not at their default.

    They are handed on to be refused by name: dropping them would lose a fact that a newer version records.
    """
    declared = fields(other) if is_dataclass(other) else ()
    facts = {}
    for entry in declared:
        default = entry.default if entry.default_factory is MISSING else entry.default_factory()
        value = getattr(other, entry.name, None)
        if entry.name not in _NAMES and value is not None and value != default:
            facts[entry.name] = value
    return facts


def _folder(cache_root: Path | str | None, suite: str, method: str) -> Path:
    root = default_cache_root() if cache_root is None else Path(cache_root)
    suites = root / "artifacts"
    return inside(inside(suites, suite) / "methods", method)
