"""The claims ledger: each verdict is computed from a measurement, and kept with its scope in the learner's folder."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from typing import Any

from course_lib.claim_table import CLAIMS, KINDS, Claim
from course_lib.errors import BadInput, NotFound
from course_lib.home import home, locked, read_json, write_json
from course_lib.plan import PLAN
from course_lib.record import Record, machine_description
from course_lib.ruling import WORDS, Ruling, Threshold, Word, combined, rule

__all__ = ["CLAIMS", "Claim", "Finding", "Standing", "claim", "find_claim", "ledger", "standing"]

# Runs of one claim in one notebook that are kept; the last one counts.
KEPT_RUNS = 20


@dataclass(frozen=True)
class Finding:
    """One verdict on a claim, with the measurement that it rests on and the scope in which it is true.

    `course_records` names the tracks whose numbers came from the course's own records and not from the learner's.
    """

    claim: str
    verdict: Word
    measured: str
    threshold: str
    scope: str
    lesson: str
    track: str
    machine: str
    versions: dict[str, str]
    created: str
    course_records: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The notebook that found it, keyed as progress is: `03_modules@jax`."""
        return f"{self.lesson}@{self.track}"

    @property
    def full_scope(self) -> str:
        """What was run, where, on which machine, with which versions."""
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        own = f"; from the course's own records: {', '.join(self.course_records)}" if self.course_records else ""
        return f"{self.scope}; {self.lesson}, {self.track}; {self.machine}; {versions}{own}"

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    def _ipython_display_(self) -> None:
        """Show nothing: `claim` has printed the line already."""

    def __str__(self) -> str:
        limit = f" (holds if {self.threshold})" if self.threshold else ""
        text = find_claim(self.claim).text
        return f"{self.claim} “{text}”: {self.verdict}. Measured: {self.measured}{limit}. Scope: {self.full_scope}."


@dataclass(frozen=True)
class Standing:
    """Where a claim stands for this learner: the last finding of each notebook, and how many runs there were."""

    claim: Claim
    findings: tuple[Finding, ...]
    n_runs: int

    @property
    def verdict(self) -> Word | None:
        """One word over all notebooks, or None when none has tested it."""
        return combined(finding.verdict for finding in self.findings) if self.findings else None

    @property
    def state(self) -> str:
        """The verdict, or why there is none yet."""
        if self.verdict is not None:
            return self.verdict
        if self.claim.kind == "O":
            return "an opinion: no measurement decides it"
        if self.claim.kind == "N":
            return f"not testable here: {self.claim.beyond}"
        return f"not tested yet: {_lessons(self.claim)}"

    def to_dict(self) -> dict[str, Any]:
        """As a JSON object."""
        threshold = str(self.claim.threshold) if self.claim.threshold else ""
        return {**asdict(self.claim), "kind_in_words": KINDS[self.claim.kind], "threshold": threshold,
                "verdict": self.verdict, "state": self.state, "n_runs": self.n_runs,
                "findings": [finding.to_dict() for finding in self.findings]}  # fmt: skip


def find_claim(claim_id: str) -> Claim:
    """The claim of this id, such as "A15". Raises NotFound, naming the nearest."""
    known = {each.id: each for each in CLAIMS}
    if claim_id.upper() not in known:
        near = difflib.get_close_matches(claim_id.upper(), known, n=1, cutoff=0.3)
        raise NotFound(
            f"There is no claim {claim_id!r}; the ledger has {CLAIMS[0].id} to {CLAIMS[-1].id}.",
            action=f"Did you mean {near[0]!r}?" if near else "See them with: course claims",
        )
    return known[claim_id.upper()]


def claim(
    claim_id: str, *, scope: str, measured: Any, at_most: float | None = None, at_least: float | None = None,
    interval: tuple[float, float] | None = None, unit: str = "", verdict: Word | None = None,
    records: Mapping[str, Record] | None = None,
) -> Finding:  # fmt: skip
    """End a claim: compute the verdict, show it in one line with its scope, and keep both in the ledger.

    `measured` is yes or no (True: the claim holds), a number, three or more repeats of it, or a dict from conditions,
    such as "a small step", to any of these; `course_lib.ruling.rule` says how each is judged. Numbers are judged by
    `at_most` or `at_least`, or by the ledger's own threshold, which is older than the run. Only where no number
    decides, `measured` is a sentence and `verdict` is given. `scope` says what was run, with sizes; machine, versions
    and notebook are added. A notebook that compares passes the `records` that it read: machine and versions are then
    theirs.

    Raises NotFound for an unknown claim or outside a notebook, BadInput when numbers, threshold and verdict do not fit.
    """
    from course_lib.session import current

    session, found = current(), find_claim(claim_id)
    if not scope.strip():
        raise BadInput("`scope` should say what was run, with its sizes; it is empty.", action="Name the model.")
    threshold = _threshold(found, at_most, at_least, unit)
    ruling = _ruling(measured, verdict, threshold, interval)
    finding = Finding(
        claim=found.id,
        verdict=ruling.verdict,
        measured=ruling.measured,
        threshold=str(threshold) if ruling.by_number else "",
        scope=scope.strip().rstrip("."),
        lesson=session.lesson.name,
        track=session.track,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        **_origin(records, session.versions),
    )
    _keep(finding)
    print(finding)
    return finding


