"""Names made safe: for a file, for a screen, and different from each other on every file system."""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Mapping

# Windows keeps these for devices, with any extension.
RESERVED = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(10))}
MAX_KEY_BYTES = 80
DIRECTION = range(0x202A, 0x202F), range(0x2066, 0x206A)


def shown(text: str) -> str:
    """The text for a person's screen: composed accents, no control signs, no changes of direction, valid Unicode."""
    return unicodedata.normalize("NFC", "".join("\ufffd" if _is_harmful(sign) else sign for sign in text))


def safe_key(text: str) -> str:
    """A file's name made of a text: its letters, digits, dots, dashes and underlines, at most 80 bytes; never empty."""
    plain = unicodedata.normalize("NFC", text)
    kept = "".join(sign if sign.isalnum() or sign in "-_." or unicodedata.combining(sign) else "_" for sign in plain)
    kept = kept.strip("._-") or "student"
    if kept.split(".")[0].casefold() in RESERVED:
        kept = f"_{kept}"
    if len(kept.encode("utf-8")) > MAX_KEY_BYTES:
        kept = kept.encode("utf-8")[: MAX_KEY_BYTES - 9].decode("utf-8", "ignore") + "-" + _digest(text)
    return kept


def unique_keys(texts: Mapping[str, str]) -> dict[str, str]:
    """For each identity the key made of its text; those that a file system could confuse get a digest of the identity.

    So a key does not depend on the order, and changes only when another comes that is confused with it.
    """
    keys = {identity: safe_key(text) for identity, text in texts.items()}
    times = Counter(_folded(key) for key in keys.values())
    return {
        identity: key if times[_folded(key)] == 1 else f"{key[: MAX_KEY_BYTES - 20]}-{_digest(identity)}"
        for identity, key in keys.items()
    }


def _folded(key: str) -> str:
    return unicodedata.normalize("NFKC", key).casefold()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _is_harmful(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Cs") or any(ord(sign) in span for span in DIRECTION)
