"""Cross-asset attention: what the panel's other series had shown at the instant at which a context ends."""
