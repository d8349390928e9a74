"""Two-way traffic compared with ns-2 and with a second simulator; docs/validation/two-way.md."""
