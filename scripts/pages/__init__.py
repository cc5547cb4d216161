"""The pages of the documentation that are made while it is built: one a format, one a provider, the benchmark."""
