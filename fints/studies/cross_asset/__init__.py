"""Attention across series, with and without a cycle in the encoding."""

from fints.studies.cross_asset.study import cross_asset

__all__ = ["cross_asset"]
