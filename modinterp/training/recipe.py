"""Define recipes: all settings of how a network is trained, with their allowed values."""

from __future__ import annotations

from dataclasses import dataclass, field

from modinterp.arguments import COUNT, FACTOR, PART, SIZE, Limits, check_fields
from modinterp.tasks.task import SHUFFLES

CHOICES = {
    "shuffle": tuple(SHUFFLES),
    "batches": ("full", "fixed", "shuffled", "fresh", "permuted"),
    "decay": ("decoupled", "coupled"),
    "loss_dtype": ("float64", "float32", "float16"),
    "l1_of": ("sum", "mean"),
    "grokfast_start": ("zero", "gradient"),
    "optimiser": ("adamw", "sgd"),
}
MOST_SPECTRA = 1000
MOST_ROWS = 10**5  # of history, all of which is in every state
MOST_SNAPSHOTS = 140_000  # of a run, the checksums of all of which are in its record
MOST_EPOCHS = 10**15 - 1  # the number in the name of a snapshot


@dataclass(frozen=True)
class Recipe:
    """The settings of a training; the defaults are those of Nanda et al. 2023, section 3 and the released code.

    Attributes:
        epochs: number of optimiser steps; with full batches, a step is an epoch.
        fraction: share of the task's inputs used for training, in (0, 1]; the other inputs are held out.
        shuffle: the permutation of the inputs before they are split, a key of `modinterp.tasks.task.SHUFFLES`.
        batches: `full`, all training inputs at every step; `fixed`, the training inputs cut once into batches that
            alternate; `shuffled`, random training inputs; `fresh`, random inputs of the task; `permuted`, a new random
            order of the training inputs for each pass, cut into batches.
        batch_size: number of inputs in a batch; 0 for full batches.
        optimiser: `adamw`, or `sgd` for plain gradient descent without momentum.
        lr, weight_decay: learning rate, and weight decay, which applies to every weight.
        decay: `decoupled`, or `coupled` for Adam, to whose gradient `weight_decay` times the weights is added.
        decay_until: number of steps after which weight decay stops; 0 for weight decay throughout.
        betas, eps: the other settings of AdamW.
        lr_end, lr_stairs: if `lr_stairs` is not 0, the training has this many equal parts. The learning rate falls
            linearly from part to part of the training, and is `lr_end` in the last part.
        warmup: steps over which the learning rate rises linearly from 0.
        l1, l1_of: `l1` times the `sum` or the `mean` of the absolute values of all weights is added to the loss.
        dropout: share of the neurons that a step sets to 0, drawn separately for every input; other neurons are scaled
            up.
        residual_dropout: share of residual dimensions that a step sets to 0 after each sub-layer, the same for all
            inputs.
        grokfast, grokfast_alpha, grokfast_start: each gradient gets `grokfast` times the moving average of the
            gradients in addition. The moving average decays with the factor `grokfast_alpha`, and begins at `zero` or
            at the first `gradient`.
        loss_dtype: floating dtype in which the log-softmax of the loss is computed.
        stop_at, settle: if `stop_at` [nats] is not 0, training ends `settle` epochs after the test loss first reaches
            it.
        log_every, snapshot_every: epochs between two rows of history, and between two snapshots.
        spectra_every: epochs, a multiple of log_every, between two entries of the log of activations
            (`modinterp.activations.spectra`); 0 for none. The setting `spectra_every` does not change the training:
            recipes that differ only in it are equal.
    """

    epochs: int = 40_000
    fraction: float = 0.3
    shuffle: str = "python"
    batches: str = "full"
    batch_size: int = 0
    lr: float = 1e-3
    weight_decay: float = 1.0
    betas: tuple[float, float] = (0.9, 0.98)
    eps: float = 1e-8
    warmup: int = 10
    l1: float = 0.0
    l1_of: str = "sum"
    dropout: float = 0.0
    residual_dropout: float = 0.0
    grokfast: float = 0.0
    grokfast_alpha: float = 0.98
    grokfast_start: str = "zero"
    loss_dtype: str = "float64"
    stop_at: float = 0.0
    settle: int = 0
    log_every: int = 20
    snapshot_every: int = 100
    spectra_every: int = field(default=0, compare=False)
    optimiser: str = "adamw"
    decay: str = "decoupled"
    lr_end: float = 0.0
    lr_stairs: int = 0
    decay_until: int = 0

    def __post_init__(self) -> None:
        whole = dict.fromkeys(("batch_size", "warmup", "settle", "spectra_every", "lr_stairs", "decay_until"), COUNT)
        rates = dict.fromkeys(("lr", "lr_end", "weight_decay", "eps", "l1", "grokfast", "stop_at"), COUNT)
        shares = dict.fromkeys(("betas", "dropout", "residual_dropout", "grokfast_alpha"), FACTOR)
        every = {"log_every": SIZE, "snapshot_every": SIZE, "fraction": PART}
        check_fields(self, epochs=Limits(0, MOST_EPOCHS), **whole, **rates, **shares, **every, **CHOICES)
        if (rows := self.epochs // self.log_every) > MOST_ROWS:
            raise ValueError(f"the history would have {rows:,} rows, more than {MOST_ROWS:,}; give a larger log_every")
        if (snapshots := self.epochs // self.snapshot_every) > MOST_SNAPSHOTS:
            raise ValueError(
                f"the run would have {snapshots:,} snapshots, more than {MOST_SNAPSHOTS:,}; give a larger "
                "snapshot_every"
            )
        if (self.batches == "full") != (self.batch_size == 0):
            raise ValueError(f"batches={self.batches} contradicts batch_size={self.batch_size}")
        if self.spectra_every % self.log_every:
            raise ValueError(
                f"spectra_every must be a multiple of log_every, got {self.spectra_every}, {self.log_every}"
            )
        if self.epochs > self.spectra_every * MOST_SPECTRA > 0:
            raise ValueError(
                f"spectra are logged at most {MOST_SPECTRA:,} times; "
                f"{self.epochs:,} epochs with one every {self.spectra_every:,} would be more"
            )
