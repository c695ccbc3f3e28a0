"""Answers of lesson 04 in the fastai track."""

import torch.nn.functional as F
from fastai.callback.core import Callback
from fastai.learner import Learner
from fastai.optimizer import SGD, Adam
from fastai.torch_core import params


class Keep(Callback):
    def before_fit(self):
        self.values = []

    def after_batch(self):
        if self.training:
            self.values.append(self.loss.item())


def body_and_head(model):
    return [params(model.hidden), params(model.output)]


def head_and_body(model):
    return [params(model.output), params(model.hidden)]


def learner(dls, model, splitter=body_and_head, opt_func=SGD):
    return Learner(dls, model, loss_func=F.cross_entropy, opt_func=opt_func, splitter=splitter, cbs=Keep())


def fitted(learn, rate):
    with learn.no_logging():
        learn.fit(1, rate)
    return learn.keep.values


# --- freeze ----------------------------------------------------------------------------------------------------------
def frozen(dls, model, learning_rate):
    learn = learner(dls, model)
    learn.freeze()
    return fitted(learn, learning_rate)


def frozen_to_one(dls, model, learning_rate):
    learn = learner(dls, model)
    learn.freeze_to(1)
    return fitted(learn, slice(learning_rate))


def switched_off(dls, model, learning_rate):
    model.hidden.requires_grad_(False)
    return fitted(learner(dls, model, lambda model: [params(model.output)]), learning_rate)


def not_frozen(dls, model, learning_rate):
    return fitted(learner(dls, model), learning_rate)


def no_splitter(dls, model, learning_rate):
    learn = Learner(dls, model, loss_func=F.cross_entropy, opt_func=SGD, cbs=Keep())
    learn.freeze()
    return fitted(learn, learning_rate)


def wrong_group(dls, model, learning_rate):
    learn = learner(dls, model, head_and_body)
    learn.freeze()
    return fitted(learn, learning_rate)


def unfrozen_again(dls, model, learning_rate):
    learn = learner(dls, model)
    learn.freeze()
    learn.unfreeze()
    return fitted(learn, learning_rate)


def with_adam(dls, model, learning_rate):
    learn = learner(dls, model, opt_func=Adam)
    learn.freeze()
    return fitted(learn, learning_rate)


def recorder_losses(dls, model, learning_rate):
    learn = learner(dls, model)
    learn.freeze()
    fitted(learn, learning_rate)
    return [float(loss) for loss in learn.recorder.losses]


def no_learner(dls, model, learning_rate):
    return [F.cross_entropy(model(x), y).item() for x, y in dls.train]


# --- two rates -------------------------------------------------------------------------------------------------------
def as_a_slice(dls, model, body_rate, head_rate):
    return fitted(learner(dls, model), slice(body_rate, head_rate))


def as_a_list(dls, model, body_rate, head_rate):
    return fitted(learner(dls, model), [body_rate, head_rate])


def groups_turned(dls, model, body_rate, head_rate):
    return fitted(learner(dls, model, head_and_body), [head_rate, body_rate])


def one_rate(dls, model, body_rate, head_rate):
    return fitted(learner(dls, model), head_rate)


def swapped(dls, model, body_rate, head_rate):
    return as_a_slice(dls, model, head_rate, body_rate)


def one_group(dls, model, body_rate, head_rate):
    return fitted(Learner(dls, model, loss_func=F.cross_entropy, opt_func=SGD, cbs=Keep()), slice(body_rate, head_rate))


def body_frozen(dls, model, body_rate, head_rate):
    return frozen(dls, model, head_rate)


RIGHT = {
    "transfer/freeze": [frozen, frozen_to_one, switched_off],
    "transfer/two_rates": [as_a_slice, as_a_list, groups_turned],
    "transfer/repair": [frozen, frozen_to_one],
}
WRONG = {
    "transfer/freeze": [
        (not_frozen, "to the last bit"),
        (no_splitter, "to the last bit"),
        (wrong_group, "to the last bit"),
        (unfrozen_again, "to the last bit"),
        (with_adam, "losses"),
        (recorder_losses, "losses"),
        (no_learner, "no Learner took a step"),
    ],
    "transfer/two_rates": [
        (one_rate, "losses"),
        (swapped, "losses"),
        (one_group, "losses"),
        (body_frozen, "losses"),
    ],
    "transfer/repair": [
        (no_splitter, "to the last bit"),
        (wrong_group, "to the last bit"),
        (not_frozen, "to the last bit"),
    ],
}
