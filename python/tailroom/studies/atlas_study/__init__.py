"""The runs of the atlas: the search of each cell, and the rows of its data."""
