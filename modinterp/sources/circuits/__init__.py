"""The source "Circuit engineering": a report on networks for addition, maximum, median and sort."""
