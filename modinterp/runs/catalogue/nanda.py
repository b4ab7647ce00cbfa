"""The runs of Nanda et al. 2023.

The paper states: one layer, d_model 128, 4 heads of 32, 512 ReLU neurons, no LayerNorm, p = 113, 30% of the pairs,
AdamW with learning rate 1e-3 and weight decay 1, full batch, 40,000 epochs. Its released code adds betas (0.9, 0.98),
10 steps of warm-up, the initialisation, and the split from Python's shuffle. Ours are the order in which the initial
weights are drawn, and 113 outputs where the code trains 114 and drops the one for "=".
"""

from __future__ import annotations

from dataclasses import replace

from modinterp.models import TransformerConfig
from modinterp.runs.catalogue.entry import Entry, family, until
from modinterp.tasks import DigitAddition, RepeatedSubsequence, SkipTrigram, addition
from modinterp.training import Recipe, RunSpec

SEED, EPOCHS, SEEDS = "seed", "recipe.epochs", range(3)
SWEEP = {"log_every": 100, "snapshot_every": 1000}


def _sums(
    stem: str, serves: str, seeds: range = SEEDS, p: int = 113, n_layers: int = 1, ours: tuple[str, ...] = (), **recipe
) -> dict[str, Entry]:
    """Runs of the paper's own network and recipe, but for what is given."""
    task = addition(p)
    model = TransformerConfig.of(task, n_layers=n_layers)
    return family(f"nanda/{stem}", task, model, Recipe(**recipe), serves, seeds, (SEED, *ours))


def _sweeps() -> dict[str, Entry]:
    """Appendices C.2.2, C.2.3 and D.1: what changes when one number does."""
    runs = {}
    for percent in (10, 20, 40, 50, 60, 70, 80, 90):
        serves = "nanda.fig20 fig21 table5.* table6.data_fractions C22.frac_* E1.*"
        runs |= _sums(f"fraction-{percent}", serves, range(1),
                      fraction=percent / 100, ours=() if percent < 40 else (EPOCHS,),
                      **({} if percent < 40 else until(1e-6, 3_000)), **SWEEP)  # fmt: skip
    runs |= _sums("two-layers", "nanda.fig22 fig23 table5.2-layer_* table6.2-layer D2.slingshot2L", range(5),
                  n_layers=2, epochs=20_000, ours=(EPOCHS,), snapshot_every=200)  # fmt: skip
    runs |= _sums("p53-decay-5", "nanda.fig24 table5.P53_* table6.P53", range(5), p=53, weight_decay=5.0,
                  ours=(EPOCHS,), **until(1e-3, 5_000), **SWEEP)  # fmt: skip
    runs |= _sums("p53", "nanda.C22.p53_wd1", p=53, ours=(EPOCHS,), **SWEEP)
    runs |= _sums("p109", "nanda.C22.p109 table5.P109_* table6.P109", range(5), p=109,
                  ours=(EPOCHS,), **until(1e-6, 8_000), **SWEEP)  # fmt: skip
    for decay in (0.3, 0.5, 1, 3, 5, 8):
        runs |= _sums(f"p401-decay-{decay}", "nanda.fig25", range(1), p=401, weight_decay=float(decay), epochs=10_000,
                      ours=(EPOCHS,), **until(1e-2, 200), **SWEEP)  # fmt: skip
    for percent, epochs in ((5, 5_000), (10, 5_000), (20, 4_000)):  # with 20% it is decided by 1,700
        runs |= _sums(f"p401-fraction-{percent}", "nanda.C22.p401_frac", p=401, fraction=percent / 100, epochs=epochs,
                      ours=(EPOCHS,), **until(1e-2, 200), **SWEEP)  # fmt: skip
    runs |= _sums("no-decay", "nanda.fig26 s3.noreg_nogrok", weight_decay=0.0, ours=(EPOCHS,))
    for decay, epochs, seeds in ((0.1, 108_000, range(1)), (0.3, 60_000, SEEDS), (3, 20_000, SEEDS)):
        runs |= _sums(f"decay-{decay}", "nanda.fig27", seeds, weight_decay=float(decay), epochs=epochs, ours=(EPOCHS,),
                      **until(1e-4, 2_000), **SWEEP)  # fmt: skip
    for rate, epochs in ((0.2, 80_000), (0.5, 40_000), (0.8, 40_000)):  # with 0.2 it is on its way at 40,000
        runs |= _sums(f"dropout-{rate}", "nanda.fig28.dropout C23.dropout_not_sparse table5.dropout_* table6.dropout_*",
                      dropout=rate, weight_decay=0.0, epochs=epochs, ours=(EPOCHS,),
                      **until(1e-6, 2_000), **SWEEP)  # fmt: skip
    for of in ("sum", "mean"):
        for strength in (1, 10, 100):
            runs |= _sums(f"l1-{of}-{strength}", "nanda.fig28.l1 D1.l1_less_sparse", l1=float(strength), l1_of=of,
                          weight_decay=0.0, epochs=20_000, ours=(EPOCHS, "recipe.l1_of"), **SWEEP)  # fmt: skip
    for dtype in ("float32", "float16"):
        runs |= _sums(dtype, "nanda.D2.lowprec", loss_dtype=dtype, epochs=20_000, ours=("recipe.loss_dtype", EPOCHS),
                      log_every=10, snapshot_every=1000)  # fmt: skip  # slingshots are short
    return runs


