"""Collections that tell whose a file is by its name: Canvas and Moodle."""

from __future__ import annotations

import re
from collections import defaultdict

from course_lib.grade.layouts import Layout, Read, Who, at_depth, tops
from course_lib.grade.leaves import Parts, Tree

CANVAS = re.compile(
    r"(?P<name>\w*?)_(?:(?P<late>LATE)_)?(?P<user>\d+)_(?:(?P<file>\d{3,})_(?P<rest>.+)|(?:text|link)(?:-\d+)?\.html)",
    re.DOTALL,
)
CANVAS_ANONYMOUS = re.compile(
    r"(?:(?P<late>LATE)_)?anon_(?P<user>(?=\w*?[A-Za-z])[A-Za-z0-9]+)_"
    r"(?:(?P<file>\d{3,})_(?P<rest>.+)|(?:text|link)(?:-\d+)?\.html)",
    re.DOTALL,
)
MOODLE = re.compile(
    r"(?P<name>[^_]*)(?:_(?P<id>\d+))?_assignsubmission_(?P<kind>[a-z]+)(?P<rest>_.*)?", re.DOTALL | re.IGNORECASE
)


def canvas(tree: Tree, depth: int, read: Read) -> Layout | None:
    """ "Download submissions" of Canvas: a flat zip of `lastnamefirstname[_LATE]_USER_FILE_name.ipynb`.

    Source: instructure/canvas-lms, lib/content_zipper.rb (05e9653c): `get_filename` joins the sortable name (word signs
    only, lower case), "LATE" where Canvas itself judged so, and the user's id, or `anon_ID` in an anonymous assignment;
    `add_upload_submission` adds the id of the uploaded *file* (not of the submission) and its name; a typed text
    becomes `…_text.html`, a link `…_link.html`; equal names get `-1`, `-2` before the extension. A group's hand-in
    bears the name of the group and the id of one member. Times are not in the zip.
    """
    names = list(tops(tree, depth))
    found = {name: match for name in names if (match := _canvas_name(name))}
    if len(found) * 2 <= len(names) or not _are_canvas_ids(list(found.values())):
        return None
    return at_depth(Layout("Canvas", _canvas_student), depth)


def _canvas_name(name: str) -> re.Match[str] | None:
    return CANVAS_ANONYMOUS.fullmatch(name) or CANVAS.fullmatch(name)


def _are_canvas_ids(found: list[re.Match[str]]) -> bool:
    """Whether the numbers can be ids: no file twice, each user under one name. `lab_1_2_anna.ipynb` has others."""
    files = [match["file"] for match in found if match["file"]]
    names = defaultdict(set)
    for match in found:
        names[match["user"]].add(match.groupdict().get("name"))
    return len(files) == len(set(files)) and all(len(each) == 1 for each in names.values())


def _canvas_student(parts: Parts, is_folder: bool) -> tuple[Who, ...]:
    match = _canvas_name(parts[0]) if parts else None
    if match is None:
        return ()
    user, late = match["user"], match["late"] is not None
    if "name" not in match.groupdict():
        return (Who(f"canvas:anon:{user}", f"anon_{user}", f"anon {user}", (("canvas_anonymous_id", user),), late),)
    name = match["name"]
    return (Who(f"canvas:{user}", f"{name}_{user}", name or user, (("canvas_user_id", user),), late),)


def moodle(tree: Tree, depth: int, read: Read) -> Layout | None:
    """ "Download all submissions" of Moodle: `Full Name_ID_assignsubmission_file/…`, older `…_file_/…`.

    Source: moodle/moodle, mod/assign/classes/downloader.php: `get_student_prefix` is the full name (underlines become
    spaces) and the participant's id, "Participant" under blind marking, a group's name and id in group work (the
    default group has none); `load_submissionplugin_filelist` adds `_assignsubmission_` and the plugin (`file`,
    `onlinetext`), then a folder with the student's own folders in it, or `_` and the file's name where the teacher has
    switched folders off. Times are not in the zip.
    """
    if not any(MOODLE.fullmatch(name) for name in tops(tree, depth)):
        return None
    return at_depth(Layout("Moodle", _moodle_student), depth)


def _moodle_student(parts: Parts, is_folder: bool) -> tuple[Who, ...]:
    match = MOODLE.fullmatch(parts[0]) if parts else None
    if match is None:
        return ()
    name, number = match["name"].strip(), match["id"]
    ids = (("moodle_participant_id", number),) if number else ()
    key = f"{name}_{number}" if number else name
    return (Who(f"moodle:{number or name}", key, name or key, ids),)
