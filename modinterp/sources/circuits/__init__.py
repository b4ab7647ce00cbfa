"""The report "Circuit engineering": addition, maximum, median and sort, taken apart."""
