"""The source `pizza`: Zhong et al. 2023, on two algorithms for addition mod 59, the Clock and the Pizza."""
