"""The source ARENA: runs, claims and figures of ARENA's five monthly algorithmic problems, such as sorted lists and
palindromes.
"""
