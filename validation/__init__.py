"""Measurements of other systems, which tailroom is compared with."""
