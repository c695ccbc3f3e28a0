"""Text that is meant for somebody else: for a page, a terminal, a table, a parser, or the reader of a mark."""

from __future__ import annotations

from collections.abc import Callable

from hostile.kind import Hostile, Scene, full_marks
from hostile.sheet import cell, costs, harmless, marked, right, right_answers

SPLIT, ACCURACY, COUNT = "digits/split", "digits/accuracy", "digits/n_parameters"
SCRIPT = "</pre></td></table><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}"
SURROGATE = "raise ValueError('half a character: \\ud800 \\udfff')"
CONTROL = (
    "raise ValueError('\\x00\\x07\\x1b[2J\\x1b]0;title\\x07\\x85\\u2028\\u202e passed \\r✓ digits/accuracy: passed')"
)
LINES = "raise ValueError('first\\nsecond,third\\n=cmd()\\n{\"mark\": 100}\\n')"
LONG = "raise ValueError('x' * 50_000_000)"
FALSE_VERDICT = "raise ValueError('passed, 1 of 1 mark')"
COURSE_ERRORS = """
from course_lib import errors, kinds
raise errors.{}
"""
NAMED = "type({!r}, (Exception,), {{}})"
# Letters that look like others: Cyrillic а and с. Python takes them for other names.
LOOK_ALIKE = right_answers()[ACCURACY].replace("def accuracy", "def \u0430\u0441\u0441uracy")
# Full-width letters are the same name, by the rules of the language itself.
FULL_WIDTH = right_answers()[ACCURACY].replace("def accuracy", "def \uff41\uff43\uff43\uff55\uff52\uff41\uff43\uff59")
LOOK_ALIKE_MARKER = right_answers()[ACCURACY].replace("digits/accuracy", "digits/\u0430\u0441\u0441uracy")
CAPITAL_MARKER = right_answers()[ACCURACY].replace("# exercise:", "#Exercise :")
BOM_FIRST = "\ufeff" + right_answers()[ACCURACY]
HARD_SPACES = right_answers()[ACCURACY].replace("# exercise: ", "#\u00a0exercise:\u00a0")
WITH_TABS = right_answers()[ACCURACY].replace("    ", "\t")

# name, the whole text of the answer cell
BROKEN = [
    ("a syntax error", "def accuracy(logits, labels)\n    return 1"),
    ("an indentation error", "def accuracy(logits, labels):\nreturn 1"),
    ("tabs and spaces mixed", "def accuracy(logits, labels):\n    if 1:\n\treturn 1\n    return 0"),
    ("a null byte", "def accuracy(logits, labels):\n    return '\0'"),
    ("half a character", "def accuracy(logits, labels):\n    return '\ud800'"),
    ("Python 2", "def accuracy(logits, labels):\n    print 'x'\n    return 1"),
    ("two answers merged", "<<<<<<< HEAD\ndef accuracy(logits, labels):\n=======\n>>>>>>> main"),
    ("a chain of 100,000 attributes", f"accuracy = a{'.b' * 100_000}"),
    ("a sum of 100,000 terms", f"accuracy = 1{'+1' * 100_000}"),
    ("100,000 minus signs", f"accuracy = {'-' * 100_000}1"),
    ("10,000 parentheses", f"accuracy = {'(' * 10_000}1{')' * 10_000}"),
    ("10,000 branches", "if 0:\n    pass\n" + "elif 0:\n    pass\n" * 10_000),
    ("a number of 100,000 digits", f"accuracy = {'9' * 100_000}"),
    ("a coding line", "# -*- coding: utf-7 -*-\ndef accuracy(logits, labels):\n    return -1.0"),
    ("a name that is no name", "def accuracy\u200b(logits, labels):\n    return 1"),
]
# Names that a folder's own files may have; the answers are right.
NAMES = {
    "a name for a spreadsheet": "=HYPERLINK(1)+cmd.ipynb",
    "a name for a page": "<script>alert(1)<b>.ipynb",
    "a name with quotes and a line end": "a\"b'c\nd,e;.ipynb",
    "a name that looks like an option": "--resume.ipynb",
    "a name of 250 bytes": "n" * 244 + ".ipynb",
    "a name that is not UTF-8": "caf\udce9.ipynb",
    "a name in composed letters": "caf\u00e9 x.ipynb",
    "the same name in letters and accents": "cafe\u0301 x.ipynb",
    "a name in capitals": "CAFE X.IPYNB",
    "a name with the direction turned": "a\u202ebnypi.ipynb",
    "a name like a device": "con.ipynb",
}


