"""Answers of lesson 00, which has the NumPy track only."""

import numpy as np


# --- binarize --------------------------------------------------------------------------------------------------------
def binarize_by_where(pictures, threshold):
    return np.where(pictures >= threshold, 1.0, 0.0)


def binarize_by_astype(pictures, threshold):
    return (pictures >= threshold).astype(np.float32)


def binarize_by_index(pictures, threshold):
    strokes = np.zeros_like(pictures)
    strokes[pictures >= threshold] = 1
    return strokes


def binarize_to_bool(pictures, threshold):
    return pictures >= threshold


def binarize_at_one_half(pictures, threshold):
    return binarize_by_astype(pictures, 0.5)


def binarize_strictly(pictures, threshold):
    return (pictures > threshold).astype(np.float32)


def binarize_in_place(pictures, threshold):
    pictures[:] = pictures >= threshold
    return pictures


def binarize_and_keep_grey(pictures, threshold):
    return np.where(pictures >= threshold, pictures, 0.0)


def binarize_flat(pictures, threshold):
    return binarize_by_astype(pictures, threshold).reshape(-1)


# --- center ----------------------------------------------------------------------------------------------------------
def ink_box(picture):
    return np.flatnonzero(picture.any(axis=1)), np.flatnonzero(picture.any(axis=0))


def center_by_cutting(picture):
    rows, columns = ink_box(picture)
    centered = np.zeros_like(picture)
    if len(rows):
        box = picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
        top, left = ((outer - inner) // 2 for outer, inner in zip(picture.shape, box.shape, strict=True))
        centered[top : top + box.shape[0], left : left + box.shape[1]] = box
    return centered


def center_by_rolling(picture):
    rows, columns = ink_box(picture)
    if not len(rows):
        return picture.copy()
    down, right = (
        (size - 1 - found[0] - found[-1] + 1) // 2 for size, found in zip(picture.shape, (rows, columns), strict=True)
    )
    return np.roll(picture, (down, right), axis=(0, 1))


def center_by_padding(picture):
    rows, columns = ink_box(picture)
    if rows.size == 0:
        return np.zeros(picture.shape)
    box = picture[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    height, width = picture.shape[0] - box.shape[0], picture.shape[1] - box.shape[1]
    return np.pad(box, ((height - height // 2, height // 2), (width // 2, width - width // 2)))


def center_columns(picture):
    rows, columns = ink_box(picture)
    if not len(rows):
        return picture.copy()
    return np.roll(picture, (picture.shape[1] - 1 - columns[0] - columns[-1]) // 2, axis=1)


def center_without_ink_crashes(picture):
    rows, _ = ink_box(picture)
    return center_by_cutting(picture) if rows[0] >= 0 else picture


def center_by_weight(picture):
    if not picture.any():
        return picture.copy()
    middle = [(picture.sum(axis=1 - a) * np.arange(picture.shape[a])).sum() / picture.sum() for a in (0, 1)]
    shift = [round((size - 1) / 2 - m) for size, m in zip(picture.shape, middle, strict=True)]
    return np.roll(picture, shift, axis=(0, 1))


def center_eight_by_eight(picture):
    centered = np.zeros((8, 8), np.float32)
    inside = center_by_cutting(picture)[:8, :8]
    centered[: inside.shape[0], : inside.shape[1]] = inside
    return centered


def center_in_place(picture):
    picture[:] = center_by_cutting(picture)
    return picture


def center_in_black_and_white(picture):
    return (center_by_cutting(picture) > 0).astype(np.float32)


def center_without_blank_rows(picture):
    box = picture[picture.any(axis=1)][:, picture.any(axis=0)]
    centered = np.zeros_like(picture)
    top, left = (picture.shape[0] - box.shape[0]) // 2, (picture.shape[1] - box.shape[1]) // 2
    centered[top : top + box.shape[0], left : left + box.shape[1]] = box
    return centered


def center_upside_down(picture):
    return center_by_cutting(picture)[::-1]


RIGHT = {
    "start/binarize": [binarize_by_where, binarize_by_astype, binarize_by_index],
    "start/center": [center_by_cutting, center_by_rolling, center_by_padding],
}

WRONG = {
    "start/binarize": [
        (binarize_to_bool, "received bool"),
        (binarize_at_one_half, "with the threshold 0.25"),
        (binarize_strictly, "a pixel of 0.5 should become 1; received 0"),
        (binarize_in_place, "changed its input `pictures`"),
        (binarize_and_keep_grey, "pixels differ"),
        (binarize_flat, "received shape (64,)"),
    ],
    "start/center": [
        (np.copy, "as many empty"),
        (center_columns, "as many empty rows"),
        (center_without_ink_crashes, "IndexError"),
        (center_by_weight, "as many empty"),
        (center_eight_by_eight, "received shape (8, 8)"),
        (center_in_place, "changed its input `picture`"),
        (center_in_black_and_white, "all ink should still be there"),
        (center_without_blank_rows, "the same pixels"),
        (center_upside_down, "the same pixels"),
    ],
}
