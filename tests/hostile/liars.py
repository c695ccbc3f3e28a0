"""Results that lie about what they are, or make trouble for whoever looks at them."""

from __future__ import annotations

from hostile.kind import Hostile
from hostile.sheet import RESULTS as RESULTS_OF
from hostile.sheet import cell, costs, harmless

ACCURACY, COUNT, SPLIT, CROSS = "digits/accuracy", "digits/n_parameters", "digits/split", "digits/cross_entropy"
# Whatever else becomes of such a result, its exercise is lost, and nobody needs to look.
LOST = "wrong|error|bad reply"

SAYS_YES = """
class Yes:
    __array_priority__ = 1e9
    def yes(self, *_, **__):
        return True
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __contains__ = yes
    def same(self, *_, **__):
        return self
    __abs__ = __neg__ = __sub__ = __rsub__ = __add__ = __radd__ = __mul__ = __rmul__ = __truediv__ = same
    __array_ufunc__ = __array_function__ = __call__ = __getitem__ = __getattr__ = same
    def __array__(self, *_, **__):
        return np.zeros(())
    def __float__(self):
        return 0.0
    def __index__(self):
        return 0
    def __len__(self):
        return 0
    def __hash__(self):
        return 0
"""
FALSE_CLASS = """
class Yes:
    def __init__(self, kind):
        self.kind = kind
    @property
    def __class__(self):
        return self.kind
    def __iter__(self):
        return iter(())
    def items(self):
        return ()
    def tolist(self):
        return 0.0
"""
EQUAL_TYPE = """
class Meta(type):
    def __eq__(cls, other):
        return True
    def __hash__(cls):
        return hash(float)
    def __instancecheck__(cls, value):
        return True
    def __subclasscheck__(cls, value):
        return True
class Yes(metaclass=Meta):
    pass
"""
SUBCLASS = """
class Yes(np.ndarray):
    def yes(self, *_, **__):
        return True
    __eq__ = __le__ = __lt__ = __ge__ = all = any = yes
    def __array_ufunc__(self, *_, **__):
        return True
    def __array_function__(self, *_, **__):
        return True
    def astype(self, *_, **__):
        raise SystemExit
    def __array_finalize__(self, _):
        sys.stderr.write('.')
def lie(value):
    return np.asarray(value).view(Yes)
"""
FLOAT = """
class Yes(float):
    def yes(self, *_, **__):
        return True
    __eq__ = __le__ = __lt__ = __ge__ = __gt__ = yes
    def __sub__(self, _):
        return 0.0
    __rsub__ = __sub__
"""
MAPPING = """
from collections.abc import Mapping
class Yes:
    def keys(self):
        raise SystemExit
    def items(self):
        raise KeyboardInterrupt
Mapping.register(Yes)
"""
TEXT = "class Yes(str):\n    def __str__(self):\n        return 'passed'\n    __repr__ = __str__"
MOCK = "from unittest import mock"
NUMBERS = "import numbers, decimal, fractions\nfrom types import SimpleNamespace"

