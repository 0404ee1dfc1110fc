"""The compliance kit: drives one bot through the protocol and its rare cases, and says what to fix first."""

from referee.compliance.drills import check_bot
from referee.compliance.report import Report, Row

__all__ = ["Report", "Row", "check_bot"]
