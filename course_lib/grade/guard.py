"""The slot's grip on a child: starts it through the supervisor, and ends its unit when time, memory or life is over."""

from __future__ import annotations

import json
import select
import signal
import socket
import time
from dataclasses import dataclass
from typing import Any, NoReturn

from course_lib.grade.channel import Channel, Closed
from course_lib.grade.processes import tree_usage
from course_lib.grade.record import Reason
from course_lib.grade.wire import BadFrame

# A unit may wait for this many times its limit of computing seconds: a busy machine is nobody's wrong answer.
WALL_FACTOR = 3
# What the trusted side may take to start or to end a child.
SUPERVISOR_SECONDS = 60.0
OUT_OF_TIME = "the whole notebook had used up its time."
EXITED_BY_LIMIT = (signal.SIGXCPU,)


class ChildEnded(BaseException):
    """The child's unit is over without an answer. A BaseException, so that no check takes it for its own failure."""

    def __init__(self, reason: Reason, message: str) -> None:
        self.reason, self.message = reason, message
        super().__init__(message)


class SupervisorGone(Exception):
    """The trusted side has ended; what was being graded was not."""


@dataclass(frozen=True)
class Ended:
    """What the supervisor counted of a child that is over."""

    output: str
    output_bytes: int
    cpu_seconds: float
    peak_bytes: int


class Guard:
    """One child after another, each with a channel; a unit is a cell or a check, with `timeout_seconds` for each."""

    def __init__(self, control: socket.socket, timeout_seconds: float, submission_seconds: float) -> None:
        self._control = control
        self._timeout_seconds, self._submission_seconds = timeout_seconds, submission_seconds
        self._deadline = 0.0
        self._held = b""
        self._pid = 0
        self._exit: dict[str, Any] | None = None
        self._unit_start = 0.0
        self._cpu_before: float | None = None
        self._calls = 0
        self.channel: Channel | None = None
        self.layers: list[list[Any]] = self._next("layers")["layers"]

    def begin_submission(self) -> None:
        """Give the next submission its time; all its children share it."""
        self._deadline = time.monotonic() + self._submission_seconds

    @property
    def out_of_time(self) -> bool:
        """Whether the submission has used up its time."""
        return time.monotonic() > self._deadline

    def start(self, lesson: str) -> Channel:
        """Start a child; the channel's waits look after its limits."""
        ours, theirs = socket.socketpair()
        with theirs:
            socket.send_fds(self._control, [json.dumps({"start": lesson}).encode()], [theirs.fileno()])
        self._exit = None
        self._pid = int(self._next("started")["started"])
        self.channel = Channel(ours, self._watch)
        self.begin_unit()
        return self.channel

    def stop(self) -> Ended:
        """End the child and everything that it started."""
        assert self.channel is not None
        self._control.sendall(b'{"stop": true}\n')
        ended = self._next("ended")["ended"]
        self.channel.close()
        return Ended(ended["output"], ended["output_bytes"], ended["cpu_seconds"], ended["peak_bytes"])

    def begin_unit(self) -> None:
        """Give the child its full time again: a cell or a check begins."""
        self._unit_start, self._cpu_before = time.monotonic(), None

    def receive(self) -> dict[str, Any]:
        """The child's next message. Raises ChildEnded when there will be none, BadFrame when it is no message."""
        assert self.channel is not None
        try:
            message = self.channel.receive()
        except Closed:
            self._explain()
        # Who always has something to send never lets a wait begin, and no wait means no watch.
        if self.out_of_time:
            raise ChildEnded("timeout", OUT_OF_TIME)
        return message

    def send(self, **message: Any) -> None:
        """Send the child a message. Raises ChildEnded when it is gone."""
        assert self.channel is not None
        try:
            self.channel.send(message)
        except Closed:
            self._explain()

    def call(self, method: str, *arguments: Any, **named: Any) -> dict[str, Any]:
        """Ask the child for one call of the object in its hand; the message that answers it."""
        self._calls += 1
        self.send(call=self._calls, method=method, arguments=list(arguments), named=named)
        answer = self.receive()
        if answer.get("call") != self._calls:
            raise BadFrame(f"call {self._calls} was answered by {str(answer)[:100]}")
        return answer

    def _watch(self) -> None:
        if select.select([self._control], [], [], 0)[0]:
            self._exit = self._next("exited")
            self._explain()
        if self.out_of_time:
            raise ChildEnded("timeout", OUT_OF_TIME)
        if self._cpu_before is None:
            # Taken at the first look, a tenth of a second late: most units are over by then, and asking costs time.
            self._cpu_before = tree_usage(self._pid)[0]
        waited, limit = time.monotonic() - self._unit_start, self._timeout_seconds
        if waited > limit and tree_usage(self._pid)[0] - self._cpu_before > limit:
            raise ChildEnded("timeout", f"it computed for longer than {limit:g} seconds and was ended.")
        if waited > WALL_FACTOR * limit:
            raise ChildEnded("timeout", f"it had not come to an end after {WALL_FACTOR * limit:g} seconds.")

    def _explain(self) -> NoReturn:
        """Say how the child ended."""
        if self._exit is None:
            try:
                self._exit = self._next("exited", seconds=2.0)
            except SupervisorGone:
                raise
            except TimeoutError:
                raise BadFrame("the child closed its socket and lived on") from None
        status, too_large = self._exit["exited"], self._exit["too_large"]
        if too_large:
            raise ChildEnded(
                "memory",
                "it needed more memory, processes or space for files than an exercise may take, and was ended.",
            )
        if status >= 0:
            raise ChildEnded("exit", f"it ended Python itself, with exit code {status}.")
        if -status in EXITED_BY_LIMIT:
            raise ChildEnded("timeout", "it used up the computing time of a whole notebook.")
        raise ChildEnded("crash", f"Python crashed or was killed ({_name(-status)}) while it ran.")

    def _next(self, kind: str, seconds: float = SUPERVISOR_SECONDS) -> dict[str, Any]:
        """The supervisor's next message of this kind; an `exited` on the way is kept."""
        deadline = time.monotonic() + seconds
        while True:
            line, separator, rest = self._held.partition(b"\n")
            if separator:
                self._held = rest
                message: dict[str, Any] = json.loads(line)
                if "broken" in message:
                    raise SupervisorGone(str(message["broken"]))
                if kind in message:
                    return message
                continue
            if not select.select([self._control], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"the supervisor did not say {kind}")
            data = self._control.recv(1 << 20)
            if not data:
                raise SupervisorGone("the supervisor ended")
            self._held += data


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
