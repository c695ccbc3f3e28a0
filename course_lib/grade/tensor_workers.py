"""How the workers of a DataLoader hand their tensors over where they may not connect to each other."""

from __future__ import annotations

from multiprocessing.reduction import ForkingPickler
from types import ModuleType
from typing import Any


def by_value(torch: ModuleType) -> None:
    """Send tensors between processes as arrays through the pipe that is open already.

    `torch` is the imported package. It would open a named socket for each tensor otherwise, and where sockets of
    others lie open, the sandbox refuses to connect. Registers a function and makes no tensor: a parent may call it.
    """

    def reduce(tensor: Any) -> tuple[Any, tuple[Any]]:
        return torch.from_numpy, (tensor.detach().cpu().numpy(),)

    ForkingPickler.register(torch.Tensor, reduce)
