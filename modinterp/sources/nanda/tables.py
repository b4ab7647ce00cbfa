"""Hold tables 5 and 6 of appendix C.2.3 as the paper prints them, and the names of our runs for each row."""

from __future__ import annotations

from dataclasses import dataclass

PERCENTS = (40, 50, 60, 70, 80, 90)
FRACTIONS = tuple(f"nanda/fraction-{percent}-0" for percent in PERCENTS)


@dataclass(frozen=True)
class Row:
    """A row of table 5 as the paper prints it.

    Attributes:
        key: last part of the id of the row's claim.
        setting: name of the set-up; rows of one set-up share their tolerances.
        run: name of our run that corresponds to the row.
        loss: test loss, as the paper prints it. [nats]
        gini_W_E, gini_W_L: Gini coefficients of the Fourier components of W_E and of W_L.
        freqs: key frequencies of the network. [cycles per p]
        logit_fve: share of the logits' variance that the key frequencies explain, in percent.
        mlp_fve, mlp_sd: share of variance [%] that the key frequencies explain in the neurons along W_L's directions,
            mean and standard deviation.
    """

    key: str
    setting: str
    run: str
    loss: str
    gini_W_E: float
    gini_W_L: float
    freqs: tuple[int, ...]
    logit_fve: float
    mlp_fve: float
    mlp_sd: float


TABLE_5 = (
    Row("40pct_data", "fraction", FRACTIONS[0], "1.98e-7", 0.76, 0.79, (17, 43, 49, 55), 94.9, 83.3, 26.1),
    Row("50pct_data", "fraction", FRACTIONS[1], "1.68e-7", 0.75, 0.77, (2, 17, 31, 41, 44), 91.2, 85.2, 28.2),
    Row("60pct_data", "fraction", FRACTIONS[2], "1.23e-7", 0.79, 0.84, (2, 23, 34, 51), 96.4, 95.7, 1.4),
    Row("70pct_data", "fraction", FRACTIONS[3], "9.85e-8", 0.8, 0.91, (14, 15, 26), 99.0, 98.9, 0.4),
    Row("80pct_data", "fraction", FRACTIONS[4], "5.83e-7", 0.62, 0.8, (38, 41), 63.9, 94.1, 2.5),
    Row("90pct_data", "fraction", FRACTIONS[5], "1.11e-7", 0.79, 0.88, (3, 26, 34, 43), 98.6, 98.7, 0.3),
    Row("2-layer_1", "two-layers", "nanda/two-layers-0", "9.54e-7", 0.59, 0.8, (14, 18, 29), 91.8, 95.2, 1.9),
    Row("2-layer_2", "two-layers", "nanda/two-layers-1", "4.41e-5", 0.55, 0.73, (7, 12, 35, 49), 86.1, 86.2, 6.4),
    Row("2-layer_3", "two-layers", "nanda/two-layers-2", "6.50e-2", 0.66, 0.8, (4, 9, 28), 88.5, 85.4, 5.9),
    Row("2-layer_4", "two-layers", "nanda/two-layers-3", "4.18e-2", 0.56, 0.76, (4, 5, 15, 54), 91.4, 81.2, 17.8),
    Row("2-layer_5", "two-layers", "nanda/two-layers-4", "1.75e-2", 0.68, 0.71, (3, 4, 13, 30, 38), 84.0, 71.9, 19.5),
    Row("P53_1", "p53", "nanda/p53-decay-5-0", "3.00e-4", 0.61, 0.68, (6, 9, 16, 21), 91.2, 90.2, 5.8),
    Row("P53_2", "p53", "nanda/p53-decay-5-1", "1.03e-4", 0.56, 0.72, (4, 13, 16), 94.8, 93.1, 6.4),
    Row("P53_3", "p53", "nanda/p53-decay-5-2", "1.21e-5", 0.66, 0.79, (13, 22, 23), 98.2, 97.6, 0.9),
    Row("P53_4", "p53", "nanda/p53-decay-5-3", "3.95e-6", 0.66, 0.74, (3, 14, 15), 88.5, 91.8, 4.6),
    Row("P53_5", "p53", "nanda/p53-decay-5-4", "5.56e-6", 0.67, 0.8, (10, 14, 22), 98.1, 98.3, 0.6),
    Row("P109_1", "p109", "nanda/p109-0", "2.02e-7", 0.76, 0.83, (6, 7, 22, 25), 98.0, 97.3, 1.9),
    Row("P109_2", "p109", "nanda/p109-1", "2.95e-7", 0.69, 0.82, (8, 14, 29, 32, 41), 95.2, 94.7, 2.3),
    Row("P109_3", "p109", "nanda/p109-2", "1.66e-7", 0.78, 0.86, (13, 23, 39, 45), 98.5, 97.6, 0.9),
    Row("P109_4", "p109", "nanda/p109-3", "2.50e-7", 0.68, 0.82, (8, 13, 32, 41), 96.8, 95.5, 2.3),
    Row("P109_5", "p109", "nanda/p109-4", "2.77e-7", 0.76, 0.85, (29, 37, 38, 49), 97.9, 98.1, 0.8),
    Row("dropout_p2_1", "dropout", "nanda/dropout-0.2-0", "2.65e-1", 0.19, 0.46, (1, 4, 7, 17, 22, 33, 40, 49, 55), 71.3, 65.0, 17.5),
    Row("dropout_p2_2", "dropout", "nanda/dropout-0.2-1", "4.52e-1", 0.19, 0.46, (3, 8, 19, 28, 32, 34, 40, 44), 73.3, 71.4, 10.7),
    Row("dropout_p2_3", "dropout", "nanda/dropout-0.2-2", "2.03e-1", 0.2, 0.45, (4, 5, 32, 38, 41, 44, 49, 50), 74.2, 71.1, 10.6),
    Row("dropout_p5_1", "dropout", "nanda/dropout-0.5-0", "<1e-8", 0.26, 0.56, (1, 4, 26, 46, 47, 55), 89.4, 88.9, 3.5),
    Row("dropout_p5_2", "dropout", "nanda/dropout-0.5-1", "2.01e-2", 0.2, 0.49, (16, 21, 35, 47, 53), 88.4, 88.4, 3.0),
    Row("dropout_p5_3", "dropout", "nanda/dropout-0.5-2", "<1e-8", 0.25, 0.54, (1, 4, 7, 19, 29, 31, 42), 86.1, 85.6, 4.0),
)  # fmt: skip


