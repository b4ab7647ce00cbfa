"""Build the parts of every page: head and style, plotly, and figures and tables that fit any width."""
