"""What a run costs: memory beyond the imports, and code in tokens."""

from __future__ import annotations

import io
import threading
import time
import tokenize
from types import TracebackType

SAMPLE_SECONDS = 0.002


class PeakMemory:
    """Measures by how much this process's resident memory grows at most while a block runs.

    `peak_bytes` is the growth over the start of the block, so imports made before it do not count. Samples every 2 ms:
    an allocation that lives shorter than that may be missed.
    """

    def __init__(self) -> None:
        import psutil

        self._process = psutil.Process()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.peak_bytes = 0

    def _watch(self) -> None:
        while not self._stop.is_set():
            self._sample()
            time.sleep(SAMPLE_SECONDS)

    def _sample(self) -> None:
        self.peak_bytes = max(self.peak_bytes, self._process.memory_info().rss - self._start_bytes)

    def __enter__(self) -> PeakMemory:
        self._start_bytes = self._process.memory_info().rss
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sample()
        self._stop.set()
        self._thread.join()


def code_tokens(source: str) -> int:
    """Python tokens in a source text; comments, line ends and indentation do not count.

    >>> code_tokens("x = 1  # one")
    3
    """
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    return sum(token.type not in silent for token in tokenize.generate_tokens(io.StringIO(source).readline))
