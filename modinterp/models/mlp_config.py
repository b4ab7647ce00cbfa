"""Define configurations of networks of hidden layers on pairs: shape, biases and initialisation."""

from __future__ import annotations

import math
from dataclasses import dataclass

from modinterp.arguments import POSITIVE
from modinterp.models.base_config import BaseConfig, check_config
from modinterp.tasks import Task

JOINED = {
    "sum": "W_in (E_a + E_b) + b_in",
    "sum after W_in": "(W_in E_a + b_in) + (W_in E_b + b_in)",
    "concatenated": "W_in [E_a; E_b] + b_in",
}

MLP_INITS = {
    "1/sqrt(rows)": "standard deviation 1/sqrt(number of rows) for every matrix",
    "1/sqrt(width)": (
        "standard deviation 1/sqrt(d_model) for W_E and 1/sqrt(number of rows) for other matrices, as in "
        "Kissane's notebook and the code of Chughtai et al. 2023"
    ),
    "linear": "W_E sqrt(2 / d_mlp), W_U 1/sqrt(d_mlp), W_in and b_in uniform up to 1/sqrt(rows of W_in), as those of "
    "torch.nn.Linear: the linear models of Zhong et al. 2023",
    "left-facing": "every matrix 1/sqrt(d_model), each drawn as code of column vectors has it: W_E [d_model, d_vocab], "
    "W_in [d_mlp, d_model], W_U [d_vocab_out, d_mlp]; W_E is not scaled by init_scale",
    "single frequency": (
        "every neuron reads and writes one cosine of amplitude init_scale, with independent phases; all "
        "frequencies are equally common"
    ),
}


