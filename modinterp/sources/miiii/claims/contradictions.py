"""Contradictions between Syrkis & Søgaard 2024 and its code, arithmetic, other sources, and other parts of the paper."""

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
        "The source prints the expected loss of a task with q classes as ln(1/q), which is negative, and in"
        " another place as ln n. Equations 12.2 and 12.3 lack the inverse that equation 6.1 has.",
        {
            "ln_q": ("largest error of ln n", "printed ln(1/n) at n = 2"),
            "eq12.weighted_loss": ("loss at the start", "a task's share as printed, without the inverse"),
        },
        "The expected loss of a task with q classes is ln q. With the source's printed formula, each task's"
        " loss would begin at -1, which is negative.",
    ),
    Contradiction(
        "X-M2",
        "Equations 4.1 and 4.2 of the source contain cos(w x0) twice and never cos(w x1).",
        {"eq3to5.summary": ()},
        "The repeated x0 in equations 4.1 and 4.2 is a misprint: the identities hold if the second x0 is "
        "replaced by x1.",
    ),
    Contradiction(
        "X-M3",
        "The source's text splits the inputs into 30% for training, 1,000 for validation and the rest for a test. The "
        "source's code uses half of the inputs for training and has no test set.",
        {
            "split": (
                "inputs trained on, 30% as printed",
                "inputs trained on, 50% as in the code",
                conditions.MEAN_TEST_ACCURACY,
            ),
            "fig5.accuracy": ("tasks with a test accuracy of 0.99", "tasks with that trained on 30%, as printed"),
        },
        "The source's figures come from its code, since networks trained on 30% of the inputs learn only two tasks. "
        "Our networks hold out all inputs that are not used for training.",
    ),
    Contradiction(
        "X-M4",
        "Equation 13 of the source averages the last filtered gradient with the last average. Lee et al. "
        "(Grokfast) and the source's code average the gradient itself. The source's average begins at zero;"
        " the average of Lee et al. begins at the first gradient.",
        {
            "eq13.grokfast": (
                "largest difference after five steps, begun at zero",
                "begun at the first gradient",
                "distance of the average as printed, relative",
            )
        },
        "We follow the source's code. With equation 13 as printed, each gradient would enter the average "
        "one step late, and the average would also include the filter's own output.",
    ),
    Contradiction(
        "X-M5",
        "The source says that only primes have no remainder of 0. Yet the number 1 has no remainder of 0 "
        "either. Every prime below 113 also has a remainder of 0, after division by itself.",
        {"primes_no_zero": ()},
        "Among the numbers from 113 on, exactly the primes have no remainder of 0. Below 113 this rule "
        "fails for 30 numbers.",
    ),
    Contradiction(
        "X-M6",
        "The source says that the best weight decay is 1/3, a value that its table 1 does not contain.",
        {"table2.best": ("best hyper-parameters outside the space that was searched", "weight decay")},
        "The search that the source prints did not try a weight decay of 1/3, so it cannot have found 1/3 to be best.",
    ),
    Contradiction(
        "X-M7",
        "The caption of figure 1 says that the figure shows multiples of 17 and 23. The figure's code draws multiples "
        "of 13 and 23.",
        {"fig1": ("multiples of 17 or 23", "multiples of 13 or 23, as in the code")},
        "Multiples of 17 and 23 look similar to multiples of 13 and 23. Our figure 1 follows the caption.",
    ),
    Contradiction(
        "X-M8",
        "In equation 2 the first position holds the least significant digit. In the source's code the first position "
        "holds the most significant digit.",
        {"eq2.miiii_task": (task.WRONG_RENAMED_LABELS,)},
        "The two orders of the digits differ only in which of the two positions is called the first.",
    ),
    Contradiction(
        "X-M9",
        "The source says that every task of T_miiii depends on the order of the digits.",
        {"noncommutative": ("tasks that depend on the order of the digits", "tasks that do not")},
        "Remainders by 2 and by 7 do not depend on the order of the two digits. Both 2 and 7 divide 112, so"
        " 113 x1 and x1 have equal remainders.",
    ),
    Contradiction(
        "X-M10",
        "The source prints the size of a vector as 1 by 12,796. The source also prints x0 p^0 as unequal to x0 p^1, "
        "where the digits should be exchanged.",
        {"eq2.miiii_task": (task.INPUTS,)},
        "The printed size and the printed inequality are misprints: there are 12,769 inputs, and x0 + p x1 "
        "differs from x1 + p x0.",
    ),
    Contradiction(
        "X-M11",
        'The source\'s text calls the ticks of figure 8 shares of the "variance", and calls the singular '
        'values those "of U". The source\'s code sums the singular values, not the variances.',
        {
            "fig8.miiii": (
                "values to 50%, T_miiii over T_nanda",
                "values to 90%, T_miiii less T_nanda",
                "squares to 50%, T_miiii over T_nanda",
                "squares to 90%, T_miiii less T_nanda",
            )
        },
        "Variances are squared singular values, so we measure both the singular values and their squares.",
    ),
    Contradiction(
        "X-M12",
        'The source calls training "full batch with the entire dataset", yet trains on 30% of the dataset.',
        {"full_batch": ("inputs in a step", "inputs there are")},
        "Every step of training uses the whole training set, which is not the entire dataset.",
    ),
    Contradiction(
        "X-M13",
        "The source states the number of tasks as about p / ln p = 23.9, and as 29.",
        {"n_ln_n": ("113 / ln 113",), "count29": ()},
        "Counting the primes gives 29 tasks. The formula p / ln p is exact only in the limit of large p; at p = 113 "
        "the formula is a fifth too low.",
    ),
    Contradiction(
        "X-M14",
        "The source's code leaves dropout switched on when it plots neurons and attention patterns.",
        {"fig4": ("largest over mean magnitude of the transform, best neuron", "the same neuron with dropout left on")},
        "All inputs share one dropout mask, so dropout changes the plotted function of the two digits but "
        "adds no noise. We plot neurons and attention without dropout.",
    ),
    Contradiction(
        "X-M15",
        "The source's text calls a frequency active if its strength is two standard deviations above the "
        "mean. The source's code requires one standard deviation above the mean.",
        {
            "fig11": (embeddings.ONE_DEVIATION, embeddings.TWO_DEVIATIONS),
            "fig12": (embeddings.ONE_DEVIATION + embeddings.OF_MIIII, embeddings.TWO_DEVIATIONS + embeddings.OF_MIIII),
            "x.active_freqs": (logging.MOST + ", above the mean by one deviation", logging.MOST),
        },
        "We report the number of active frequencies by the text's definition and by the code's definition. "
        "We also count frequencies with at least a quarter of the largest strength, which is meaningful "
        "even for a flat spectrum.",
    ),
    Contradiction(
        "X-A4",
        "In modular addition the two position embeddings have a correlation of 0.95 in this source, and a cosine of "
        '0.617 in "Circuit engineering". This source takes a correlation of -0.64 as a sign of a non-commutative task.',
        {
            "fig7.pearson.nanda": (positions.PEARSON, "cosine of the two position embeddings"),
            "fig7.pearson.miiii": (positions.PEARSON, "Pearson, T_nanda"),
            "fig7.interpretation": ("T_nanda with its positions exchanged, lowest accuracy", positions.MIIII_SWAPPED),
        },
        "The correlation of the positions depends on the recipe and the seed. Only the task decides whether "
        "exchanging the positions keeps the answer.",
    ),
)
