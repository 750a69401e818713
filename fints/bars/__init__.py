"""Bars: their schema, the sources they come from, the checks they pass and the store that keeps every version."""
