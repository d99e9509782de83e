"""Agents that are installed in the sandbox, from where a tunnel alone leads to a model that is served here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchwright.harbor.resume_checks import addresses, agents_of

TUNNEL_URL, TUNNEL_TOKEN = "EVAL_PINGGY_URL", "EVAL_PINGGY_TOKEN"
"""The variables that launch scripts start the tunnel from."""
_BESIDE_HARBOR = frozenset({"oracle", "nop", "terminus", "terminus-1", "terminus-2", "computer-1", "dspy-rlm"})
"""Agents that run in Harbor's own process (``harbor.agents.factory`` of 0.25.0); the others are installed."""
_SERVED = "hosted_vllm/"
_ALL = ("OPENAI_API_BASE", "OPENAI_BASE_URL")
_OWN = {"openhands": ("LLM_BASE_URL",), "mini-swe-agent": ("HOSTED_VLLM_API_BASE",)}


def tunnelled(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The agents of a job's configuration that call a served model from within the sandbox."""
    served = bool(addresses(settings))
    return tuple(
        dict.fromkeys(
            agent["name"]
            for agent in agents_of(settings)
            if isinstance(agent.get("name"), str)
            and agent["name"] not in _BESIDE_HARBOR
            and (served or str(agent.get("model_name") or "").startswith(_SERVED))
        )
    )


def address_variables(agents: tuple[str, ...]) -> tuple[str, ...]:
    """The variables by which such agents are told the address, in place of the local one in the configuration."""
    return (*_ALL, *(name for agent in agents for name in _OWN.get(agent, ())))
