"""Build the parts of every page: head, style, the library plotly, and figures and tables that fit any width."""
