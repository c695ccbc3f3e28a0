"""The kinds that take their time, most of them by waiting: they are only run with the slow tests."""

from __future__ import annotations

HEAVY = frozenset(
    (
        "100 MB to stderr",
        "20 MB from C",
        "20,000 files",
        "3 GB of shared memory",
        "300,000 results",
        "5,000 threads",
        "SIGSTOP to itself",
        "a file of 4 GB",
        "a list that grows in spite of MemoryError",
        "a list without end",
        "a loop that swallows every exception, in a cell",
        "a result that never goes away",
        "a result whose type's name never ends",
        "a segmentation fault in a cell",
        "an array of 3 GB in a cell",
        "an error whose message never ends, in a cell",
        "forks itself away, again and again",
        "many calls, each of them quick enough",
        "memory divided among processes",
        "one endless call of compiled code",
        "output without end",
        "patches sockets, in the last cell",
        "recursion without a limit",
        "returns a dict with a million names",
        "returns a list nested a million deep",
        "searches its whole memory",
        "sends a burden with each right reply",
        "sends a frame in drops",
        "sends a large length and silence",
        "sends one array a thousand times",
        "sends word of a million failures",
        "shadows the names of others",
        "sleeps for ever in a cell",
        "spinning threads",
        "traces itself into a loop",
        "waits for a lock that it holds",
    )
)
