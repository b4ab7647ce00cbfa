"""The parts of every page: one head and style, plotly once, figures and tables that fit any width."""
