"""Numerical methods that several models share: roots, searches, distributions, Markov chains."""
