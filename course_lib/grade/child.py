"""The student's side: runs the cells of one notebook and answers the grader's calls, in a sandboxed process.

Everything here may be patched by what a student wrote, and nothing here knows a mark, a check, a reference or a seed.
What this process says counts only as the answer to a question that the grader asked.
"""

from __future__ import annotations

import contextlib
import linecache
import os
import signal
import socket
import sys
import types
from collections.abc import Mapping
from typing import Any

import course_lib
from course_lib import kinds, session
from course_lib.adapters import adapt
from course_lib.grade.channel import BadFrame, Channel, Closed
from course_lib.grade.shell import Shell, to_python
from course_lib.lessons import Lesson

MAX_TEXT = 500


class Hand:
    """An answer, and the object of a kind that its adapter makes of it; the grader's calls go to that object."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self._kind: Any = None

    def reply(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """What a call gave, or how it failed: by the answer (`answer`, `unanswered`, `unfit`) or by us (`other`)."""
        method = message["method"]
        try:
            return {"value": self._call(method, message["arguments"], message["named"])}
        except kinds.Unanswered as error:
            return {"raised": "unanswered", "text": str(error)[:MAX_TEXT]}
        except kinds.Unfit as error:
            return {"raised": "unfit", "text": str(error)[:MAX_TEXT]}
        except kinds.AnswerError as error:
            text = str(error)[:MAX_TEXT]
            return {"raised": "answer", "text": text, "doing": error.doing, "line": error.line[:MAX_TEXT]}
        except Exception as error:
            return {"raised": "other", "text": kinds.told(error)[:MAX_TEXT]}
        except BaseException as error:
            # KeyboardInterrupt and its like: only an answer raises them here.
            return {"raised": "answer", "text": kinds.told(error)[:MAX_TEXT], "doing": f"the grader asked for {method}"}

    def _call(self, method: str, arguments: list[Any], named: dict[str, Any]) -> Any:
        if method == "adapt":
            self._kind = adapt(arguments[0], arguments[1], self._answer)
            return None
        return getattr(self._kind, method)(*arguments, **named)


class Runner:
    """Runs cells in one namespace, as a kernel does, and hands each checked object to the grader's calls."""

    def __init__(self, channel: Channel, lesson: Lesson, track: str) -> None:
        self._channel = channel
        self._main = types.ModuleType("__main__")
        self._names: dict[str, Any] = self._main.__dict__
        sys.modules["__main__"] = self._main
        shell = Shell(lambda source: self._execute(source, "<timed>"), self._names)
        self._names.update({"get_ipython": lambda: shell, "display": lambda *values, **_: print(*values)})
        # Set as attributes, they hide the lazy ones, and `from course_lib import check` finds them.
        self._course = {"check": self._check, "begin": lambda *_: None}
        session._current[:] = [session.Session(lesson, track, {})]

    def run(self, number: int, source: str) -> None:
        """Run one cell. What it raises is told and ends this cell only."""
        for name, value in self._course.items():
            setattr(course_lib, name, value)
        self._names["check"] = self._check
        self._channel.send({"cell": number})
        try:
            self._execute(to_python(source), f"<cell {number}>")
        except Closed:
            raise
        except BaseException as error:
            told = kinds.AnswerError.of("", error)
            self._channel.send({"failed": number, "text": str(told)[:MAX_TEXT], "line": told.line[:MAX_TEXT]})
        # They may be closed, or be something else by now.
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()

    def _execute(self, source: str, name: str) -> None:
        # Tracebacks, inspect and TensorFlow's autograph look for the text of a function where IPython keeps it, too.
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        exec(compile(source, name, "exec", dont_inherit=True), self._names)

    def _check(self, exercise: str, answer: Any, **_: Any) -> None:
        """What `check` is here: tell the grader what is in hand, and answer its calls until it has done."""
        self._channel.send({"reached": str(exercise)[:200]})
        hand = Hand(answer)
        while "done" not in (message := self._channel.receive()):
            self._answer(message["call"], hand.reply(message))

    def _answer(self, call: int, reply: Mapping[str, Any]) -> None:
        try:
            self._channel.send({"call": call, **reply})
        except BadFrame as error:
            text = f"what your answer returned cannot be looked at: {error}"
            self._channel.send({"call": call, "raised": "unfit", "text": text[:MAX_TEXT]})


def run_child(sock: socket.socket, lesson: Lesson, track: str) -> None:
    """Run the job that comes over the socket, in a fresh and already sandboxed process. Never returns."""
    # The supervisor's handlers and wake-up descriptor are none of a student's.
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.argv[:] = ["notebook"]
    channel = Channel(sock)
    try:
        job = channel.receive()
        runner = Runner(channel, lesson, track)
        for number, source in job["cells"]:
            runner.run(number, source)
        channel.send({"end": True})
    except Closed:
        pass
    finally:
        os._exit(0)