# name, what stands before the function, what it returns
RESULTS = [
    ("says yes to everything", SAYS_YES, "Yes()"),
    ("a type that says it is a float", FALSE_CLASS, "Yes(float)"),
    ("a type that says it is an array", FALSE_CLASS, "Yes(np.ndarray)"),
    ("a type that says it is a dict", FALSE_CLASS, "Yes(dict)"),
    ("a type that equals every type", EQUAL_TYPE, "Yes()"),
    ("an array whose comparisons lie", SUBCLASS, "lie(-1.0)"),
    ("a float whose comparisons lie", FLOAT, "Yes(-1.0)"),
    ("a mapping that interrupts", MAPPING, "Yes()"),
    ("a text that calls itself passed", TEXT, "Yes('wrong')"),
    ("a mock of an array", MOCK, "mock.MagicMock(spec=np.ndarray)"),
    ("a mock of everything", MOCK, "mock.MagicMock()"),
    ("a masked array", "", "np.ma.masked_array(0.5, mask=True)"),
    ("an array of objects", SAYS_YES, "np.array(Yes(), dtype=object)"),
    ("an array of texts", "", "np.array('0.5')"),
    ("an array of dates", "", "np.datetime64('2026-01-01')"),
    ("a structured array", "", "np.zeros((), dtype=[('passed', bool)])"),
    ("an array of bytes", "", "np.void(b'passed!!')"),
    ("a complex number", "", "complex(logits.size, 1)"),
    ("a decimal", NUMBERS, "decimal.Decimal('0.5')"),
    ("a fraction", NUMBERS, "fractions.Fraction(1, 2)"),
    ("a generator", "", "(value for value in (0.5,))"),
    ("a coroutine", "async def later():\n    return 0.5", "later()"),
    ("a module", "", "np"),
    ("a class", "", "float"),
    ("the function itself", "", "accuracy"),
    ("an ellipsis", "", "..."),
    ("None", "", "None"),
    ("a text", "", "'0.5'"),
    ("a text of 5 MB", "", "'0.5' * 2_000_000"),
    ("bytes", "", "b'0.5'"),
    ("a set", "", "{0.5}"),
    ("NaN", "", "float('nan')"),
    ("infinity", "", "float('inf')"),
    ("a negative zero", "", "-0.0 if (logits.argmax(axis=1) == labels).any() else 1.0"),
    ("a truth value", "", "True"),
    ("zeros", "", "0.0"),
    ("a whole number", "", "1"),
    ("a number of 10,000 digits", "", "10 ** 10_000"),
    ("an array of the wrong shape", "", "np.full((1,), (logits.argmax(axis=1) == labels).mean())"),
    ("an array that would broadcast", "", "np.full((7, 7), 0.5)"),
    ("an array without elements", "", "np.zeros((0, 3))"),
    ("33 dimensions of one", "", "np.zeros((1,) * 33)"),
    ("every dtype but the right one", "", "np.int8(1)"),
    ("a memory map", "", "np.memmap('map', dtype=float, mode='w+', shape=(4,))"),
    ("a matrix", "", "np.matrix([[0.5]])"),
    ("a list of itself", "loop = []\nloop.append(loop)", "loop"),
    ("a dict of itself", "loop = {}\nloop['loop'] = loop", "loop"),
    ("a list nested a million deep", "deep = []\nfor _ in range(10**6):\n    deep = [deep]", "deep"),
    ("a tuple nested 1,000 deep", "deep = ()\nfor _ in range(1000):\n    deep = (deep,)", "deep"),
    ("a dict with a million names", "", "dict.fromkeys(range(10**6))"),
    ("names that cannot be shown", "class Odd:\n    def __str__(self):\n        raise SystemExit", "{Odd(): 1}"),
    ("a ragged list", "", "[[0.5], [0.5, 0.5]]"),
    ("a name of 3 MB", "", "{'x' * 3_000_000: 0.5}"),
    ("a tree of tuples", "tree = 0.5\nfor _ in range(8):\n    tree = (tree,) * 4", "tree"),
]


def lies(name: str, at_cell: str, result: str) -> Hostile:
    return costs(f"returns {name}", ACCURACY, LOST, cell(ACCURACY, at_cell, "", result))


KINDS = [
    *(lies(*each) for each in RESULTS),
    costs("returns a huge count", COUNT, LOST, cell(COUNT, "", "", "2 ** 100_000")),
    costs(
        "returns a count as a float",
        COUNT,
        "wrong",
        cell(COUNT, "", "", "((n_inputs + 1) * n_hidden + (n_hidden + 1) * n_classes) * 1.0"),
    ),
    costs("returns masks for rows", SPLIT, "wrong", cell(SPLIT, "", "", "(groups == 0, groups != 0)")),
    costs("returns a pair that is none", SPLIT, LOST, cell(SPLIT, "", "", "(np.arange(len(groups)),) * 3")),
    costs("returns rows that are no numbers", SPLIT, LOST, cell(SPLIT, "", "", "(['0'], [None])")),
    costs(
        "returns rows beyond the end",
        SPLIT,
        "wrong",
        cell(SPLIT, "", "", "(np.array([2**62, -2**62]), np.array([2**63 - 1]))"),
    ),
    costs(
        "changes its inputs",
        ACCURACY,
        "wrong",
        cell(ACCURACY, "", f"value = {RESULTS_OF[ACCURACY]}\nlogits[:] = 7", "value"),
    ),
    # Odd, but of a type that carries the right number: no reason to lose a mark.
    harmless(
        "a right answer as a subclass of arrays",
        ACCURACY,
        cell(ACCURACY, SUBCLASS, "", "np.array((logits.argmax(axis=1) == labels).mean()).view(Yes)"),
    ),
    harmless(
        "a right answer in quadruple precision",
        CROSS,
        cell(
            CROSS,
            "",
            "",
            "(np.logaddexp.reduce(np.longdouble(logits), axis=1) - logits[np.arange(len(labels)), labels]).mean()",
        ),
    ),
    harmless(
        "a right answer in big-endian order",
        ACCURACY,
        cell(ACCURACY, "", "", "np.array((logits.argmax(axis=1) == labels).mean(), dtype='>f8')"),
    ),
]
