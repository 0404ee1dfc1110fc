"""Why a match ended. The words are those of records, where they are defined."""

from referee.record.reasons import OWN_FAULTS, EndReason, Status, status_of

__all__ = ["OWN_FAULTS", "EndReason", "Status", "status_of"]
