"""Contradictions between Nanda et al. 2023 and arithmetic, its code, other sources, and other parts of the paper."""

from modinterp.claims.contradiction import Contradiction
from modinterp.sources.nanda.claims import (
    ablations,
    fractions,
    heads,
    margins,
    progress,
    readoff,
    regularisation,
    seeds,
    sequences,
    setup,
    trainings,
)

CONTRADICTIONS = (
    Contradiction(
        "X-N1",
        "Section 3.1 prints cos(w(a + b)) = cos(wa) cos(wa) - sin(wa) sin(wb).",
        {"eq.identities": ("largest residual of the identities", "residual as printed")},
        "The second cos(wa) in section 3.1 is a misprint for cos(wb). With cos(wa) cos(wb) the identity "
        "holds to rounding; the printed identity fails.",
    ),
    Contradiction(
        "X-N2",
        "Appendix B gives cos(w_14 x) the value 0.994 at x = 16 and at x = 89. By symmetry, the cosine has "
        "this value at 16 and at 97 = 113 - 16, not at 89.",
        {"B.f14_16": (margins.VALUE,), "B.f14_89": (margins.VALUE,)},
        "The position 89 is a misprint: at 89 the value is 0.986.",
    ),
    Contradiction(
        "X-N3",
        "Appendix B prints cos(w_52 16) = -0.56 and cos(w_35 16) = 0.961.",
        {"B.f52_16": (margins.VALUE,), "B.f35_16": (margins.VALUE,)},
        "The value -0.56 is a misprint; the value 0.961 is truncated, not rounded.",
    ),
    Contradiction(
        "X-N4",
        "Appendix D.1 says that networks grok by epoch 3,000 with a weight decay of 0.3, by 5,000 to 10,000"
        " with 1 and by 20,000 with 3. The next sentence of appendix D.1 and figure 27 say that networks "
        "with less weight decay grok later.",
        {"fig27": tuple(map(regularisation.median_epoch_with, (0.3, 1, 3)))},
        "The text of appendix D.1 exchanges 0.3 and 3: networks with less weight decay grok later.",
    ),
    Contradiction(
        "X-N5",
        'The paper speaks of the "other 95%" of the frequencies. But 51 of 56 frequencies are 91.1%, 103 of'
        " 113 components are 91.2%, and of 113^2 components the share is 99.7%.",
        {
            "abstract.other95": (
                ablations.OTHER_FREQUENCIES,
                ablations.OTHER_COMPONENTS,
                "share of components of two numbers that are others",
            ),
        },
        "No way of counting the other frequencies gives 95%, neither with the paper's five key frequencies "
        "nor with ours.",
    ),
    Contradiction(
        "X-N6",
        "The paper counts 4 components for each key frequency (sections 4.1 and 5.1), or 8 components "
        "(section 4.4). The paper's code counts 2 directions for each key frequency.",
        {
            "s44.keep_key_only": (
                *ablations.RATIO_WITH_TERMS.values(),
                *ablations.RATIO_ALONE.values(),
                *ablations.LOSS_ALONE.values(),
            )
        },
        "With 2, 4 or 8 components for each key frequency, keeping only the key frequencies lowers the loss. The fewer components are kept, the lower the loss. Section 4.4 counts 8 components for each frequency, without the constant, since the paper's total for five frequencies is 40. With 8 components, the paper's loss ratio lies within the range of our numerical replicates of the paper's seed.",
    ),
    Contradiction(
        "X-N7",
        "Appendix C.1.3 refers to table 1 for the attention's coefficients. Appendix D.1 refers to section "
        "7 for curves.",
        {"table2.head0": (heads.RANK_FVE[1],), "s42.dot_products_90": ("readoff_mean",)},
        "Both references in appendices C.1.3 and D.1 are slips. The attention's coefficients are in table "
        "2, the directions of W_L are in table 1, and the curves are in figure 7.",
    ),
    Contradiction(
        "X-N8",
        "Section 5.2 takes Gini coefficients of W_U and W_L. Figure 7 and the rest of the paper take the "
        "Gini coefficients of W_E and W_L.",
        {"fig7.bl": (progress.FINAL_GINI["W_E"], progress.FINAL_GINI["W_U"], progress.FINAL_GINI["W_L"])},
        "W_E, W_U and W_L are all sparse in the Fourier basis. We report the Gini coefficients of W_E and "
        "W_L, as figure 7 does.",
    ),
    Contradiction(
        "X-N11",
        "The caption of figure 18 says that restricted loss falls before train loss. Figure 7 says that "
        "restricted loss falls before test loss.",
        {
            "fig18": (
                progress.AHEAD_OF_TEST,
                "epochs by which restricted is below 1 before train",
            ),
        },
        "Restricted loss falls before test loss. Train loss falls long before restricted loss and test loss.",
    ),
    Contradiction(
        "X-N13",
        "The softmax of appendix A lacks the factor 1 / sqrt(d_head). The formula of appendix A has a stray"
        " m, and uses one letter for scores and patterns.",
        {"C13.lookup": ("products of queries and keys over the scores",)},
        "The network divides attention scores by sqrt(32) = 5.657, as the paper's code does.",
    ),
    Contradiction(
        "X-N14",
        "The paper does not say over which pairs restricted loss is computed. The paper's code takes all "
        "pairs for restricted loss, and the training pairs for excluded loss.",
        {
            "fig7.tr": tuple(progress.FINAL_RESTRICTED.values()),
            "fig7.tl": tuple(progress.FINAL_EXCLUDED.values()),
        },
        "The choice of pairs hardly matters: the restricted losses on training and test pairs differ by "
        "less than a tenth.",
    ),
    Contradiction(
        "X-N15",
        "The comment in the paper's released code says that the loss is in float64, but the code computes "
        "the loss in float32. Appendix D.2 blames this precision for slingshots.",
        {"D2.lowprec": ("slingshots in float32", "slingshots in float64", "epochs between two rows")},
        "The precision of the loss seems to matter: one seed has five slingshots in float32, and no seed "
        "has slingshots in float64. The claim about float32 needs two more seeds.",
    ),
    Contradiction(
        "X-N16",
        "The network of appendix A has 113 outputs. The code's network has 114 outputs. The output for = is"
        " trained, and left out of the analysis.",
        {"setup.arch": (setup.N_WEIGHTS,), "fig2.left.accuracy": ("grokked",)},
        "The number of outputs makes no difference. Networks of the paper's own seed have 114 outputs. "
        "Networks of another initialisation order have 113 outputs. Networks with 113 and with 114 outputs "
        "behave as the paper says.",
    ),
    Contradiction(
        "X-N17",
        "The paper says that the residual of W_L is below 0.55%. Is this a share of the norm or of the squared norm?",
        {"s42.wl_residual": ("read_residual", readoff.SQUARED_RESIDUAL)},
        "The paper means the squared norm. On the paper's seed the residual's squared norm is 0.20% to "
        "0.65% (0.55% in our main network), and its norm is 4.5% to 8.1%.",
    ),
    Contradiction(
        "X-N18",
        "The paper's text speaks of the l2 norm of the weights. The paper's figures show the sum of squared weights.",
        {"fig7.br": ("slope t2 to t3 over slope t1 to t2", "slope t2 to t3 over slope t1 to t2, of the norm")},
        "We show sums of squared weights. The choice between the norm and its square changes no statement "
        "about the weights.",
    ),
    Contradiction(
        "X-N19",
        "The abstract says that without the key frequencies the network is at chance. Table 4 has losses of"
        " 6.5 to 11 without the key frequencies, which is worse than chance (4.73).",
        {f"table4.seed{seed}": (seeds.TEST_LOSS_WITHOUT_KEYS,) for seed in range(1, 5)},
        "Without the key frequencies the network is worse than chance, which is a loss of 4.73.",
    ),
    Contradiction(
        "X-N9",
        "The caption of figure 24 has gamma = 5. Section 3 uses gamma for the learning rate. The text about"
        " figure 24 gives a weight decay of 5.",
        {"fig24": ()},
        "The number 5 is the weight decay: with a weight decay of 5 and a learning rate of 1e-3, networks "
        "modulo 53 grok.",
    ),
    Contradiction(
        "X-N10",
        "The caption of table 5 says that all networks without a dropout of 0.2 are right on more than 99.95% of the held-out pairs. Table 6 reports an accuracy of 99.6% on all pairs for networks of two layers.",
        {"table5.accuracy_note": ("test accuracy, one layer with weight decay", "test accuracy, two layers")},
        "Even networks of one layer can be less accurate: some networks modulo 53 are right on fewer than "
        "99.95% of the held-out pairs.",
    ),
    Contradiction(
        "X-N20",
        "The paper says that every network with weight decay adds by waves. Table 5 reports an FVE of the "
        "logits of only 63.9%, with two key frequencies, for 80% of the data.",
        {
            "C23.consistent": (),
            "table5.80pct_data": ("n_keys", trainings.LOGIT_FVE, "gap"),
        },
        "Our network with 80% of the data is explained as well as other networks. No generalising network of ours "
        "has an FVE (explained variance) of 63.9% or less.",
    ),
    Contradiction(
        "X-N21",
        "Appendix D.3 trains with the hyper-parameters of the main model. The paper's archived runs of "
        "subsequences have a residual stream of 48, heads of 12, betas of 0.9 and 0.999 and batches of 128."
        " The archived runs on sums have a vocabulary of 12 tokens and sequences of 18 positions.",
        {
            "fig31": ("largest drop of the test loss within 1,000 epochs", "final_test_loss"),
            "fig29.top": (sequences.LOSS_AT_END,),
        },
        "We use the settings of the archived runs. With the settings of the archived runs, the loss on repeated subsequences drops by 4.2 nats within 1,000 steps and ends at 0.34 (0.33 in the archived run).",
    ),
    Contradiction(
        "X-N22",
        "The caption of figure 29 says that the network learns the second digit at about step 270. In the "
        "archived runs the second digit's loss falls below 1 nat at step 490, and the steps at which two "
        "runs learn a digit differ by a factor of two to three.",
        {"fig29.bottom": sequences.FALL_OF_DIGIT},
        "The loss of the first digit falls first. The order and the steps at which the losses of the other "
        "digits fall depend on the run.",
    ),
    Contradiction(
        "X-N23",
        "The paper says that few data are necessary and sufficient for grokking. The authors' archived runs"
        " with few training data end at test losses of about 0.2 and more.",
        {"fig30": ("highest_test_loss", "final_test_loss"), "D3.limited_data": ("share of verdicts as stated",)},
        "With 700 long sums for training, the test loss falls long after memorisation, and stays at about "
        "0.1 (partial grokking).",
    ),
    Contradiction(
        "X-N24",
        "The loss of the authors' archived run on few long sums begins at 2.00. Guessing one of ten digits "
        "gives a higher loss, 2.30.",
        {"fig30": (sequences.LOSS_AT_START,)},
        "The loss of an untrained network is above the loss of guessing. So the archived network was "
        "already partly trained at its first recorded loss.",
    ),
    Contradiction(
        "X-N25",
        "The paper says that removing all but the key frequencies improves the loss. Does the statement "
        "hold only for the logits, or for the embedding too?",
        {
            "s44.keep_key_only": (
                ablations.RATIO_WITH_TERMS["sums"],
                "loss over original, taken out of W_E",
                "accuracy, taken out of W_E",
            ),
        },
        "The loss improves only if the other frequencies are removed from the logits. If only the key "
        "frequencies are kept in the embedding, the answers are still right, but the loss is hundreds of "
        "times as high.",
    ),
    Contradiction(
        "X-N26",
        "Appendix A.1 says that without the skip around attention the loss is 19.1, so the skip is crucial. In three networks that the authors archived, the losses without this skip are 6e-5, 5e-3 and 4e-7.",
        {"A1.attn_skip_zero": (ablations.LOSS, ablations.ACCURACY)},
        "Removing the skip around attention always raises the loss, but never to the loss of guessing. In "
        "eleven networks, six of the paper's seed, the loss without this skip is 4e-4 to 1.2 nats.",
    ),
    Contradiction(
        "X-A4",
        "The two position embeddings of addition have a correlation of 0.95 (Syrkis & Søgaard) and a cosine"
        " of 0.617 (the circuits report). Syrkis & Søgaard read a correlation of -0.64 as a sign of a task "
        "that does not commute.",
        {
            "fig16": (
                "cosine of the embeddings of the two positions",
                "Pearson correlation of the embeddings of the two positions",
            ),
            "fig2.left.accuracy": ("test accuracy by epoch 30,000",),
        },
        "The correlation of the two position embeddings depends on the seed and does not reveal whether a "
        "task commutes. The task commutes in all our networks.",
    ),
    Contradiction(
        "X-A5",
        "The number of key frequencies is 5 in this paper's main network, and 3 or 4 in other seeds. The "
        "Clock has 3 key frequencies, and Kissane's MLP has 13.",
        {"fig3.right": ("n_keys",), "fig17": ("n_keys",)},
        "The number of key frequencies depends on the seed: networks of one recipe have 3, 4 or 5 key frequencies.",
    ),
    Contradiction(
        "X-A6",
        "Networks grok near epoch 10,000 (this paper), 4,000 (the Clock), 10,000 to 15,000 (circuits) and "
        "2,000 (an MLP).",
        {"fig2.left.accuracy": ("grokked", trainings.MEDIAN_GROKKING_EPOCH)},
        "The epochs at which seeds of one recipe grok differ by more than a factor of two.",
    ),
    Contradiction(
        "X-A7",
        "This paper says that each head has a single frequency, with fits of 98% to 99%. The Clock says "
        "that head 0 has many frequencies.",
        {
            "table2.head0": (heads.RANK_FVE[1], heads.N_EXPLAINED),
            "table2.head3": (heads.RANK_FVE[4],),
        },
        "Heads with one frequency and heads with many frequencies both occur, even in one network.",
    ),
    Contradiction(
        "X-A8",
        "This paper says that attention is periodic. The Clock says that attention looks random. The "
        "circuits report says that each number gets half of the attention.",
        {
            "fig9": (
                "lowest mean attention to a",
                "highest mean attention to a",
                "smallest standard deviation of a head's attention to a",
            ),
        },
        "The attention to a number is periodic about a mean near one half. The mean attention is lower than"
        " one half because the last position also attends to itself.",
    ),
    Contradiction(
        "X-A10",
        "This paper says that without regularisation nothing groks from 30% of the pairs. A run without "
        "weight decay in the authors' archive generalises at once from 90% of the pairs.",
        {
            "s3.noreg_nogrok": ("final_train_accuracy", "highest_test_accuracy"),
            "fig20": tuple(map(fractions.delay_with, fractions.DELAYS_TOLD)),
        },
        "The results with 30% and with 90% of the pairs do not conflict. With much data, a network generalises while it memorises. Only with little data can a network grok, and grokking needs a regulariser.",
    ),
    Contradiction(
        "X-A9",
        "The Clock says that the test loss is 0. Footnote 4 of this paper says that cross-entropy never reaches 0.",
        {"fig2.right.loss": ("final_test_loss",), "E1.always_lower": ("loss at logits times 1.1 over loss",)},
        "The test loss is not 0 in any seed, and larger logits would still lower the test loss.",
    ),
    Contradiction(
        "X-A11",
        'Syrkis & Søgaard leave out all biases, "following" this paper. This paper\'s network has biases in the MLP.',
        {"setup.arch": (setup.N_WEIGHTS, "names and shapes as stated")},
        "The network of this paper has the biases b_in and b_out, and no other biases.",
    ),
    Contradiction(
        "X-A12",
        "This paper says that W_L leaves less than 0.55% outside the key directions. Kissane says that W_U "
        "keeps 98% of its norm in the key directions.",
        {"s42.wl_residual": (readoff.SQUARED_RESIDUAL, "read_residual")},
        "A matrix with 98.2% of its norm in the key directions has 3.5% of its squared norm outside, which "
        "is 18.7% of the norm. We report our number on both scales.",
    ),
)
