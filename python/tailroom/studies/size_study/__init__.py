"""The smallest buffer that meets targets."""
