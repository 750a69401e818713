"""What an arm came to."""


def planes_for_cycles(encoding):
    """Planes for the cycles, by layer and head, of whatever an arm came to."""
    if hasattr(encoding, "widths"):
        parts = [part.planes for part in encoding.encodings()[1:]]
        return [
            [sum((part[i][h] for part in parts), ()) for h in range(len(parts[0][i]))] for i in range(len(parts[0]))
        ]
    if hasattr(encoding, "counts"):
        parts = [part.planes for part in encoding.encodings()]
        planes = [[head for part in parts for head in part[layer]] for layer in range(len(parts[0]))]
    else:
        planes = encoding.planes
    return [[tuple(plane for plane in head if plane.clock != "index") for head in layer] for layer in planes]
