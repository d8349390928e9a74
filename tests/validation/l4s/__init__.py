"""L4S through DualPI2 compared with closed forms; docs/validation/l4s-curves.md."""
