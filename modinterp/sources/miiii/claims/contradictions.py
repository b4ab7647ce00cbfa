"""Conflicts that Syrkis & Søgaard 2024 has with itself, with its code, with arithmetic and with the other sources."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.miiii.claims import (
    conditions,
    embeddings,
    logging,
    positions,
    task,
)

CONTRADICTIONS = (
    Contradiction(
        "X-M1",
        "The expected loss is printed as ln(1/q), which is negative, and once as ln n. Equations 12.2 and 12.3 "
        "lack the inverse of equation 6.1.",
        {
            "ln_q": ("largest error of ln n", "printed ln(1/n) at n = 2"),
            "eq12.weighted_loss": ("loss at the start", "a task's share as printed, without the inverse"),
        },
        "The expected loss is ln q. With the printed formula each task would begin at -1 and could only get worse.",
    ),
    Contradiction(
        "X-M2",
        "Equations 4.1 and 4.2 have cos(w x0) twice and never cos(w x1).",
        {"eq3to5.summary": ()},
        "This is a misprint: the identities hold with the corrected index.",
    ),
    Contradiction(
        "X-M3",
        "The text has 30% for training, 1,000 for validation and the rest for a test. The code has half for "
        "training and no test.",
        {
            "split": (
                "inputs trained on, 30% as printed",
                "inputs trained on, 50% as in the code",
                conditions.MEAN_TEST_ACCURACY,
            ),
            "fig5.accuracy": ("tasks with a test accuracy of 0.99", "tasks with that trained on 30%, as printed"),
        },
        "The figures are those of the code: with 30% the same training learns two tasks. All other inputs are "
        "held out.",
    ),
    Contradiction(
        "X-M4",
        "Equation 13 averages the last filtered gradient with the last average. Grokfast and the code average the "
        "gradient itself. The average begins at zero (this source) or at the first gradient (Lee et al.).",
        {
            "eq13.grokfast": (
                "largest difference after five steps, begun at zero",
                "begun at the first gradient",
                "distance of the average as printed, relative",
            )
        },
        "We follow the code. With the printed equation a gradient would enter the average a step late, and so "
        "would the part added by the filter.",
    ),
    Contradiction(
        "X-M5",
        "Only primes are said to have no remainder of 0. Yet 1 has none, and every prime below 113 has one, after "
        "division by itself.",
        {"primes_no_zero": ()},
        "The statement is true for numbers from 113 on; below, 30 numbers are exceptions.",
    ),
    Contradiction(
        "X-M6",
        "The best weight decay is said to be 1/3, a value that table 1 does not contain.",
        {"table2.best": ("of them outside the space that was searched", "weight decay")},
        "This value cannot come from the search as printed.",
    ),
    Contradiction(
        "X-M7",
        "The caption of figure 1 says multiples of 17 and 23. Its code draws 13 and 23.",
        {"fig1": ("multiples of 17 or 23", "multiples of 13 or 23, as in the code")},
        "The two sets look alike. Our figure follows the caption.",
    ),
    Contradiction(
        "X-M8",
        "Equation 2 reads the least significant digit first. The code reads the most significant first.",
        {"eq2.miiii_task": (task.WRONG_RENAMED_LABELS,)},
        "The positions change names, and nothing else changes.",
    ),
    Contradiction(
        "X-M9",
        "Every task of T_miiii is said to depend on the order of the digits.",
        {"noncommutative": ("tasks that depend on the order of the digits", "tasks that do not")},
        "The tasks of 2 and 7 do not: both numbers divide 112, so 113 x1 leaves the remainder of x1.",
    ),
    Contradiction(
        "X-M10",
        "A vector is printed as 1 by 12,796, and x0 p^0 as unequal to x0 p^1. The digits are meant to change places.",
        {"eq2.miiii_task": (task.INPUTS,)},
        "Both are misprints: there are 12,769 inputs, and x0 + p x1 differs from x1 + p x0.",
    ),
    Contradiction(
        "X-M11",
        'The text calls the ticks of figure 8 shares of the "variance", and the values those "of U". The code '
        "sums the singular values themselves.",
        {
            "fig8.miiii": (
                "values to 50%, T_miiii over T_nanda",
                "values to 90%, T_miiii less T_nanda",
                "squares to 50%, T_miiii over T_nanda",
                "squares to 90%, T_miiii less T_nanda",
            )
        },
        "Variances are the squares of singular values; both are measured.",
    ),
    Contradiction(
        "X-M12",
        'Training is called "full batch with the entire dataset", yet 30% of the dataset are trained on.',
        {"full_batch": ("inputs in a step", "inputs there are")},
        "Every step uses the whole training set.",
    ),
    Contradiction(
        "X-M13",
        "The source has about p / ln p = 23.9 tasks, or 29.",
        {"n_ln_n": ("113 / ln 113",), "count29": ()},
        "Counting gives 29. The formula is a limit, and a fifth too low at 113.",
    ),
    Contradiction(
        "X-M14",
        "The code draws neurons and attention with dropout left on.",
        {"fig4": ("largest over mean magnitude of the transform, best neuron", "the same neuron with dropout left on")},
        "All inputs share one mask, so a neuron stays a function of the digits, though a different one. Our "
        "drawings are without dropout.",
    ),
    Contradiction(
        "X-M15",
        "A frequency counts as active above the mean by two deviations (text) or by one (code).",
        {
            "fig11": (embeddings.ONE_DEVIATION, embeddings.TWO_DEVIATIONS),
            "fig12": (embeddings.ONE_DEVIATION + embeddings.OF_MIIII, embeddings.TWO_DEVIATIONS + embeddings.OF_MIIII),
            "x.active_freqs": (logging.MOST + ", above the mean by one deviation", logging.MOST),
        },
        "Both counts are reported. A third count takes frequencies above a quarter of the largest, which a flat "
        "spectrum cannot deceive.",
    ),
    Contradiction(
        "X-A4",
        'Positions of commutative addition correlate by 0.95 here and have a cosine of 0.617 in "Circuit '
        'engineering". A correlation of -0.64 is read as the mark of a task that does not commute.',
        {
            "fig7.pearson.nanda": (positions.PEARSON, "cosine"),
            "fig7.pearson.miiii": (positions.PEARSON, "Pearson, T_nanda"),
            "fig7.interpretation": ("T_nanda with its positions exchanged, lowest accuracy", positions.MIIII_SWAPPED),
        },
        "The correlation depends on the recipe and the seed. The task decides whether the positions may be exchanged.",
    ),
)
