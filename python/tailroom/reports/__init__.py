"""Documents in Markdown and HTML."""
