"""Section 4.2 and table 1: W_L reads cos and sin of w_k(a + b) off the neurons."""

from __future__ import annotations

from statistics import mean

from modinterp.claims.band import at_least, at_most, equals
from modinterp.claims.claim import Claim, Measure, Value
from modinterp.claims.evidence import evidence
from modinterp.runs import TrainedRun


def _rank(run: TrainedRun) -> dict[str, Value]:
    rank = evidence(run).low_rank
    return {"rank 2|K|": rank.rank, "next over last singular value": rank.drop, "share of the squared norm": rank.kept}


def _residual(run: TrainedRun) -> dict[str, Value]:
    rank = evidence(run).low_rank
    return {"squared residual over squared norm": rank.residual_energy, "residual over norm": rank.residual_norm}


def _all_directions(run: TrainedRun) -> dict[str, Value]:
    explained = [row.explained for row in evidence(run).readoff.rows]
    return {"lowest FVE": min(explained), "mean FVE": mean(explained)}


def _logit_fve(run: TrainedRun) -> dict[str, Value]:
    fit = evidence(run).logit_fit
    return {"FVE": fit.explained, "FVE, not centred": fit.explained_raw, "FVE, each input centred": fit.explained_by_row,
            "FVE, each input and class centred": fit.explained_by_row_and_class}  # fmt: skip


def _approximation(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    changed = ev.changed(ev.logit_fit.logits(ev.p).to(ev.logits.device))
    return {"test loss over original": changed.test_loss_ratio, "accuracy": changed.accuracy, "test loss": changed.test_loss}  # fmt: skip


def _no_skip(run: TrainedRun) -> dict[str, Value]:
    ev = evidence(run)
    changed = ev.changed(ev.post @ ev.W_L.double())
    return {"accuracy": changed.accuracy, "loss over original": changed.loss_ratio}


def _table_1(wave: str) -> Measure:
    def measure(run: TrainedRun) -> dict[str, Value]:
        rows = [row for row in evidence(run).readoff.rows if row.wave == wave]
        return {
            "lowest FVE": min(row.explained for row in rows),
            "two products largest": mean(row.two_largest for row in rows),
            "largest imbalance": max(row.imbalance for row in rows),
            "signs right": mean(row.sign_right for row in rows),
        }

    return measure


def _table_1_claim(wave: str, freq: int, first: float, second: float, approximately: float, fve: float) -> Claim:
    products = ("cos cos", "sin sin") if wave == "cos" else ("sin cos", "cos sin")
    return Claim(
        f"nanda.table1.{wave}{freq}",
        "section 4.2, table 1",
        f"Along the W_L direction of {wave}(w_{freq} c) the neurons carry two products of equal size that make {wave}(w_{freq}(a + b)). "
        f"Measured on every {wave} direction of this run's own key frequencies.",
        f"{first} {products[0]} {second:+} {products[1]}, about {approximately} {wave}(w_{freq}(a + b)), FVE {fve}",
        _table_1(wave),
        {
            "lowest FVE": at_least(0.85, f"{fve} here, 0.932 is the table's lowest; other networks vary"),
            "two products largest": equals(1, "the two products are the row's terms"),
            "largest imbalance": at_most(0.1, f"sizes {abs(first)} and {abs(second)} here"),
            "signs right": equals(1, "(+, -) for cos, (+, +) for sin"),
        },
        figure="readoff",
    )


CLAIMS = (
    Claim(
        "nanda.s42.rank10",
        "section 4.2, equation 2",
        "W_L has rank 2|K| in effect: a cosine and a sine direction for every key frequency.",
        "10 for 5 frequencies",
        _rank,
        {
            "next over last singular value": at_most(
                0.35, "a clear drop; 3.0 over 13.5 in a network that the authors archived"
            ),
            "share of the squared norm": at_least(0.98, "0.995 in that network"),
        },
        figure="spectra",
    ),
    Claim(
        "nanda.s42.wl_residual",
        "section 4.2",
        "What W_L has beside a cosine and a sine direction for every key frequency is small; the paper says norm, and may mean its square.",
        "below 0.0055",
        _residual,
        {
            "squared residual over squared norm": at_most(
                0.01, "0.0055 in the paper if squared, 0.0099 in an archived network"
            )
        },
        figure="spectra",
    ),
    Claim(
        "nanda.s42.dot_products_90",
        "section 4.2",
        "Along each direction that W_L reads at a key frequency the neurons are a multiple of cos or sin(w_k(a + b)).",
        "more than 0.90 of the variance (lowest in table 1: 0.932)",
        _all_directions,
        {
            "lowest FVE": at_least(0.85, "0.932 in the paper, other networks vary"),
            "mean FVE": at_least(0.92, "0.962 is the mean of table 1"),
        },
        figure="readoff",
    ),
    Claim(
        "nanda.s42.logit_fve",
        "section 4.2",
        "The logits are a sum over key frequencies of alpha_k cos(w_k(a + b - c)), one number a frequency.",
        "0.95",
        _logit_fve,
        {"FVE": at_least(0.90, "0.95 in the paper, 0.975 in an archived network")},
        figure="readoff",
    ),
    Claim(
        "nanda.s42.logit_approx_loss",
        "section 4.2",
        "Putting the sum over key frequencies of alpha_k cos(w_k(a + b - c)) in place of the logits lowers the test loss.",
        "2.4e-7 to 4.7e-8, ratio 0.196",
        _approximation,
        {
            "test loss over original": at_most(1, "the direction is the claim"),
            "accuracy": at_least(0.999, "the sum still solves the task"),
        },
    ),
    Claim(
        "nanda.s42.no_skip_approx",
        "section 3, equation 3; appendix A.1",
        "The logits are W_L times the neurons; what goes around the MLP can be left out.",
        "accuracy unchanged",
        _no_skip,
        {"accuracy": at_least(0.999, "unchanged from 1")},
    ),
    _table_1_claim("cos", 14, 44.6, -43.6, 44.1, 0.932),
    _table_1_claim("sin", 14, 44.1, 44.1, 44.1, 0.935),
    _table_1_claim("cos", 35, 40.7, -43.6, 42.2, 0.968),
    _table_1_claim("sin", 35, 41.8, 41.8, 41.8, 0.965),
    _table_1_claim("cos", 41, 44.8, -44.8, 44.8, 0.970),
    _table_1_claim("sin", 41, 44.5, 44.5, 44.5, 0.970),
    _table_1_claim("cos", 42, 64.6, -68.5, 66.6, 0.964),
    _table_1_claim("sin", 42, 67.8, 67.8, 67.8, 0.964),
    _table_1_claim("cos", 52, 60.5, -65.5, 63.0, 0.974),
    _table_1_claim("sin", 52, 64.5, 64.5, 64.5, 0.982),
)
