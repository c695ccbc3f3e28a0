"""The pictures of the class page, drawn as SVG: they follow the page's colours and say in words what they show."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.grade.page import Html, element, together
from course_lib.grade.record import State
from course_lib.grade.text import counted, number

STATES: tuple[State, ...] = ("passed", "failed", "needs review")

WIDTH, HEIGHT, BASE, TOP = 660, 232, 178, 26
SHARES = 10


def share_bins(shares: Sequence[float]) -> list[int]:
    """How many shares (mark by full mark, 0…1) lie in each tenth, and, last, how many are full marks: 11 counts."""
    bins = [0] * (SHARES + 1)
    for share in shares:
        # 8.1 of 9 marks are 0.8999…: a share that stands on a border belongs to the tenth above it.
        bins[min(max(int(share * SHARES + 1e-9), 0), SHARES)] += 1
    return bins


def bin_names() -> list[str]:
    """What each count of `share_bins` is of: "0–9 %" … "90–99 %", "100 %"."""
    return [f"{10 * i}–{10 * i + 9} %" for i in range(SHARES)] + ["100 %"]


def marks_picture(shares: Sequence[float], key: str) -> Html:
    """A histogram of marks in percent of full marks, one bar a tenth and one for full marks.

    `key` makes the ids of its title and description unique in the page.
    """
    bins, names = share_bins(shares), bin_names()
    told = "; ".join(f"{names[i]}: {n}" for i, n in enumerate(bins) if n) or "nobody yet"
    title = element("title", "How the marks are spread", id=f"{key}-title")
    desc = element("desc", f"Students by share of full marks. {told}.", id=f"{key}-desc")
    step = WIDTH / len(bins)
    bars = [_bar(n, max([*bins, 1]), i * step, step, names[i]) for i, n in enumerate(bins)]
    base = element("line", x1="0", y1=str(BASE), x2=str(WIDTH), y2=str(BASE), class_="axis")
    label = element("text", "share of full marks, in %", x=str(WIDTH / 2), y=str(HEIGHT - 6))
    return element(
        "svg", title, desc, *bars, base, label, viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img", class_="marks",
        aria_labelledby=f"{key}-title {key}-desc",
    )  # fmt: skip


def _bar(n: int, largest: int, left: float, step: float, name: str) -> Html:
    height = (BASE - TOP) * n / largest
    middle = f"{left + step / 2:.1f}"
    first, _, last = name.removesuffix(" %").partition("–")
    to = element("tspan", f"–{last}", class_="to") if last else ""
    label = element("text", first, to, x=middle, y=str(BASE + 20))
    if not n:
        return label
    bar = element(
        "rect", x=f"{left + 5:.1f}", y=f"{BASE - height:.1f}", width=f"{step - 10:.1f}", height=f"{height:.1f}", rx="2"
    )
    return together(bar, element("text", str(n), x=middle, y=f"{BASE - height - 6:.1f}", class_="count"), label)


def state_words(counts: Sequence[int], unit: str = "") -> str:
    """How many are in each state: "32 passed, 13 failed, 1 needs review", with the noun of `unit` if any."""
    words = [state if n == 1 else state.replace("needs", "need") for n, state in zip(counts, STATES, strict=True)]
    return ", ".join(f"{counted(n, unit) if unit else n} {word}" for n, word in zip(counts, words, strict=True) if n)


def state_bar(counts: Sequence[int], unit: str = "exercise") -> Html:
    """A bar of three parts, passed, failed and needs review, told apart by colour and by hatching, with its words.

    `counts` are how many `unit`s are in each state. Empty when all are 0.
    """
    total = sum(counts)
    if not total:
        return Html("")
    told = state_words(counts, unit)
    parts = [
        element("span", class_=f"part {state.replace(' ', '-')}", style=f"width:{number(100 * n / total)}%")
        for n, state in zip(counts, STATES, strict=True)
        if n
    ]
    return element("span", *parts, class_="bar", role="img", aria_label=told)