def right_by(name: str) -> Callable[[Scene], bytes]:
    """A right submission that nobody else hands in."""
    return lambda _: right(split=f"{right_answers()['digits/split']}\n# {name}\n")


KINDS = [
    *(
        costs(f"text: {name}", ACCURACY, "error|wrong|not handed in", marked(ACCURACY, text), review=None)
        for name, text in BROKEN
    ),
    *(
        Hostile(f"file: {name}", right_by(name), full_marks(), review=None, file_name=file)
        for name, file in NAMES.items()
    ),
    costs("a function by a look-alike name", ACCURACY, "error|not reached|not handed in", LOOK_ALIKE, review=None),
    harmless("a function in full-width letters", ACCURACY, FULL_WIDTH),
    harmless("a marker in look-alike letters", ACCURACY, LOOK_ALIKE_MARKER, notes=("accuracy",)),
    harmless("a marker in capitals", ACCURACY, CAPITAL_MARKER),
    harmless("a marker with hard spaces", ACCURACY, HARD_SPACES),
    harmless("a byte order mark in a cell", ACCURACY, BOM_FIRST),
    harmless("tabs throughout", ACCURACY, WITH_TABS),
    costs("a script in an error", ACCURACY, "error", cell(ACCURACY, "", f"raise ValueError({SCRIPT!r})")),
    costs("a script in an error of a cell", SPLIT, "error", cell(SPLIT, f"raise ValueError({SCRIPT!r})")),
    costs("a script in a result", ACCURACY, "wrong", cell(ACCURACY, "", "", repr(SCRIPT))),
    costs("a script in the name of a type", ACCURACY, "wrong", cell(ACCURACY, "", "", f"type({SCRIPT!r}, (), {{}})()")),
    costs("a script in the name of an error", ACCURACY, "error", cell(ACCURACY, "", f"raise {NAMED.format(SCRIPT)}")),
    harmless("a script in the output", SPLIT, cell(SPLIT, f"print({SCRIPT!r})")),
    harmless("control characters in the output", SPLIT, cell(SPLIT, "os.write(1, bytes(range(256)) * 50)")),
    costs("half characters in an error", ACCURACY, "error", cell(ACCURACY, "", SURROGATE)),
    costs("half characters in an error of a cell", SPLIT, "error", cell(SPLIT, SURROGATE)),
    costs("half characters in a result", ACCURACY, "wrong|bad reply", cell(ACCURACY, "", "", "'\\ud800'")),
    costs("half characters in a name", ACCURACY, "wrong|bad reply", cell(ACCURACY, "", "", "{'\\ud800': 1.0}")),
    costs("control characters in an error", ACCURACY, "error", cell(ACCURACY, "", CONTROL)),
    costs("lines in an error", ACCURACY, "error", cell(ACCURACY, "", LINES)),
    costs("an error of 50 MB", ACCURACY, "error|bad reply", cell(ACCURACY, "", LONG)),
    costs("an error that claims to have passed", ACCURACY, "error", cell(ACCURACY, "", FALSE_VERDICT)),
    costs("the course's own errors", ACCURACY, "error", cell(ACCURACY, "", COURSE_ERRORS.format("NotFound('x')"))),
    costs("an error named passed", ACCURACY, "error", cell(ACCURACY, "", f"raise {NAMED.format('passed')}")),
    costs(
        "the word of an empty hole",
        ACCURACY,
        "unanswered",
        cell(ACCURACY, "", "raise NotImplementedError('write your own code here')"),
    ),
]
