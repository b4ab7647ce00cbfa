"""Format the output of commands: help, one-line errors, suggestions and progress bars, without slow imports."""
