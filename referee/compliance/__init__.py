"""The compliance kit: drives one bot through the protocol and its rarer turns, and says what to mend first."""

from referee.compliance.drills import check_bot
from referee.compliance.report import Report, Row

__all__ = ["Report", "Row", "check_bot"]
