"""Parts of the sandbox that decide something: what is readable, what is kept, which group is entered."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("the sandbox needs Linux", allow_module_level=True)

from course_lib.errors import BadInput
from course_lib.grade import cgroup, clean_process, privileges, seccomp
from course_lib.grade.grants import Grant, grants, roots
from course_lib.grade.throwaway import ask


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "package"
    for name in ("checks", "plain", "data/sealed", "data/open"):
        (folder / name).mkdir(parents=True)
    (folder / "module.py").touch()
    (folder / "link").symlink_to(folder / "checks")
    return folder


def granted(package: Path, *sealed: Path, readable: tuple[Path, ...] = ()) -> set[Grant]:
    found = grants([package, *readable], sealed)
    return {Grant(each.path[len(str(package)) :], each.kind) for each in found if each.path.startswith(str(package))}


def test_an_open_folder_is_one_grant(package: Path) -> None:
    assert granted(package) == {Grant("", "read")}


def test_the_neighbours_of_a_sealed_folder_are_opened_one_by_one(package: Path) -> None:
    assert granted(package, package / "checks") == {
        Grant("", "list"),
        Grant("/plain", "read"),
        Grant("/data", "read"),
        Grant("/module.py", "read"),
    }


def test_a_link_to_a_sealed_folder_opens_nothing(package: Path) -> None:
    assert not any(each.path == "/link" for each in granted(package, package / "checks"))


def test_a_folder_may_be_sealed_deep_inside(package: Path) -> None:
    found = granted(package, package / "data/sealed")
    assert {Grant("", "list"), Grant("/data", "list"), Grant("/data/open", "read")} <= found
    assert not any("sealed" in each.path for each in found)


def test_a_folder_that_is_asked_for_by_name_is_open_in_a_sealed_one(package: Path) -> None:
    found = granted(package, package / "data", readable=(package / "data/open",))
    assert Grant("/data/open", "read") in found
    assert not any(each.path in ("/data", "/data/sealed") for each in found)


def test_what_is_open_and_sealed_is_sealed(package: Path) -> None:
    assert granted(package, package) == set()


def test_sealing_a_folder_above_closes_nothing_that_was_asked_for(package: Path) -> None:
    assert granted(package, package.parent) == {Grant("", "read")}


def test_a_folder_that_is_not_there_is_left_out(package: Path) -> None:
    assert not any("nowhere" in each.path for each in grants([package / "nowhere"], []))
    assert not any("nowhere" in path for path in roots([package / "nowhere"]))


def test_roots_do_not_lie_in_each_other(package: Path) -> None:
    found = roots([package, package / "data", Path("/usr/lib")])
    assert str(package) in found
    assert not {str(package / "data"), "/usr/lib"} & set(found)


def test_nothing_of_a_person_is_open_by_default() -> None:
    paths = {each.path for each in grants([], [])}
    assert not any(path.startswith(("/home", "/root", "/etc/passwd", "/tmp", "/var", "/run", "/opt")) for path in paths)
    assert not {"/", "/etc", "/proc", "/dev"} & paths


def test_the_environment_keeps_settings_and_no_secrets() -> None:
    ours = {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "TORCH_TOKEN": "secret",
        "HF_HUB_TOKEN": "secret",
        "CANVAS_TOKEN": "secret",
        "SSH_AUTH_SOCK": "/run/agent",
        "HOME": "/home/instructor",
        "LANG": "C.UTF-8",
    }
    kept = clean_process.environment(ours, "/work")
    assert kept == {
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "OMP_NUM_THREADS": "1",
        "PYTHONHASHSEED": "0",
        "LANG": "C.UTF-8",
        "HOME": "/work",
        "TMPDIR": "/work",
        "USER": "student",
        "LOGNAME": "student",
        "PATH": "/usr/bin",
    }


def test_descriptors_that_are_not_kept_are_closed_and_the_standard_ones_lead_nowhere() -> None:
    def look(reply: int) -> list[object]:
        kept, _ = os.pipe()
        os.dup2(os.open("/etc/hostname", os.O_RDONLY), 0)
        clean_process.close_all_but([kept, reply])
        return [
            sorted(map(int, os.listdir("/proc/self/fd"))),
            [os.readlink(f"/proc/self/fd/{n}") for n in (0, 1, 2)],
            kept,
        ]

    descriptors, standard, kept = ask(look)
    assert standard == ["/dev/null"] * 3
    assert kept in descriptors
    # 0, 1, 2, the two that were kept, and the folder that was listed.
    assert len(descriptors) == 6


def test_a_folder_may_not_be_kept_open(tmp_path: Path) -> None:
    fd = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(BadInput, match="is a folder"):
            clean_process.refuse_folders([fd])
    finally:
        os.close(fd)


def test_what_a_trial_raises_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    def fail(_: int) -> None:
        raise ValueError("the reason")

    with pytest.raises(OSError, match="ValueError: the reason"):
        ask(fail)
    with pytest.raises(OSError, match="died"):
        ask(lambda _: os._exit(3))
    assert capfd.readouterr().out == ""


def test_a_user_of_its_own_is_no_account() -> None:
    import pwd

    user = privileges.free_user()
    assert user not in {each.pw_uid for each in pwd.getpwall()}
    assert ask(lambda _: privileges.free_user()) != user


def test_calls_that_are_newer_than_the_filter_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyseccomp")
    monkeypatch.setattr(seccomp, "_LAST_KNOWN", 200)

    def call(_: int) -> str:
        privileges.no_new_privileges()
        seccomp.load(seccomp.build(seccomp.Needs(own_signals_only=False, no_connect=False, no_truncate=False)))
        try:
            return str(os.getrandom(1))
        except OSError as error:
            return errno.errorcode[error.errno or 0]

    assert ask(call) == "ENOSYS"


def test_the_filter_says_what_it_refuses() -> None:
    needs = seccomp.Needs(own_signals_only=True, no_connect=False, no_truncate=True)
    assert needs.detail == "no programs, no network, no signals to others, no truncation by name"


def _unified(root: Path, hands_on: str) -> Callable[[], dict[str, str]]:
    here = root / "user.slice" / "shell.scope"
    here.mkdir(parents=True)
    (root / "cgroup.controllers").write_text("cpu memory pids\n")
    (here.parent / "cgroup.subtree_control").write_text(hands_on)
    (here / "cgroup.subtree_control").write_text("")
    return lambda: {"": "/user.slice/shell.scope"}


def test_in_version_2_the_group_is_made_beside_the_one_that_holds_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "_ROOT", tmp_path)
    monkeypatch.setattr(cgroup, "_own_groups", _unified(tmp_path, "cpu memory pids\n"))
    group = cgroup.Group("1", 100 << 20, 40)
    folder = tmp_path / "user.slice" / f"course-sandbox-{os.getpid()}-1"
    assert (folder / "pids.max").read_text() == "40\n"
    assert int((folder / "memory.max").read_text()) == 164 << 20
    assert (folder / "cgroup.procs").read_text() == f"{os.getpid()}\n"
    (folder / "memory.events").write_text("low 0\noom 3\noom_kill 2\n")
    assert group.n_killed() == 2
    group.close()
    assert (tmp_path / "user.slice/shell.scope/cgroup.procs").read_text() == f"{os.getpid()}\n"


def test_in_version_2_a_group_that_hands_nothing_on_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroup, "_ROOT", tmp_path)
    monkeypatch.setattr(cgroup, "_own_groups", _unified(tmp_path, "cpu\n"))
    with pytest.raises(OSError, match="memory"):
        cgroup.Group("1", 100 << 20, 40)
    assert not list(tmp_path.rglob("course-sandbox-*"))
