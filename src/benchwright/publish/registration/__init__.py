"""A method entered in an arena's collection, by an edit of the source that holds it; and that edit undone."""

from benchwright.publish.registration.arenas import ARENAS, Arena
from benchwright.publish.registration.plan import plan_registration
from benchwright.publish.registration.registered import registered_in
from benchwright.publish.registration.registration import Registration
from benchwright.publish.registration.rollback import plan_rollback

__all__ = ["ARENAS", "Arena", "Registration", "plan_registration", "plan_rollback", "registered_in"]
