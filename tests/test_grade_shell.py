"""Cells become plain Python as IPython would make them, whether IPython is asked or not."""

from __future__ import annotations

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from course_lib.grade.shell import to_python


@pytest.mark.parametrize(
    "source",
    [
        "x = 7 % 2\nprint('!', x != 1)  # really?\n",
        "\n\ndef f():\n    return '''\n%time 1\n!ls\n'''\n",
        "x = (1\n    % 2)\n",
        "%time x = 1\n",
        "x = %time 1\n",
        "!pip install torch\n",
        "x = !ls\n",
        "%%time\nx = 1\n",
        "x?\n",
        "    x = 1\n    y = 2\n",
        ">>> x = 1\n",
        "In [1]: x = 1\n",
        "if True:\n    In [3]: int = 1\n",
        "def broken(:\n",
        "x = '\0'\n",
        "",
    ],
)
def test_a_cell_is_read_as_ipython_reads_it(source: str) -> None:
    assert to_python(source).strip() == TransformerManager().transform_cell(source).strip()