def _half_as_long(spec: RunSpec) -> dict[str, Entry]:
    """Repeated subsequences half as long, within what two cores can do; with more weight decay it does not memorise."""
    task = RepeatedSubsequence(size=1024, length=43, subsequence=8)
    model = TransformerConfig.of(task, n_layers=2, d_model=48, d_head=12, d_mlp=None)
    ours = (*spec.ours, "task.length", "task.subsequence", "recipe.lr", EPOCHS)
    recipe = replace(spec.recipe, lr=3e-3, epochs=100_000, **until(2.0, 5_000))
    return family("nanda/repeated-512-short", task, model, recipe, "nanda.fig32 D3.*", (0,), ours)


def _sequences() -> dict[str, Entry]:
    """Appendix D.3: three more tasks, each with data without end and with few."""
    runs = {}
    every = {"log_every": 10, "snapshot_every": 1000}
    kinds = {"endless": ("fresh", 0.5), "700": ("full", 0.25)}
    for kind, (batches, fraction) in kinds.items():
        task = DigitAddition(size=2800)
        recipe = Recipe(epochs=6_000 if kind == "endless" else 18_000, fraction=fraction, batches=batches,
                        batch_size=256 if kind == "endless" else 0, **every)  # fmt: skip
        runs |= family(f"nanda/digits-{kind}", task, TransformerConfig.of(task), recipe,
                       "nanda.fig29.* D3.*" if kind == "endless" else "nanda.fig30 D3.*", SEEDS,
                       (SEED, "recipe.batch_size", "task.size"))  # fmt: skip
    for kind in ("endless", "512"):
        task = RepeatedSubsequence(size=1024)
        model = TransformerConfig.of(task, n_layers=2, d_model=48, d_head=12, d_mlp=None)
        endless = kind == "endless"
        # endless in batches of 128 alone it stays at half of the answers right
        recipe = Recipe(epochs=6_000 if endless else 285_000, fraction=0.5, batches="fresh" if endless else "fixed",
                        batch_size=512 if endless else 128, betas=(0.9, 0.999), log_every=50 if endless else 100,
                        snapshot_every=1_000 if endless else 5_000)  # fmt: skip
        runs |= family(f"nanda/repeated-{kind}", task, model, recipe,
                       "nanda.fig31 E2.composition D3.*" if endless else "nanda.fig32 D3.*", (0,),
                       (SEED, "task.size", "task.copies"))  # fmt: skip
    runs |= _half_as_long(runs["nanda/repeated-512-0"].spec)
    for kind in ("endless", "512"):
        task = SkipTrigram(size=2048)
        endless = kind == "endless"
        recipe = Recipe(epochs=3_000 if endless else 5_000, fraction=0.25, batches="fresh" if endless else "full",
                        batch_size=512 if endless else 0, **every)  # fmt: skip
        runs |= family(f"nanda/trigram-{kind}", task, TransformerConfig.of(task, d_mlp=None), recipe,
                       "nanda.fig33 D3.*" if endless else "nanda.fig34 D3.*", SEEDS,
                       (SEED, "task.size", "task.length", "recipe.batch_size"))  # fmt: skip
    return runs


RUNS = {
    **_sums("mainline", "nanda.* (main text, appendices A, B, C.1)", range(1)),
    **_sums("mainline", "nanda.fig2.* fig16 fig17 fig18 fig19 table3.* table4.* A1.* s1.* D2.unnecessary", range(1, 5)),
    **_sweeps(),
    **_sequences(),
}
