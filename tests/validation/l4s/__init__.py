"""L4S through DualPI2 beside closed forms; docs/validation/l4s-curves.md."""
