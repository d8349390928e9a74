"""A congestion control judged by the criteria of RFC 9743."""
