"""The mean reward of some trials: which of them it is over differs between Harbor's versions, and between readers."""

from __future__ import annotations

import math
from dataclasses import dataclass

TOLERANCE = 5e-4
"""How far a stored score may be from a mean and still be it: some stores keep three digits."""
_EXACT = 1e-9
"""The same for a mean that Harbor alone makes: it stores every digit, and some trials more may differ by less."""
_OF_HARBOR = frozenset({"completed", "completed_with_surplus", "valid_with_surplus"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewards:
    """Trials by how they ended, and what their rewards add up to; surplus ones are counted apart.

    ``surplus_valid`` and ``surplus_unscored`` are those with a readable result beyond the plan, which Harbor counts;
    copies of a trial are none of these.
    """

    valid: int
    unscored: int
    corrupt: int
    planned: int | None
    total: float
    surplus_valid: int = 0
    surplus_unscored: int = 0
    surplus_total: float = 0.0

    def means(self) -> dict[str, float | None]:
        """The mean reward in each reading, None where there is nothing to divide by, or where it would be another's.

        ``attempted``, ``valid`` and ``planned`` say which trials it is over. Harbor divides by all that ended with a
        result that it could read: ``completed`` is over those, where a result is damaged, and ``..._with_surplus`` are
        over the ones beyond the plan as well, where there are such.
        """
        completed = self.valid + self.unscored
        surplus = self.surplus_valid + self.surplus_unscored
        return {
            "attempted": self._over(completed + self.corrupt),
            "valid": self._over(self.valid),
            "planned": self._over(self.planned),
            "completed": self._over(completed) if self.corrupt else None,
            "completed_with_surplus": self._with_surplus(completed + surplus) if surplus else None,
            "valid_with_surplus": self._with_surplus(self.valid + self.surplus_valid) if surplus else None,
        }

    def readings_of(self, score: float | None) -> list[str]:
        """The names of the means that a score is."""
        return [name for name, mean in self.means().items() if _same(score, mean, exactly=name in _OF_HARBOR)]

    def _over(self, trials: int | None) -> float | None:
        return self.total / trials if trials else None

    def _with_surplus(self, trials: int) -> float | None:
        """Each sum may be as large as a float can be, so that both together are none."""
        return self.total / trials + self.surplus_total / trials if trials else None


def _same(score: float | None, mean: float | None, *, exactly: bool) -> bool:
    """Whether a score is a mean, stored with some digits less unless it has to be so exactly."""
    if score is None or mean is None:
        return False
    return math.isclose(score, mean, rel_tol=_EXACT, abs_tol=_EXACT) if exactly else abs(score - mean) <= TOLERANCE
