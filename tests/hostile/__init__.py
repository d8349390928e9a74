"""Generated scenarios: usual ones and hostile ones, made from the schema, and what must hold."""
