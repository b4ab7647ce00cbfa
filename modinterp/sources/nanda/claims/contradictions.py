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
        "Section 3.1 of Nanda et al. prints cos(w(a + b)) = cos(wa) cos(wa) - sin(wa) sin(wb).",
        {"eq.identities": ("largest residual of the identities", "residual as printed")},
        "The second cos(wa) in section 3.1 is a misprint for cos(wb). With cos(wa) cos(wb) the identity for cos(w(a + b)) holds to rounding; the identity that section 3.1 prints fails.",
    ),
    Contradiction(
        "X-N2",
        "Appendix B of Nanda et al. gives cos(w_14 x) the value 0.994 at x = 16 and at x = 89. By symmetry, cos(w_14 x) is 0.994 at x = 16 and at x = 97 = 113 - 16, not at x = 89.",
        {"B.f14_16": (margins.VALUE,), "B.f14_89": (margins.VALUE,)},
        "The position x = 89 is a misprint in appendix B: cos(w_14 x) is 0.986 at x = 89.",
    ),
    Contradiction(
        "X-N3",
        "Appendix B of Nanda et al. prints cos(w_52 16) = -0.56 and cos(w_35 16) = 0.961.",
        {"B.f52_16": (margins.VALUE,), "B.f35_16": (margins.VALUE,)},
        "In appendix B, the value -0.56 of cos(w_52 16) is a misprint; the value 0.961 of cos(w_35 16) is truncated, not rounded.",
    ),
    Contradiction(
        "X-N4",
        "Appendix D.1 of Nanda et al. says that networks grok by epoch 3,000, 5,000 to 10,000 and 20,000 with weight decays of 0.3, 1 and 3. The next sentence of appendix D.1 and figure 27 say that networks with less weight decay grok later.",
        {"fig27": tuple(map(regularisation.median_epoch_with, (0.3, 1, 3)))},
        ("The text of appendix D.1 exchanges the weight decays 0.3 and 3: networks with less weight decay grok later."),
    ),
    Contradiction(
        "X-N5",
        'Nanda et al. speak of the "other 95%" of the frequencies. Apart from key frequencies there are 51 of 56 frequencies (91.1%), 103 of 113 Fourier components (91.2%), or 99.7% of 113^2 components.',
        {
            "abstract.other95": (
                ablations.OTHER_FREQUENCIES,
                ablations.OTHER_COMPONENTS,
                "share of components of two numbers that are others",
            ),
        },
        "No way of counting the other frequencies gives 95%, neither with the paper's five key frequencies nor with ours.",
    ),
    Contradiction(
        "X-N6",
        "Nanda et al. count 4 components for each key frequency (sections 4.1 and 5.1), or 8 components (section 4.4). The paper's code counts 2 directions for each key frequency.",
        {
            "s44.keep_key_only": (
                *ablations.RATIO_WITH_TERMS.values(),
                *ablations.RATIO_ALONE.values(),
                *ablations.LOSS_ALONE.values(),
            )
        },
        "With 2, 4 or 8 components for each key frequency, keeping only the key frequencies in the logits lowers the loss. The fewer components of the logits are kept, the lower the loss. Section 4.4 of the paper counts 8 components for each frequency, without the constant, since the paper's total for five frequencies is 40. With 8 components for each key frequency, the paper's loss ratio lies within the range of our numerical replicates of the paper's seed.",
    ),
    Contradiction(
        "X-N7",
        "Appendix C.1.3 of Nanda et al. refers to table 1 for the attention's coefficients. Appendix D.1 of Nanda et al. refers to section 7 for curves.",
        {"table2.head0": (heads.RANK_FVE[1],), "s42.dot_products_90": ("readoff_mean",)},
        "Both references in appendices C.1.3 and D.1 are slips. The attention's coefficients are in table 2, the directions of W_L are in table 1, and the curves are in figure 7.",
    ),
    Contradiction(
        "X-N8",
        "Section 5.2 of Nanda et al. takes Gini coefficients of W_U and W_L. Figure 7 and the rest of the paper take the Gini coefficients of W_E and W_L.",
        {"fig7.bl": (progress.FINAL_GINI["W_E"], progress.FINAL_GINI["W_U"], progress.FINAL_GINI["W_L"])},
        "W_E, W_U and W_L are all sparse in the Fourier basis. We report the Gini coefficients of W_E and W_L, as figure 7 does.",
    ),
    Contradiction(
        "X-N11",
        "The caption of figure 18 of Nanda et al. says that restricted loss falls before train loss. Figure 7 of Nanda et al. says that restricted loss falls before test loss.",
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
        "The softmax in appendix A of Nanda et al. lacks the factor 1 / sqrt(d_head). The formula of attention in appendix A has a stray m, and uses one letter for scores and patterns.",
        {"C13.lookup": ("products of queries and keys over the scores",)},
        "The paper's network divides attention scores by sqrt(32) = 5.657, as the paper's code does.",
    ),
    Contradiction(
        "X-N14",
        "Nanda et al. do not say over which pairs restricted loss is computed. The paper's code takes all pairs for restricted loss, and the training pairs for excluded loss.",
        {
            "fig7.tr": tuple(progress.FINAL_RESTRICTED.values()),
            "fig7.tl": tuple(progress.FINAL_EXCLUDED.values()),
        },
        "The choice of pairs hardly matters for the restricted loss: the restricted losses on training and test pairs differ by less than a tenth.",
    ),
    Contradiction(
        "X-N15",
        "A comment in the code of Nanda et al. says that the loss is in float64, but the code computes the loss in float32. Appendix D.2 of Nanda et al. blames the precision of the loss for slingshots.",
        {"D2.lowprec": ("slingshots in float32", "slingshots in float64", "epochs between two rows")},
        "The precision of the loss seems to matter: one seed has five slingshots in float32, and no seed "
        "has slingshots in float64. The claim about float32 needs two more seeds.",
    ),
    Contradiction(
        "X-N16",
        "In appendix A of Nanda et al., the network has 113 outputs. In the code of Nanda et al., the network "
        "has 114 outputs. In the code, the output for the token = is trained, and left out of the analysis.",
        {"setup.arch": (setup.N_WEIGHTS,), "fig2.left.accuracy": ("grokked",)},
        "Whether the network has 113 or 114 outputs makes no difference. Networks of the paper's own seed have 114 outputs. Networks of another initialisation order have 113 outputs. Networks with 113 and with 114 outputs behave as the paper says.",
    ),
    Contradiction(
        "X-N17",
        (
            "Nanda et al. say that the residual of W_L is below 0.55%, but not whether 0.55% is a share of the norm "
            "or of the squared norm."
        ),
        {"s42.wl_residual": ("read_residual", readoff.SQUARED_RESIDUAL)},
        "By 0.55%, Nanda et al. mean a share of the squared norm of W_L. On the paper's seed, the residual has 0.20% to 0.65% of the squared norm of W_L (0.55% in our main network). On the paper's seed, the residual has 4.5% to 8.1% of the norm of W_L.",
    ),
    Contradiction(
        "X-N18",
        (
            "The text of Nanda et al. speaks of the l2 norm of the weights. The figures of Nanda et al. show the sum "
            "of squared weights."
        ),
        {"fig7.br": ("slope t2 to t3 over slope t1 to t2", "slope t2 to t3 over slope t1 to t2, of the norm")},
        "We show sums of squared weights. The choice between the norm and its square changes no statement "
        "about the weights.",
    ),
    Contradiction(
        "X-N19",
        "The abstract of Nanda et al. says that without the key frequencies the network is at chance. Table 4 of "
        "Nanda et al. has losses of 6.5 to 11 without the key frequencies, which is worse than chance (4.73).",
        {f"table4.seed{seed}": (seeds.TEST_LOSS_WITHOUT_KEYS,) for seed in range(1, 5)},
        "Without the key frequencies the network is worse than chance, which is a loss of 4.73.",
    ),
    Contradiction(
        "X-N9",
        "The caption of figure 24 of Nanda et al. has gamma = 5. Section 3 of Nanda et al. uses gamma for the "
        "learning rate. The text about figure 24 gives a weight decay of 5.",
        {"fig24": ()},
        "The number 5 in the caption of figure 24 is the weight decay: with a weight decay of 5 and a learning "
        "rate of 1e-3, networks modulo 53 grok.",
    ),
    Contradiction(
        "X-N10",
        "The caption of table 5 of Nanda et al. says that all networks without a dropout of 0.2 are right on more than 99.95% of the held-out pairs. Table 6 of Nanda et al. reports an accuracy of 99.6% on all pairs for networks of two layers.",
        {"table5.accuracy_note": ("test accuracy, one layer with weight decay", "test accuracy, two layers")},
        "Even networks of one layer can have a lower accuracy than 99.95%: some networks modulo 53 are right on "
        "fewer than 99.95% of the held-out pairs.",
    ),
    Contradiction(
        "X-N20",
        "Nanda et al. say that every network with weight decay adds by waves. Table 5 of Nanda et al. reports an "
        "FVE of the logits of only 63.9%, with two key frequencies, for a network trained on 80% of the pairs.",
        {
            "C23.consistent": (),
            "table5.80pct_data": ("n_keys", trainings.LOGIT_FVE, "gap"),
        },
        "In our network trained on 80% of the pairs, waves explain as much of the logits as in other networks. "
        "No generalising network of ours has an FVE (explained variance) of the logits of 63.9% or less.",
    ),
    Contradiction(
        "X-N21",
        "By appendix D.3 of Nanda et al., networks on sequences are trained with the hyper-parameters of the main model. The authors' archived runs on repeated subsequences have a residual stream of 48, heads of 12, betas of 0.9 and 0.999 and batches of 128. The authors' archived runs on sums have a vocabulary of 12 tokens and sequences of 18 positions.",
        {
            "fig31": ("largest drop of the test loss within 1,000 epochs", "final_test_loss"),
            "fig29.top": (sequences.LOSS_AT_END,),
        },
        "On sequences, we use the settings of the archived runs of Nanda et al. With the settings of the archived runs, the loss on repeated subsequences drops by 4.2 nats within 1,000 steps and ends at 0.34 (0.33 in the archived run).",
    ),
    Contradiction(
        "X-N22",
        "The caption of figure 29 of Nanda et al. says that the network learns the second digit at about step 270. In the archived runs the second digit's loss falls below 1 nat at step 490, and the steps at which two runs learn a digit differ by a factor of two to three.",
        {"fig29.bottom": sequences.FALL_OF_DIGIT},
        "In sums of long numbers, the loss of the first digit falls first. The order and the steps at which the "
        "losses of the other digits fall depend on the run.",
    ),
    Contradiction(
        "X-N23",
        "Nanda et al. say that few data are necessary and sufficient for grokking. The authors' archived runs "
        "with few training data end at test losses of about 0.2 and more.",
        {"fig30": ("highest_test_loss", "final_test_loss"), "D3.limited_data": ("share of verdicts as stated",)},
        "With 700 sums of five-digit numbers for training, the test loss falls long after memorisation, and "
        "stays at about 0.1 (partial grokking).",
    ),
    Contradiction(
        "X-N24",
        "The loss of the archived run of Nanda et al. on few long sums begins at 2.00. Guessing one of ten "
        "digits gives a loss of 2.30, which is higher than the archived run's first loss.",
        {"fig30": (sequences.LOSS_AT_START,)},
        "The loss of an untrained network is above the loss of guessing. So the archived network was "
        "already partly trained at its first recorded loss.",
    ),
    Contradiction(
        "X-N25",
        "Nanda et al. say that removing all but the key frequencies improves the loss. They do not say whether "
        "frequencies are removed from the logits or from the embedding.",
        {
            "s44.keep_key_only": (
                ablations.RATIO_WITH_TERMS["sums"],
                "loss over original, taken out of W_E",
                "accuracy, taken out of W_E",
            ),
        },
        "The loss falls only if all frequencies but the key frequencies are removed from the logits. If only the key frequencies are kept in the embedding, the answers are still right, but the loss is hundreds of times the original loss.",
    ),
    Contradiction(
        "X-N26",
        "Appendix A.1 of Nanda et al. says that without the skip connection around attention the loss is 19.1, so this connection is crucial. In three networks that the authors archived, the losses without the skip connection around attention are 6e-5, 5e-3 and 4e-7.",
        {"A1.attn_skip_zero": (ablations.LOSS, ablations.ACCURACY)},
        "Removing the skip connection around attention always raises the loss, but never to the loss of guessing. In eleven networks, six of the paper's seed, the loss without the skip connection around attention is 4e-4 to 1.2 nats.",
    ),
    Contradiction(
        "X-A4",
        "In networks that add, the two position embeddings have a correlation of 0.95 (Syrkis & Søgaard) or a cosine of 0.617 (the circuits report). Syrkis & Søgaard read a correlation of -0.64 as a sign of a task that does not commute.",
        {
            "fig16": (
                "cosine of the embeddings of the two positions",
                "Pearson correlation of the embeddings of the two positions",
            ),
            "fig2.left.accuracy": ("test accuracy by epoch 30,000",),
        },
        "The correlation of the two position embeddings depends on the seed and does not reveal whether a task "
        "commutes. The task of all our networks, addition, commutes.",
    ),
    Contradiction(
        "X-A5",
        "The number of key frequencies is 5 in the main network of Nanda et al., and 3 or 4 in other seeds. The "
        "network of the blog on the Clock has 3 key frequencies, and Kissane's MLP has 13.",
        {"fig3.right": ("n_keys",), "fig17": ("n_keys",)},
        "The number of key frequencies depends on the seed: networks of one recipe have 3, 4 or 5 key frequencies.",
    ),
    Contradiction(
        "X-A6",
        "Networks grok near epoch 10,000 (Nanda et al.), 4,000 (the Clock), 10,000 to 15,000 (circuits) and "
        "2,000 (an MLP).",
        {"fig2.left.accuracy": ("grokked", trainings.MEDIAN_GROKKING_EPOCH)},
        "The epochs at which seeds of one recipe grok differ by more than a factor of two.",
    ),
    Contradiction(
        "X-A7",
        "Nanda et al. say that the attention of each head has a single frequency, with fits of 98% to 99%. The "
        "blog on the Clock says that head 0 has many frequencies.",
        {
            "table2.head0": (heads.RANK_FVE[1], heads.N_EXPLAINED),
            "table2.head3": (heads.RANK_FVE[4],),
        },
        "Heads with one frequency and heads with many frequencies both occur, even in one network.",
    ),
    Contradiction(
        "X-A8",
        "Nanda et al. say that attention is periodic. The blog on the Clock says that attention looks random. "
        "The circuits report says that each number gets half of the attention.",
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
        "Nanda et al. say that without regularisation nothing groks from 30% of the pairs. A run without weight "
        "decay in the authors' archive generalises at once from 90% of the pairs.",
        {
            "s3.noreg_nogrok": ("final_train_accuracy", "highest_test_accuracy"),
            "fig20": tuple(map(fractions.delay_with, fractions.DELAYS_TOLD)),
        },
        "The results of training on 30% and on 90% of the pairs do not conflict. With much data, a network generalises while it memorises. Only with little data can a network grok, and grokking needs a regulariser.",
    ),
    Contradiction(
        "X-A9",
        (
            "The blog on the Clock says that the test loss is 0. Footnote 4 of Nanda et al. says that cross-entropy "
            "never reaches 0."
        ),
        {"fig2.right.loss": ("final_test_loss",), "E1.always_lower": ("loss at logits times 1.1 over loss",)},
        "The test loss is not 0 in any seed, and larger logits would still lower the test loss.",
    ),
    Contradiction(
        "X-A11",
        (
            'Syrkis & Søgaard leave out all biases, "following" Nanda et al. The network of Nanda et al. has biases '
            "in the MLP."
        ),
        {"setup.arch": (setup.N_WEIGHTS, "names and shapes as stated")},
        "The network of Nanda et al. has the biases b_in and b_out, and no other biases.",
    ),
    Contradiction(
        "X-A12",
        "Nanda et al. say that W_L leaves less than 0.55% outside the directions of key frequencies. Kissane "
        "says that W_U keeps 98% of its norm in the directions of key frequencies.",
        {"s42.wl_residual": (readoff.SQUARED_RESIDUAL, "read_residual")},
        "A matrix with 98.2% of its norm in the key directions has 3.5% of its squared norm outside, which is "
        "18.7% of the norm. We report the residual of W_L as a share of the norm and of the squared norm.",
    ),
)
