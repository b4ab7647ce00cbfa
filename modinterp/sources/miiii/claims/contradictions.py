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
        "The expected loss is printed as ln(1/q), which is negative, and once as ln n; equations 12.2 and 12.3 lack "
        "the inverse of equation 6.1.",
        {
            "ln_q": ("largest error of ln n", "printed ln(1/n) at n = 2"),
            "eq12.weighted_loss": ("loss at the start", "a task's share as printed, without the inverse"),
        },
        "It is ln q. As printed each task would begin at -1 and could only be made worse.",
    ),
    Contradiction(
        "X-M2",
        "Equations 4.1 and 4.2 have cos(w x0) twice and cos(w x1) nowhere.",
        {"eq3to5.summary": ()},
        "A misprint: the identities hold with the index mended.",
    ),
    Contradiction(
        "X-M3",
        "30% for training, 1,000 for validation and the rest for a test (text); half for training and no test (code).",
        {
            "split": (
                "inputs trained on, 30% as printed",
                "inputs trained on, 50% as in the code",
                conditions.MEAN_TEST_ACCURACY,
            ),
            "fig5.accuracy": ("tasks with a test accuracy of 0.99", "tasks with that trained on 30%, as printed"),
        },
        "The figures are those of the code: from 30% the same training learns two tasks. What is not trained on is "
        "held out.",
    ),
    Contradiction(
        "X-M4",
        "Equation 13 averages the last filtered gradient with the last average; Grokfast and the code average the "
        "gradient itself, from zero (this source) or from the first gradient (Lee et al.).",
        {
            "eq13.grokfast": (
                "largest difference after five steps, begun at zero",
                "begun at the first gradient",
                "distance of the average as printed, relative",
            )
        },
        "We follow the code. As printed a gradient would enter the average a step late, and what was added to it as "
        "well.",
    ),
    Contradiction(
        "X-M5",
        "Primes alone have no remainder of 0; yet 1 has none, and every prime below 113 has one, by itself.",
        {"primes_no_zero": ()},
        "True of the numbers from 113 on; below, 30 numbers are exceptions.",
    ),
    Contradiction(
        "X-M6",
        "The best weight decay is 1/3, which table 1 does not hold.",
        {"table2.best": ("of them outside the space that was searched", "weight decay")},
        "It cannot come from the search as printed.",
    ),
    Contradiction(
        "X-M7",
        "Figure 1 is captioned with multiples of 17 and 23; its code draws 13 and 23.",
        {"fig1": ("multiples of 17 or 23", "multiples of 13 or 23, as in the code")},
        "Two sets that look alike; drawn here is the one of the caption.",
    ),
    Contradiction(
        "X-M8",
        "Equation 2 reads the least significant digit first, the code the most significant.",
        {"eq2.miiii_task": (task.WRONG_RENAMED_LABELS,)},
        "The positions change names, and nothing else changes.",
    ),
    Contradiction(
        "X-M9",
        "Every task of T_miiii is said to depend on the order of the digits.",
        {"noncommutative": ("tasks that depend on the order of the digits", "tasks that do not")},
        "Not those of 2 and 7: they divide 112, so that 113 x1 leaves the remainder of x1.",
    ),
    Contradiction(
        "X-M10",
        "A vector of 1 by 12,796, and x0 p^0 printed as unequal to x0 p^1, where the digits are meant to change "
        "places.",
        {"eq2.miiii_task": (task.INPUTS,)},
        "Misprints: there are 12,769 inputs, and x0 + p x1 differs from x1 + p x0.",
    ),
    Contradiction(
        "X-M11",
        'Ticks of figure 8 are said to be shares of the "variance", and the values to be those "of U"; the code '
        "sums the singular values themselves.",
        {
            "fig8.miiii": (
                "values to 50%, T_miiii over T_nanda",
                "values to 90%, T_miiii less T_nanda",
                "squares to 50%, T_miiii over T_nanda",
                "squares to 90%, T_miiii less T_nanda",
            )
        },
        "Variances are their squares; both are measured.",
    ),
    Contradiction(
        "X-M12",
        '"Full batch with the entire dataset", of which 30% are trained on.',
        {"full_batch": ("inputs in a step", "inputs there are")},
        "The whole training set at every step.",
    ),
    Contradiction(
        "X-M13",
        "About p / ln p = 23.9 tasks, or 29.",
        {"n_ln_n": ("113 / ln 113",), "count29": ()},
        "29 by count; the formula is a limit, a fifth too low at 113.",
    ),
    Contradiction(
        "X-M14",
        "The code draws neurons and attention with dropout left on.",
        {"fig4": ("largest over mean magnitude of the transform, best neuron", "the same neuron with dropout left on")},
        "One mask is shared by all inputs, so that a neuron stays a function of the digits, though another one; "
        "ours are drawn without dropout.",
    ),
    Contradiction(
        "X-M15",
        "A frequency is active above the mean by two deviations (text) or by one (code).",
        {
            "fig11": (embeddings.ONE_DEVIATION, embeddings.TWO_DEVIATIONS),
            "fig12": (embeddings.ONE_DEVIATION + embeddings.OF_MIIII, embeddings.TWO_DEVIATIONS + embeddings.OF_MIIII),
            "x.active_freqs": (logging.MOST + ", above the mean by one deviation", logging.MOST),
        },
        "Both are counted, and beside them those above a quarter of the largest, which a flat spectrum cannot deceive.",
    ),
    Contradiction(
        "X-A4",
        'Positions of commutative addition correlate by 0.95 here and have a cosine of 0.617 in "Circuit '
        'engineering"; -0.64 is read as the mark of a task that does not commute.',
        {
            "fig7.pearson.nanda": (positions.PEARSON, "cosine"),
            "fig7.pearson.miiii": (positions.PEARSON, "Pearson, T_nanda"),
            "fig7.interpretation": ("T_nanda with its positions exchanged, lowest accuracy", positions.MIIII_SWAPPED),
        },
        "The correlation goes with the recipe and the seed; whether the positions may be exchanged, with the task.",
    ),
)
