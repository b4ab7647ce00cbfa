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
        "The source prints the expected loss as ln(1/q), which is negative, and once as ln n. Equations 12.2 and "
        "12.3 lack the inverse of equation 6.1.",
        {
            "ln_q": ("largest error of ln n", "printed ln(1/n) at n = 2"),
            "eq12.weighted_loss": ("loss at the start", "a task's share as printed, without the inverse"),
        },
        "The expected loss is ln q. With the printed formula each task's loss would begin at -1 and could only "
        "get worse.",
    ),
    Contradiction(
        "X-M2",
        "Equations 4.1 and 4.2 have cos(w x0) twice and never cos(w x1).",
        {"eq3to5.summary": ()},
        "The repeated x0 is a misprint: the identities hold with the corrected index.",
    ),
    Contradiction(
        "X-M3",
        "The source's text splits the inputs into 30% for training, 1,000 for validation and the rest for a test. "
        "Its code has half for training and no test.",
        {
            "split": (
                "inputs trained on, 30% as printed",
                "inputs trained on, 50% as in the code",
                conditions.MEAN_TEST_ACCURACY,
            ),
            "fig5.accuracy": ("tasks with a test accuracy of 0.99", "tasks with that trained on 30%, as printed"),
        },
        "The source's figures come from its code: with 30% of the inputs, training learns only two tasks. We hold "
        "out all other inputs.",
    ),
    Contradiction(
        "X-M4",
        "Equation 13 averages the last filtered gradient with the last average. Grokfast and the source's code "
        "average the gradient itself. The average begins at zero (this source) or at the first gradient (Lee et "
        "al.).",
        {
            "eq13.grokfast": (
                "largest difference after five steps, begun at zero",
                "begun at the first gradient",
                "distance of the average as printed, relative",
            )
        },
        "We follow the source's code. With the printed equation each gradient would enter the average one step "
        "late, and the filter's contribution too.",
    ),
    Contradiction(
        "X-M5",
        "The source says that only primes have no remainder of 0. Yet the number 1 has none, and every prime "
        "below 113 has a remainder of 0 after division by itself.",
        {"primes_no_zero": ()},
        "For numbers from 113 on, only primes have no remainder of 0; below 113, 30 numbers are exceptions.",
    ),
    Contradiction(
        "X-M6",
        "The source says that the best weight decay is 1/3, a value that its table 1 does not contain.",
        {"table2.best": ("best hyper-parameters outside the space that was searched", "weight decay")},
        "A best weight decay of 1/3 cannot come from the printed search.",
    ),
    Contradiction(
        "X-M7",
        "The caption of figure 1 says multiples of 17 and 23. The figure's code draws multiples of 13 and 23.",
        {"fig1": ("multiples of 17 or 23", "multiples of 13 or 23, as in the code")},
        "The two sets of multiples look similar. Our figure 1 follows the caption.",
    ),
    Contradiction(
        "X-M8",
        "Equation 2 reads the least significant digit first. The source's code reads the most significant digit first.",
        {"eq2.miiii_task": (task.WRONG_RENAMED_LABELS,)},
        "The order of digits only exchanges the names of the two positions.",
    ),
    Contradiction(
        "X-M9",
        "The source says that every task of T_miiii depends on the order of the digits.",
        {"noncommutative": ("tasks that depend on the order of the digits", "tasks that do not")},
        "The tasks of 2 and 7 do not depend on the order: both numbers divide 112, so 113 x1 has the remainder of x1.",
    ),
    Contradiction(
        "X-M10",
        "The source prints the size of a vector as 1 by 12,796. It also prints x0 p^0 as unequal to x0 p^1, where "
        "the digits should be exchanged.",
        {"eq2.miiii_task": (task.INPUTS,)},
        "The size and the inequality are misprints: there are 12,769 inputs, and x0 + p x1 differs from x1 + p x0.",
    ),
    Contradiction(
        "X-M11",
        'The text calls the ticks of figure 8 shares of the "variance", and the singular values those "of U". The '
        "source's code sums the singular values, not the variances.",
        {
            "fig8.miiii": (
                "values to 50%, T_miiii over T_nanda",
                "values to 90%, T_miiii less T_nanda",
                "squares to 50%, T_miiii over T_nanda",
                "squares to 90%, T_miiii less T_nanda",
            )
        },
        "Variances are squared singular values; we measure the values and the squares.",
    ),
    Contradiction(
        "X-M12",
        'The source calls training "full batch with the entire dataset", yet trains on 30% of the dataset.',
        {"full_batch": ("inputs in a step", "inputs there are")},
        "Every step uses the whole training set.",
    ),
    Contradiction(
        "X-M13",
        "The source states the number of tasks as about p / ln p = 23.9, and as 29.",
        {"n_ln_n": ("113 / ln 113",), "count29": ()},
        "Counting gives 29 tasks. The formula is a limit, and a fifth too low at 113.",
    ),
    Contradiction(
        "X-M14",
        "The source's code draws neurons and attention with dropout switched on.",
        {"fig4": ("largest over mean magnitude of the transform, best neuron", "the same neuron with dropout left on")},
        "All inputs share one dropout mask, so a neuron is still a function of the digits, but a different "
        "function. We draw without dropout.",
    ),
    Contradiction(
        "X-M15",
        "A frequency counts as active if it is above the mean by two standard deviations (text) or by one (code).",
        {
            "fig11": (embeddings.ONE_DEVIATION, embeddings.TWO_DEVIATIONS),
            "fig12": (embeddings.ONE_DEVIATION + embeddings.OF_MIIII, embeddings.TWO_DEVIATIONS + embeddings.OF_MIIII),
            "x.active_freqs": (logging.MOST + ", above the mean by one deviation", logging.MOST),
        },
        "We report both counts of active frequencies. A third count takes frequencies above a quarter of the "
        "largest, which is also meaningful for a flat spectrum.",
    ),
    Contradiction(
        "X-A4",
        "The two position embeddings of addition correlate by 0.95 in this source and have a cosine of 0.617 in "
        '"Circuit engineering". This source takes a correlation of -0.64 as a sign of a non-commutative task.',
        {
            "fig7.pearson.nanda": (positions.PEARSON, "cosine of the two position embeddings"),
            "fig7.pearson.miiii": (positions.PEARSON, "Pearson, T_nanda"),
            "fig7.interpretation": ("T_nanda with its positions exchanged, lowest accuracy", positions.MIIII_SWAPPED),
        },
        "The correlation of the positions depends on the recipe and the seed. Only the task decides whether "
        "exchanging the positions keeps the answer.",
    ),
)
