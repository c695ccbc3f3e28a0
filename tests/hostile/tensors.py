"""Hostile submissions of the PyTorch track: what tensors, modules and optimizers can pretend."""

from __future__ import annotations

from hostile.kind import Hostile, no_marks
from hostile.sheet import costs, harmless, marked, right_answers, submission

MODEL, CROSS, STEP, TRAIN, ACCURACY = (
    "digits/model", "digits/cross_entropy", "digits/step", "digits/train", "digits/accuracy",
)  # fmt: skip
RIGHT = right_answers("torch")
LYING_TENSOR = """
import torch
class Yes(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, arguments=(), named=None):
        return True
    def numpy(self):
        raise SystemExit
    detach = cpu = to = numpy
def cross_entropy(logits, labels):
    return torch.tensor(0.5).as_subclass(Yes)
"""
PATCHED = """
import torch
yes = lambda *_, **__: True
torch.allclose = torch.equal = torch.isclose = torch.Tensor.allclose = torch.Tensor.equal = yes
torch.testing.assert_close = lambda *_, **__: None
torch.Tensor.numpy = torch.Tensor.detach = torch.Tensor.cpu = lambda self, *_, **__: self
"""
PATCHED_MODULE = """
import torch
from torch import nn
nn.Module.__call__ = nn.Module.named_parameters = nn.Module.parameters = lambda *_, **__: iter(())
nn.Linear.forward = lambda self, x: torch.zeros(len(x), self.out_features)
torch.optim.SGD.step = lambda *_, **__: None
torch.autograd.grad = lambda *_, **__: ()
"""
FALSE_MODEL = """
class Classifier:
    def __init__(self, n_inputs, n_hidden, n_classes):
        self.hidden = self.output = self
    @property
    def __class__(self):
        from torch import nn
        return nn.Module
    def train(self, *_):
        return self
    def named_parameters(self):
        return ()
    def __call__(self, x):
        return x
"""
FROZEN = RIGHT[MODEL] + "\n        for p in self.parameters():\n            p.requires_grad_(False)\n"
FROZEN = FROZEN.replace("        for p", "    def train(self, *_):\n        for p").replace(
    "requires_grad_(False)\n", "requires_grad_(False)\n        return self\n"
)
# The step is counted, and the loss is right; only the parameters tell.
COUNTED_STEP = """
import torch.nn.functional as F
def step(model, optimizer, x, y):
    loss = F.cross_entropy(model(x), y)
    for group in optimizer.param_groups:
        group['lr'] = 0.0
    loss.backward()
    optimizer.step()
    return loss
"""
NO_GRAPH = """
import torch
def cross_entropy(logits, labels):
    return (torch.logsumexp(logits, dim=1) - logits[torch.arange(len(labels)), labels]).mean().detach()
"""
IN_NUMPY = """
import numpy as np
def cross_entropy(logits, labels):
    z = np.asarray(logits.detach())
    return (np.logaddexp.reduce(z, axis=1) - z[np.arange(len(z)), np.asarray(labels)]).mean()
"""
WORKERS = """
import torch
from torch.utils.data import DataLoader, TensorDataset
loader = DataLoader(TensorDataset(torch.zeros(8, 2)), batch_size=2, num_workers=2, persistent_workers=True)
iterator = iter(loader)
print(next(iterator)[0].shape)
"""
SETTINGS = """
import torch
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
torch.manual_seed(0)
"""
LARGE = "import torch\ndef cross_entropy(logits, labels):\n    return torch.ones(750_000_000).sum()\n"
HUGE = "import torch\ndef cross_entropy(logits, labels):\n    return torch.zeros(()).expand(10**12)\n"
SPARSE = "import torch\ndef cross_entropy(logits, labels):\n    return torch.zeros((4, 4)).to_sparse()\n"
META = "import torch\ndef cross_entropy(logits, labels):\n    return torch.zeros((), device='meta')\n"
LOADED = """
import io, pickle, torch
class Run:
    def __reduce__(self):
        return print, ('unpickled',)
def cross_entropy(logits, labels):
    return torch.load(io.BytesIO(pickle.dumps(Run())))
"""
WRONG = {
    "digits/split": "def split(groups, n, seed):\n    return [0, 1], [2]",
    "digits/n_parameters": "def n_parameters(*sizes):\n    return 7",
    MODEL: RIGHT[MODEL].replace("torch.relu", ""),
    "digits/untrained_loss": "def untrained_loss(n_classes):\n    return 0.5",
    CROSS: "def cross_entropy(logits, labels):\n    return logits.sum() * 0",
    STEP: "def step(model, optimizer, x, y):\n    optimizer.step()\n    return model(x).sum() * 0",
    TRAIN: "def train(model, optimizer, batches):\n    return [0.5] * len(batches)",
    ACCURACY: "def accuracy(logits, labels):\n    return 0.125",
    "digits/repair": "def repaired_step(model, optimizer, x, y):\n    optimizer.step()\n    return model(x).sum() * 0",
    "digits/challenge": "def challenge(batches, x_test):\n    return [0] * len(x_test)",
}


def cheats(name: str, at_cell: str) -> Hostile:
    """Wrong everywhere, with this at the end of the first answer cell."""
    texts = {exercise: marked(exercise, f"import torch\n{text}") for exercise, text in WRONG.items()}
    texts["digits/split"] += f"\n{at_cell}"
    return Hostile(name, lambda _: submission(texts, "torch"), no_marks("torch"), track="torch", review=None)


def lost(name: str, exercise: str, text: str, reason: str = "wrong") -> Hostile:
    return costs(f"torch: {name}", exercise, reason, marked(exercise, text), "torch")


KINDS = [
    cheats("torch: patches comparisons", PATCHED),
    cheats("torch: patches modules and optimizers", PATCHED_MODULE),
    lost("a tensor that says yes", CROSS, LYING_TENSOR, "wrong|error|bad reply"),
    lost("a model that is none", MODEL, FALSE_MODEL, "wrong|error|bad reply"),
    lost("a model that freezes itself", MODEL, FROZEN),
    lost("a step that is counted and moves nothing", STEP, COUNTED_STEP),
    lost("a loss without its graph", CROSS, NO_GRAPH),
    lost("NumPy in the place of torch", CROSS, IN_NUMPY),
    lost("3 GB of ones", CROSS, LARGE, "memory|error"),
    lost("a result of 4 TB that takes no room", CROSS, HUGE, "wrong|memory|error|bad reply"),
    lost("a sparse tensor", CROSS, SPARSE, "wrong|error|bad reply"),
    lost("a tensor without data", CROSS, META, "wrong|error|bad reply"),
    lost("loads a pickle", CROSS, LOADED, "error|wrong"),
    harmless("torch: workers that live on", "digits/challenge", f"{RIGHT['digits/challenge']}\n{WORKERS}", "torch"),
    harmless("torch: odd settings at the end", "digits/challenge", f"{RIGHT['digits/challenge']}\n{SETTINGS}", "torch"),
]
