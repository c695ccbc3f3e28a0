"""Each card says what scikit-learn really delivers, and the table of cards is complete."""

from __future__ import annotations

import hashlib
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

CARDS = [p for p in (Path(__file__).parent.parent / "datasets").glob("*.md") if p.stem != "README"]


def front_matter(card: Path) -> dict[str, Any]:
    return yaml.safe_load(card.read_text(encoding="utf-8").split("---\n")[1])


@pytest.mark.parametrize("card", CARDS, ids=lambda p: p.stem)
def test_a_card_names_what_a_reader_and_the_loader_need(card: Path) -> None:
    facts = front_matter(card)
    assert facts["name"] == card.stem
    assert {"n", "shape", "dtype", "split", "sha256", "source", "licence"} <= set(facts)
    start, stop = facts["split"]["train"]
    assert (start, facts["split"]["validation"]) == (0, [stop, facts["n"]]), (
        "the split leaves rows out or uses them twice"
    )


@pytest.mark.parametrize("card", CARDS, ids=lambda p: p.stem)
def test_the_table_of_data_sets_has_this_card(card: Path) -> None:
    assert f"({card.name})" in (card.parent / "README.md").read_text(encoding="utf-8")


def test_the_digits_are_what_their_card_says() -> None:
    from sklearn.datasets import load_digits

    facts, bunch = front_matter(next(p for p in CARDS if p.stem == "digits")), load_digits()
    assert bunch.images.shape == (facts["n"], *facts["shape"])
    assert bunch.images.dtype == facts["dtype"]
    assert [bunch.images.min(), bunch.images.max()] == facts["value_range"]
    assert np.bincount(bunch.target).tolist() == facts["class_counts"]
    data = bunch.images.astype("<f8").tobytes() + bunch.target.astype("<i8").tobytes()
    assert hashlib.sha256(data).hexdigest() == facts["sha256"]


def test_each_form_begins_with_the_same_text_and_none_is_split() -> None:
    from sklearn.datasets import load_digits

    facts = front_matter(next(p for p in CARDS if p.stem == "digits"))
    text = "".join(map(str, load_digits().target))
    opening = "0123456789" * 3 + "095565"
    for start, end in zip(facts["forms"], [*facts["forms"][1:], len(text)], strict=True):
        assert 118 <= end - start <= 130
        # One or two digits are missing in the openings of two forms.
        read = text[start : start + len(opening)]
        assert SequenceMatcher(None, opening, read, autojunk=False).ratio() > 0.93
        assert not text.startswith(opening, start + 1)
    assert facts["split"]["train"][1] in facts["forms"]


def test_the_folder_is_no_package(repository: Path) -> None:
    assert not list((repository / "datasets").rglob("__init__.py"))