def ledger() -> list[Standing]:
    """Every claim of the table, in its order, with this learner's findings."""
    kept = _kept()
    return [_standing(each, kept) for each in CLAIMS]


def standing(claim_id: str) -> Standing:
    """Where one claim stands for this learner. Raises NotFound, naming the nearest."""
    return _standing(find_claim(claim_id), _kept())


def _threshold(found: Claim, at_most: float | None, at_least: float | None, unit: str) -> Threshold | None:
    if at_most is None and at_least is None:
        return found.threshold
    if at_most is not None and at_least is not None:
        raise BadInput("One of `at_most` and `at_least` decides; received both.", action="Leave one out.")
    given = Threshold(at_most, at_least, unit)
    before = found.threshold
    if before is not None and (before.at_most, before.at_least) != (at_most, at_least):
        raise BadInput(
            f"The threshold of {found.id} was written before your run: {before}. Received: {given}.",
            action="Leave at_most and at_least out.",
        )
    return before or given


def _ruling(
    measured: Any, verdict: Word | None, threshold: Threshold | None, interval: tuple[float, float] | None
) -> Ruling:
    if verdict is None:
        return rule(measured, threshold, interval)
    if verdict not in WORDS:
        raise BadInput(f"`verdict` should be one of {', '.join(WORDS)}; received {verdict!r}.", action="Take one.")
    if not isinstance(measured, str) or not measured.strip():
        raise BadInput(
            f"With a `verdict`, `measured` should be a sentence; received {measured!r}. Numbers decide by themselves.",
            action="Leave `verdict` out, or say in words what was seen.",
        )
    return Ruling(verdict, measured.strip().rstrip("."))


def _origin(records: Mapping[str, Record] | None, versions: Mapping[str, str]) -> dict[str, Any]:
    """Machine, versions and source: of the records that were read, else of this notebook."""
    if records is None:
        return {"machine": machine_description(), "versions": dict(versions)}
    if not records:
        raise BadInput("`records` should hold at least one record; it is empty.", action="Load the records first.")
    merged = {name: version for record in records.values() for name, version in record.versions.items()}
    machines = sorted({record.machine for record in records.values()})
    course = tuple(track for track, record in records.items() if record.origin == "reference")
    return {"machine": " and ".join(machines), "versions": merged, "course_records": course}


def _keep(finding: Finding) -> None:
    path = home() / "claims.json"
    with locked(path):
        kept: dict[str, dict[str, list[dict[str, Any]]]] = read_json(path, {})
        runs = kept.setdefault(finding.claim, {}).setdefault(finding.place, [])
        runs.append(finding.to_dict())
        del runs[:-KEPT_RUNS]
        write_json(path, kept)


def _kept() -> dict[str, dict[str, list[dict[str, Any]]]]:
    found: dict[str, dict[str, list[dict[str, Any]]]] = read_json(home() / "claims.json", {})
    return found


def _standing(found: Claim, kept: Mapping[str, Mapping[str, list[dict[str, Any]]]]) -> Standing:
    places = kept.get(found.id, {})
    known = {field.name for field in fields(Finding)}
    last = [runs[-1] for _, runs in sorted(places.items()) if runs]
    findings = tuple(
        Finding(**{**values, "course_records": tuple(values.get("course_records", ()))})
        for values in last
        if set(values) == known
    )
    return Standing(found, findings, sum(map(len, places.values())))


def _lessons(found: Claim) -> str:
    from course_lib.lessons import lessons

    written = {each.name for each in lessons()}
    names = [each.name for number in found.lessons for each in PLAN if each.name.startswith(f"{number}_")]
    words = [name if name in written else f"{name} (to come)" for name in names]
    return f"lesson{'' if len(words) == 1 else 's'} {', '.join(words)}"
