"""The mean reward of some trials: which of them it is over differs between Harbor's versions, and between readers."""

from __future__ import annotations

from dataclasses import dataclass

TOLERANCE = 5e-4
"""How far a stored score may be from a mean and still be it: some stores keep three digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewards:
    """Trials by how they ended, and what their rewards add up to; surplus ones are counted apart.

    ``surplus_valid`` and ``surplus_unscored`` are those with a readable result beyond the plan, which Harbor counts.
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

    def _over(self, trials: int | None) -> float | None:
        return self.total / trials if trials else None

    def _with_surplus(self, trials: int) -> float | None:
        """Each sum may be as large as a float can be, so that both together are none."""
        return self.total / trials + self.surplus_total / trials if trials else None


def same_score(one: float | None, other: float | None) -> bool:
    """Whether two scores are the same one, stored with some digits less."""
    return one is not None and other is not None and abs(one - other) <= TOLERANCE