@dataclass(frozen=True)
class MLPConfig(BaseConfig):
    """The configuration of a network without attention: logits = W_U act(... act(pre)) + b_U.

    The first pre-activation `pre` combines the two embeddings as `joined` says. The default fields are those of
    Kissane's notebook on modular addition with a one-hidden-layer MLP. The linear models of Zhong et al. 2023 have
    biases and the initialisation "linear". The linear model alpha of Zhong et al. has one layer on the sum of the
    embeddings, beta two layers, and gamma two layers on the sum after W_in. The linear model delta of Zhong et al. has
    one layer on the concatenation, with embeddings of half the width. The model X of Zhong et al. is their model alpha
    with a vocabulary for each number. The MLP of Chughtai et al. 2023 has a vocabulary for each number and one layer on
    the concatenation, without biases.

    Attributes:
        d_mlp: number of neurons of each hidden layer.
        joined: how the first layer combines the two embeddings, a key of `JOINED`.
        mlp_biases, unembed_bias: True if the hidden layers and the unembedding have biases.
        init: kind of the initial weights, a key of `MLP_INITS`.
        one_hot: True if the first layer reads one-hot tokens. A one-hot network has no weight W_E, and d_model equals
            d_vocab.
        init_scale: factor of all initial matrices except W_E.
    """

    d_vocab: int
    d_vocab_out: int
    n_ctx: int = 2
    d_model: int = 128
    d_mlp: int = 512
    act_fn: str = "relu"
    n_layers: int = 1
    joined: str = "sum"
    mlp_biases: bool = False
    unembed_bias: bool = False
    init: str = "1/sqrt(rows)"
    one_hot: bool = False
    init_scale: float = 1.0

    def __post_init__(self) -> None:
        check_config(self, joined=JOINED, init=MLP_INITS, init_scale=POSITIVE)
        if self.one_hot and self.d_model != self.d_vocab:
            raise ValueError(f"a network of one-hot tokens must have d_model {self.d_vocab}, got {self.d_model}")
        if self.init == "single frequency" and not self._holds_cosines:
            raise ValueError(
                "init 'single frequency' needs a network of one layer without biases that reads the sum of "
                "one-hot tokens"
            )

    @property
    def _holds_cosines(self) -> bool:
        """True if the network has two matrices, one from residues to neurons and one from neurons to residues."""
        biases = self.mlp_biases or self.unembed_bias
        return self.one_hot and self.joined == "sum" and self.n_layers == 1 and not biases

    @classmethod
    def of(cls, task: Task, **sizes: int | float | str | bool) -> MLPConfig:
        """Return a configuration whose vocabulary and outputs fit the task; other fields may be given.

        If `one_hot` is True, d_model is by default the size of the vocabulary.
        """
        sizes = ({"d_model": task.d_vocab} if sizes.get("one_hot") else {}) | sizes
        return cls(task.d_vocab, sum(task.output_sizes), task.n_ctx, **sizes)  # type: ignore[arg-type]

    @property
    def n_heads(self) -> int:
        """The number of heads, 0, since the network has no attention; TransformerLens needs this attribute."""
        return 0

    @property
    def attn_only(self) -> bool:
        """False, since the network has an MLP; TransformerLens needs this attribute."""
        return False

    @property
    def summary(self) -> str:
        """The network's shape in a few words, short enough for a table."""
        layers = f"{self.n_layers} x " * (self.n_layers > 1)
        width = "one-hot" if self.one_hot else f"d {self.d_model}"
        return f"pair mlp, {width}, mlp {layers}{self.d_mlp}"

    @property
    def forward_pass(self) -> str:
        """Text that describes the parts of the forward pass that no weight shows."""
        return f"{JOINED[self.joined]}, {self.act_fn} neurons"

    @property
    def bias_count(self) -> int:
        """How many times the bias of the first layer is added: once, or once for each of the two embeddings."""
        return self.n_ctx if self.joined == "sum after W_in" else 1

    def labelled(self) -> MLPConfig:
        """Return the configuration itself: every output of a pair MLP is the answer to some input."""
        return self

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every weight, by HookedTransformer's names and in its orientations.

        >>> MLPConfig(d_vocab=5, d_vocab_out=5, d_model=4, d_mlp=8).shapes()
        {'embed.W_E': (5, 4), 'blocks.0.mlp.W_in': (4, 8), 'unembed.W_U': (8, 5)}
        """
        shapes: dict[str, tuple[int, ...]] = {} if self.one_hot else {"embed.W_E": (self.d_vocab, self.d_model)}
        rows = self.d_model * (self.n_ctx if self.joined == "concatenated" else 1)
        for layer in range(self.n_layers):
            shapes[f"blocks.{layer}.mlp.W_in"] = (self.d_mlp if layer else rows, self.d_mlp)
            if self.mlp_biases:
                shapes[f"blocks.{layer}.mlp.b_in"] = (self.d_mlp,)
        shapes["unembed.W_U"] = (self.d_mlp, self.d_vocab_out)
        return shapes | ({"unembed.b_U": (self.d_vocab_out,)} if self.unembed_bias else {})

    @property
    def uniform(self) -> tuple[str, ...]:  # type: ignore[override]
        """Names of the weights and biases with a uniform instead of a normal initial distribution."""
        return tuple(name for name in self.shapes() if ".mlp." in name) if self.init == "linear" else ()

    def scales(self) -> dict[str, float]:
        """Return the standard deviation of every initial weight. See `MLP_INITS`."""
        shapes = self.shapes()
        scales = {name: 1 / math.sqrt(shape[0]) for name, shape in shapes.items()}
        if self.init == "1/sqrt(width)":
            scales["embed.W_E"] = 1 / math.sqrt(self.d_model)
        elif self.init == "linear":
            scales["embed.W_E"] = math.sqrt(2 / self.d_mlp)
            rows = {name: shapes[name.replace("b_in", "W_in")][0] for name in self.uniform}
            scales |= {name: 1 / math.sqrt(3 * n) for name, n in rows.items()}  # of a uniform one: its bound / sqrt(3)
        elif self.init == "left-facing":
            scales = dict.fromkeys(shapes, 1 / math.sqrt(self.d_model))
        elif self.init == "single frequency":
            scales = dict.fromkeys(shapes, math.sqrt(0.5))  # of a cosine of amplitude 1
        scaled = {name: self.init_scale * scale for name, scale in scales.items() if name != "embed.W_E"}
        return {name: scaled.get(name, scales[name]) for name in shapes}
