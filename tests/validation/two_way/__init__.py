"""Two-way traffic beside ns-2 and beside a second simulator; docs/validation/two-way.md."""
