"""How late something came, and what that costs: only from a time that is known, never from a guess."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from course_lib.grade.class_settings import LessonSettings
from course_lib.grade.record import GradeRecord
from course_lib.grade.text import counted

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Lateness:
    """`days` are begun days after the deadline, `factor` what is left of the marks earned: 1 in time, 0 too late.

    `note` and `review` are one sentence each, or "".
    """

    days: int = 0
    factor: float = 1.0
    too_late: bool = False
    note: str = ""
    review: str = ""


def lateness(record: GradeRecord, settings: LessonSettings) -> Lateness:
    """How late a record's notebook was handed in, by the deadline of the class."""
    if settings.deadline is None:
        return Lateness(note=f"{record.file} is marked late; the class has no deadline for it." if record.late else "")
    handed_in = submitted(record)
    if handed_in is None:
        if record.late:
            return Lateness(review=f"{record.file} is marked late, but not by how much: no penalty has been taken.")
        unknown = record.late is None
        return Lateness(note=f"When {record.file} was handed in is not known: taken as in time." if unknown else "")
    days = max(0, -((settings.deadline - handed_in) // DAY))
    if days == 0:
        return Lateness(note=f"{record.file} is marked late, but came before the deadline." if record.late else "")
    if settings.late_days is not None and days > settings.late_days:
        after = f"after {counted(settings.late_days, 'day')} nothing counts"
        return Lateness(days, 0.0, True, f"{record.file} came in day {days} after the deadline; {after}.")
    percent = min(100.0, days * settings.late_percent_per_day)
    note = f"{record.file} came in day {days} after the deadline: {percent:g} % of its marks are taken off."
    return Lateness(days, (100.0 - percent) / 100.0, False, note)


def submitted(record: GradeRecord) -> datetime | None:
    """When it was handed in, None where that is not known to the hour: no time, an unreadable one, or no offset."""
    try:
        moment = datetime.fromisoformat(record.submitted_at or "")
    except ValueError:
        return None
    return moment if moment.tzinfo else None
