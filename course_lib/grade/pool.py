"""Slots and their warm parent for one track: jobs go in, results come out, and whoever dies on the way is replaced."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from course_lib.errors import BadSource, CheckCrashed, CourseError

PARENT_SECONDS = 300.0
# A job that ends its slot twice is not tried a third time.
TRIES = 2

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "TF_NUM_INTRAOP_THREADS": "1",
    "TF_NUM_INTEROP_THREADS": "1",
}


@dataclass
class Job:
    """What a slot shall do. `read` gives the notebook's bytes when its turn has come; `what` is the caller's own."""

    message: dict[str, Any]
    read: Callable[[], bytes] = lambda: b""
    what: Any = None
    tries: int = 0


@dataclass
class _Slot:
    number: int
    process: subprocess.Popen[bytes]
    link: Connection
    job: Job | None = None
    data: bytes = b""


class Parent:
    """The warm parent of one track, as its slots' supervisors come from it."""

    def __init__(self, track: str, environ: Mapping[str, str], settings: Mapping[str, Any]) -> None:
        ours, theirs = socket.socketpair()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the parent
        self._control = ours
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "course_lib.grade.parent", track, str(theirs.fileno())],
                env=dict(environ),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                cwd=tempfile.gettempdir(),
            )
        self._track = track
        ours.sendall(json.dumps(settings).encode())
        ours.settimeout(PARENT_SECONDS)
        self.ready: dict[str, Any] = self._first_word()

    def _first_word(self) -> dict[str, Any]:
        try:
            text = self._control.recv(65536)
            word = json.loads(text)
            if "broken" in word:
                raise OSError(word["broken"])
            return dict(word["ready"])
        except (OSError, ValueError, KeyError) as error:
            self._process.kill()
            self._said.seek(0)
            last = self._said.read().decode("utf-8", errors="replace").strip().splitlines()[-6:]
            raise CheckCrashed(
                f"The process that imports {self._track} for the grader did not start: {' '.join(last) or error}",
                action=f"See whether it works at all: course doctor --track {self._track}",
            ) from error

    def supervise(self, slot: int) -> socket.socket:
        """The slot's end of a socket to a new supervisor."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [json.dumps({"slot": slot}).encode()], [theirs.fileno()])
        return ours

    def close(self) -> None:
        """End it; its supervisors end with their slots."""
        self._control.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.close()


class Pool:
    """`n_slots` slots, with supervisors when there is a parent."""

    def __init__(self, n_slots: int, settings: Mapping[str, Any], parent: Parent | None, job_seconds: float) -> None:
        self._settings, self._parent, self._job_seconds = settings, parent, job_seconds
        self._since: dict[int, float] = {}
        self.layers: list[list[Any]] = []
        # All of them import at the same time.
        self._slots = [self._start(number) for number in range(n_slots)]
        for slot in self._slots:
            self._greet(slot)

    def _start(self, number: int) -> _Slot:
        ours, theirs = socket.socketpair()
        handed = [theirs]
        if self._parent is not None:
            handed.append(self._parent.supervise(number))
        descriptors = [each.fileno() for each in handed]
        process = subprocess.Popen(
            [sys.executable, "-m", "course_lib.grade.slot", *map(str, descriptors)],
            env={**os.environ, **ONE_THREAD},
            pass_fds=descriptors,
            stdin=subprocess.DEVNULL,
        )
        for each in handed:
            each.close()
        link = Connection(ours.detach())
        link.send_bytes(json.dumps(self._settings).encode())
        return _Slot(number, process, link)

    def _greet(self, slot: _Slot) -> None:
        """Wait until a slot is ready. Raises BadSource and CheckCrashed when it will not be."""
        try:
            answer = json.loads(slot.link.recv_bytes())
        except EOFError:
            answer = {"broken": "it ended at its start"}
        if "ready" not in answer:
            for each in self._slots:
                each.process.kill()
                each.process.wait()
        if "refused" in answer:
            raise BadSource(answer["refused"][0], action=answer["refused"][1])
        if "broken" in answer:
            raise CheckCrashed(
                f"A process of the grader could not start: {answer['broken']}",
                action="Run it again with --jobs 1, and report what it says.",
            )
        self.layers = answer["ready"] or self.layers

    def run(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, dict[str, Any]]]:
        """Each job with its result, in the order in which they are done.

        `grader ended` is the result of a job that ends its slots, `unreadable` of one whose bytes are gone.
        """
        for slot in self._slots:
            yield from self._feed(slot, jobs)
        while busy := [slot for slot in self._slots if slot.job is not None]:
            ready = set(wait([slot.link for slot in busy], timeout=1.0))
            for slot in busy:
                if slot.link in ready:
                    result = self._receive(slot)
                elif time.monotonic() - self._since[slot.number] > self._job_seconds:
                    result = None
                else:
                    continue
                job, slot.job = slot.job, None
                assert job is not None
                if result is None:
                    self._replace(slot)
                    job.tries += 1
                    if job.tries < TRIES:
                        self._send(slot, job, slot.data)
                        continue
                    result = {"problem": ["grader ended", "The grader itself ended twice while it judged this."]}
                # The slot works on while the caller waits for the disk.
                lost = list(self._feed(slot, jobs))
                yield job, result
                yield from lost

    def _feed(self, slot: _Slot, jobs: Iterator[Job]) -> Iterator[tuple[Job, dict[str, Any]]]:
        """Send the slot its next job. What can no longer be read costs nobody else's marks: it comes back as it is."""
        for job in jobs:
            try:
                data = job.read()
            except CourseError as error:
                yield job, {"problem": ["unreadable", str(error)]}
                continue
            self._send(slot, job, data)
            return

    def _send(self, slot: _Slot, job: Job, data: bytes) -> None:
        slot.job, slot.data = job, data
        self._since[slot.number] = time.monotonic()
        try:
            slot.link.send_bytes(json.dumps(job.message).encode())
            slot.link.send_bytes(data)
        except OSError:
            # Its end shows when its answer is waited for.
            pass

    def _receive(self, slot: _Slot) -> dict[str, Any] | None:
        try:
            answer: dict[str, Any] = json.loads(slot.link.recv_bytes())
        except (EOFError, OSError):
            return None
        result: dict[str, Any] | None = answer.get("result")
        return result

    def _replace(self, slot: _Slot) -> None:
        slot.process.kill()
        slot.process.wait()
        slot.link.close()
        fresh = self._start(slot.number)
        slot.process, slot.link = fresh.process, fresh.link
        self._greet(slot)

    def close(self) -> None:
        """End the slots, and with them their supervisors and children."""
        for slot in self._slots:
            slot.link.close()
        for slot in self._slots:
            try:
                slot.process.wait(10)
            except subprocess.TimeoutExpired:
                slot.process.kill()
                slot.process.wait()
