"""Training as numbers: memorisation, grokking, phases, curves and progress measures."""
