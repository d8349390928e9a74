"""Values of a key, or whole scenarios, side by side."""
