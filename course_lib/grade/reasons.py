"""What each reason code of a result means, in the words of somebody who wants the learner to get on."""

from __future__ import annotations

from dataclasses import dataclass

NEXT = "A person will look at this; it has not been counted as wrong."


@dataclass(frozen=True)
class Explanation:
    """`label` is the verdict in two or three words; `why` follows the result's message and says what may be behind it.

    `why` is written to the learner.
    """

    label: str
    why: str = ""


EXPLANATIONS: dict[str, Explanation] = {
    "passed": Explanation("Passed"),
    "wrong": Explanation("Not right yet"),
    "error": Explanation("Stopped with an error"),
    "unanswered": Explanation("Not answered"),
    "not handed in": Explanation(
        "Not found",
        "There is neither a cell whose first line is `# exercise: …` with this exercise, nor one that defines the name "
        "it asks for. If you did answer it, the cell may have been deleted, or its name changed.",
    ),
    "timeout": Explanation(
        "Took too long",
        "Often that is a loop whose end never comes, or a loop over single numbers where one operation on a whole "
        "array would do. What else you answered has been marked.",
    ),
    "memory": Explanation(
        "Used too much memory",
        "Often an array has become larger than meant: print the shapes, above all where two arrays of different "
        "shapes meet. What else you answered has been marked.",
    ),
    "crash": Explanation(
        "Crashed",
        "Python itself broke down, which no `try` can catch. Very deep recursion does that, and so does compiled code "
        "that is given something it does not expect. What else you answered has been marked.",
    ),
    "exit": Explanation(
        "Ended Python",
        "`exit()`, `quit()` and `os._exit()` end the whole process and every other answer with it. Let the function "
        "return its result instead. What else you answered has been marked.",
    ),
    "bad reply": Explanation(
        "Unreadable result",
        "What an answer returns is read as arrays, numbers and strings, of a size that the exercise can need.",
    ),
    "not reached": Explanation(
        "Not reached", "The notebook came to its end before this exercise, so your answer to it has not been judged."
    ),
    "checker broke": Explanation("Not judged", "The fault is ours, not yours."),
    "course cell failed": Explanation(
        "Not judged", "A cell of the course's own, which your answer builds on, did not run. The fault may be ours."
    ),
    "not a notebook": Explanation("Not a notebook", "Nothing in it could be judged."),
    "unreadable": Explanation("Cannot be read", "The file is damaged or could not be opened."),
    "unknown notebook": Explanation(
        "Not recognised", "Neither its label nor its cells say which notebook of the course this is."
    ),
    "grader ended": Explanation("Not judged", "The marking stopped while it was at this exercise. That is not on you."),
}


def explanation(reason: str) -> Explanation:
    """What a reason code means; one that this version does not know is told as it is."""
    return EXPLANATIONS.get(reason) or Explanation(reason.capitalize() or "Not judged")
