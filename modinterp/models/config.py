"""Define configurations of transformers: shape, forward pass and initialisation, with checks of every field."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from modinterp.arguments import SHARE, SIZE, Limits
from modinterp.models.base_config import MOST_UNITS, BaseConfig, check_config
from modinterp.models.mlp_config import MLPConfig
from modinterp.tasks import Task

INITS = {
    "1/sqrt(d_model)": (
        "standard deviation 1/sqrt(d_model) for every matrix, also W_out, and 1/sqrt(d_vocab) for W_U, as in "
        "the code of Nanda et al. 2023"
    ),
    "left-facing": (
        "as the initialisation 1/sqrt(d_model), drawn in the order and orientation of the code of Nanda et al. "
        "2023: W_E [d_model, d_vocab], W_pos, W_K, W_Q, W_V [head, d_head, d_model], W_O [d_model, head "
        "d_head], W_in, W_out, W_U"
    ),
    "he": (
        "standard deviation sqrt(2 / fan in), where all heads and all tasks count as inputs, as in the code of "
        "Syrkis & Søgaard 2024"
    ),
    "W_in 1/sqrt(d_mlp)": (
        "as the initialisation 1/sqrt(d_model), but 1/sqrt(d_mlp) for W_in, as in the code of Zhong et al. 2023"
    ),
    "0.8/sqrt(d_model)": "standard deviation 0.8/sqrt(d_model) for every matrix, the default of HookedTransformer",
}

# LayerNorm and RMSNorm, with weights of their own or without; see `modinterp.models.normalisation`
NORMALISATIONS: dict[str, tuple[str, ...]] = {"LN": ("w", "b"), "LNPre": (), "RMS": ("w",), "RMSPre": ()}


@dataclass(frozen=True)
class TransformerConfig(BaseConfig):
    """The configuration of a transformer, with or without normalisation; fields are named as in HookedTransformer.

    Attributes:
        d_mlp: neurons per layer; None for a network without MLPs.
        attention_rate: share r of softmax in the attention pattern, r softmax + (1 - r) for every visible position. An
            attention rate of 1 is softmax attention, and 0 is constant attention (Zhong et al. 2023, section 2.2).
        causal: True if a position attends only to itself and to earlier positions.
        normalization_type: normalisation before attention, MLP and unembedding, a key of `NORMALISATIONS`; None for no
            normalisation.
        act_fn: the nonlinearity of the neurons, a key of `ACTIVATIONS`.
        positional: True if a learned position embedding is added to the token embedding.
        attn_biases, mlp_biases, unembed_bias: True if the attention, the MLPs and the unembedding have biases. Networks
            of Nanda et al. 2023 only have MLP biases.
        init: kind of the initial weights, a key of `INITS`.
        n_tasks: number of classifiers that share W_U; it sets the initial scale of W_U if `init` is "he".
        unlabelled_outputs: number of extra columns of W_U, beyond `d_vocab_out`. Unlabelled outputs are in the softmax
            of the training, but are never the answer, like the output for "=" in the released code of Nanda et al.
            2023. The configuration `labelled` leaves the unlabelled outputs out.
    """

    d_vocab: int
    d_vocab_out: int
    n_ctx: int
    n_layers: int = 1
    d_model: int = 128
    n_heads: int = 4
    d_head: int = 32
    d_mlp: int | None = 512
    act_fn: str = "relu"
    positional: bool = True
    attn_biases: bool = False
    mlp_biases: bool = True
    unembed_bias: bool = False
    init: str = "1/sqrt(d_model)"
    n_tasks: int = 1
    unlabelled_outputs: int = 0
    attention_rate: float = 1.0
    causal: bool = True
    normalization_type: str | None = None

    def __post_init__(self) -> None:
        limits = {"n_tasks": SIZE, "unlabelled_outputs": Limits(0, MOST_UNITS), "attention_rate": SHARE}
        limits |= {"normalization_type": NORMALISATIONS}
        check_config(self, init=INITS, **limits)
        if (unlabelled := self.unlabelled_outputs) and self.n_tasks > 1:
            raise ValueError(
                f"unlabelled_outputs must be a number of additional columns of one task, got {unlabelled!r}"
            )

    @classmethod
    def of(cls, task: Task, **sizes: int | float | str | bool | None) -> TransformerConfig:
        """Return a configuration whose vocabulary, outputs and context fit the task; other fields may be given."""
        sizes = {"n_tasks": len(task.output_sizes)} | sizes
        return cls(task.d_vocab, sum(task.output_sizes), task.n_ctx, **sizes)  # type: ignore[arg-type]

    @property
    def attn_only(self) -> bool:
        """True if the network has attention and no MLP."""
        return self.d_mlp is None

    @property
    def summary(self) -> str:
        """The network's shape in a few words, short enough for a table.

        >>> TransformerConfig(d_vocab=114, d_vocab_out=113, n_ctx=3).summary
        '1 layer, d 128, 4 x 32, mlp 512'
        """
        kinds = [f"{self.n_layers} layer{'s' * (self.n_layers > 1)}", f"d {self.d_model}"]
        kinds.append(f"{self.n_heads} x {self.d_head}")
        kinds.append(f"mlp {self.d_mlp}" if self.d_mlp else "no mlp")
        kinds += [self.normalization_type] if self.normalization_type else []
        return ", ".join(kinds)

    @property
    def forward_pass(self) -> str:
        """Text that describes the parts of the forward pass that no weight shows.

        >>> TransformerConfig(d_vocab=113, d_vocab_out=113, n_ctx=2, attention_rate=0.25, causal=False).forward_pass
        'attention rate 0.25, every position attends to all positions, relu neurons, read at the last position'
        """
        seen = "causal attention" if self.causal else "every position attends to all positions"
        neurons = f"{self.act_fn} neurons, " if self.d_mlp else ""
        return f"attention rate {self.attention_rate:.6g}, {seen}, {neurons}read at the last position"

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every weight, by HookedTransformer's names and in its orientations."""
        m, h, d, norm = self.d_model, self.n_heads, self.d_head, NORMALISATIONS.get(self.normalization_type or "", ())
        shapes: dict[str, tuple[int, ...]] = {"embed.W_E": (self.d_vocab, m)}
        if self.positional:
            shapes["pos_embed.W_pos"] = (self.n_ctx, m)
        for layer in range(self.n_layers):
            block = f"blocks.{layer}."
            shapes |= {f"{block}ln1.{x}": (m,) for x in norm}
            shapes |= {f"{block}attn.W_{x}": (h, m, d) for x in "QKV"} | {f"{block}attn.W_O": (h, d, m)}
            if self.attn_biases:
                shapes |= {f"{block}attn.b_{x}": (h, d) for x in "QKV"} | {f"{block}attn.b_O": (m,)}
            if self.d_mlp is not None:
                shapes |= {f"{block}ln2.{x}": (m,) for x in norm}
                shapes |= {f"{block}mlp.W_in": (m, self.d_mlp), f"{block}mlp.W_out": (self.d_mlp, m)}
                if self.mlp_biases:
                    shapes |= {f"{block}mlp.b_in": (self.d_mlp,), f"{block}mlp.b_out": (m,)}
        shapes |= {f"ln_final.{x}": (m,) for x in norm}
        outputs = self.d_vocab_out + self.unlabelled_outputs
        shapes["unembed.W_U"] = (m, outputs)
        if self.unembed_bias:
            shapes["unembed.b_U"] = (outputs,)
        return shapes

    def labelled(self) -> TransformerConfig:
        """Return the configuration without the outputs that are never the answer; analyses use the resulting
        network.
        """
        return replace(self, unlabelled_outputs=0) if self.unlabelled_outputs else self

    def scales(self) -> dict[str, float]:
        """Return the standard deviation of every initial weight matrix; biases begin at 0. See `INITS`."""
        if self.init == "he":
            return {name: math.sqrt(2 / self._fan_in(name, shape)) for name, shape in self.shapes().items()}
        scale = 1 / math.sqrt(self.d_model)
        if self.init == "0.8/sqrt(d_model)":
            return dict.fromkeys(self.shapes(), 0.8 * scale)
        scales = dict.fromkeys(self.shapes(), scale) | {"unembed.W_U": 1 / math.sqrt(self.d_vocab)}
        if self.init == "W_in 1/sqrt(d_mlp)" and self.d_mlp is not None:
            scales |= {name: 1 / math.sqrt(self.d_mlp) for name in scales if name.endswith(".W_in")}
        return scales

    def _fan_in(self, name: str, shape: tuple[int, ...]) -> int:
        """Return the fan-in of `he_normal` as in the code of Syrkis & Søgaard 2024: rows of the matrices of all heads
        or tasks.

        In W_O this fan-in is the number of inputs of a unit. In W_Q, W_K, W_V and W_U it is several times that number.
        With the rows of one matrix alone, the loss of 29 tasks would begin at 2.4, while the source reports 1.
        """
        return math.prod(shape[:-1]) * (self.n_tasks if name == "unembed.W_U" else 1)


Config = TransformerConfig | MLPConfig