@dataclass(frozen=True)
class Skip:
    """A row of table 6 as the paper prints it: loss and accuracy on all pairs, with and without the last MLP's skip
    connection.

    Attributes:
        key: last part of the id of the row's claim.
        runs: names of our runs that correspond to the row.
        loss, ablated_loss: mean loss over the runs, with the standard deviation in brackets. [nats]
        accuracy, ablated_accuracy: accuracy with and without the skip connection, in percent.
        drop: largest fall of the accuracy that we still count as hardly any fall.
    """

    key: str
    runs: tuple[str, ...]
    loss: str
    accuracy: float
    ablated_loss: str
    ablated_accuracy: float
    drop: float = 0.01


def runs_of(prefix: str) -> tuple[str, ...]:
    """Return the names of our runs for the rows of table 5 whose key begins with a text."""
    return tuple(row.run for row in TABLE_5 if row.key.startswith(prefix))


TABLE_6 = (
    Skip("data_fractions", FRACTIONS, "1.83e-7 (1.65e-7)", 100, "7.74e-7 (6.74e-7)", 100),
    Skip("2-layer", runs_of("2-layer"), "1.97e-2 (2.41e-2)", 99.6, "4.63e-2 (6.72e-2)", 98.7, drop=0.03),
    Skip("P53", runs_of("P53"), "5.96e-5 (8.91e-5)", 100, "1.5e-4 (2.70e-4)", 100),
    Skip("P109", runs_of("P109"), "1.94e-7 (3.74e-8)", 100, "6.53e-7 (1.41e-7)", 100),
    Skip("dropout_0p2", runs_of("dropout_p2"), "0.215 (0.091)", 99.7, "0.205 (0.075)", 99.7),
    Skip("dropout_0p5", runs_of("dropout_p5"), "4.68e-3 (8.11e-3)", 100, "3.6e-3 (5.82e-3)", 100),
)
WITH_DECAY = tuple(row.run for row in TABLE_5 if row.setting != "dropout")
DROPOUT = tuple(row.run for row in TABLE_5 if row.setting == "dropout")
SWEPT_DECAY = ("nanda/decay-0.1-0", *(f"nanda/decay-{decay}-{seed}" for decay in (0.3, 3) for seed in range(3)))
