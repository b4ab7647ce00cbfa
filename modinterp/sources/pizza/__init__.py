"""Zhong et al. 2023: two algorithms for addition mod 59, the Clock and the Pizza."""
