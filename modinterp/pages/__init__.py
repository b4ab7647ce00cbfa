"""What every page is made of: one head and style, plotly once, figures and tables that fit any width."""
