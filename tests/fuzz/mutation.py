"""Mutations of a chart answer: structure, types, order, lengths, numbers, dates, bytes."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

    Path = tuple[str | int, ...]

ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 17.5, "", "text", "10.5", "NaN", "2018-12-24", [], {}, [None], [[]], {"raw": 1.0}),
    *(float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 5e-324, 2**63, -(2**63), 10**30, 2**32 + 1),
)
STAMPS: tuple[Any, ...] = (
    *(0, -1, -86400, -(10**10), 10**10, 10**12, 10**18, 2**31, 1545316200.5, "1545316200", None, True),
    *(1545316200, 1545402600, 1545661800, 1545834600, 4102444800),
)
ZONES = ("Europe/London", "Asia/Tokyo", "Pacific/Kiritimati", "America/Chicago", "UTC", "No/Where", "", None, 5)
CODES = ("LSE", "CCC", "JPX", "XXX", "", None, "CCY", 7)


def places(node: Any, path: Path = ()) -> list[Path]:
    """Return the path of every node below this one."""
    children = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [at for key, child in children for at in ((*path, key), *places(child, (*path, key)))]


def lists(node: Any) -> list[list[Any]]:
    """Return every list of some length in the answer."""
    found = [node] if isinstance(node, list) and len(node) > 1 else []
    children = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return found + [below for child in children for below in lists(child)]


def _holder(answer: Any, path: Path) -> Any:
    for key in path[:-1]:
        answer = answer[key]
    return answer


def put_odd(answer: Any, random: Random) -> None:
    path = random.choice(places(answer))
    _holder(answer, path)[path[-1]] = copy.deepcopy(random.choice(ODD))


def put_odd_value(answer: Any, random: Random) -> None:
    column = random.choice(lists(answer) or [[0, 0]])
    column[random.randrange(len(column))] = copy.deepcopy(random.choice(ODD))


def remove(answer: Any, random: Random) -> None:
    path = random.choice(places(answer))
    del _holder(answer, path)[path[-1]]


def rename(answer: Any, random: Random) -> None:
    path = random.choice([path for path in places(answer) if isinstance(path[-1], str)])
    holder = _holder(answer, path)
    holder[random.choice(["close", "symbol", "x", str(path[-1]).upper()])] = holder.pop(path[-1])


def swap(answer: Any, random: Random) -> None:
    one, two = random.choice(places(answer)), random.choice(places(answer))
    if one[: len(two)] == two or two[: len(one)] == one:
        return
    first, second = _holder(answer, one), _holder(answer, two)
    first[one[-1]], second[two[-1]] = second[two[-1]], first[one[-1]]


def shuffle(answer: Any, random: Random) -> None:
    random.shuffle(random.choice(lists(answer) or [[]]))


def shorten(answer: Any, random: Random) -> None:
    column = random.choice(lists(answer) or [[0]])
    del column[random.randrange(len(column)) :]


def lengthen(answer: Any, random: Random) -> None:
    column = random.choice(lists(answer) or [[0]])
    column.insert(random.randrange(len(column) + 1), copy.deepcopy(random.choice(column)))


def scale(answer: Any, random: Random) -> None:
    column, factor = random.choice(lists(answer) or [[0]]), random.choice([0.01, 100, -1, 0, 1e200, 1e-200, 2])
    column[:] = [factor * v if isinstance(v, int | float) and not isinstance(v, bool) else v for v in column]


def blank(answer: Any, random: Random) -> None:
    column = random.choice(lists(answer) or [[0]])
    column[:] = [None] * len(column)


def _result(answer: Any) -> Any:
    return answer["chart"]["result"][0]


def move_stamps(answer: Any, random: Random) -> None:
    stamps = _result(answer)["timestamp"]
    for _ in range(random.randint(1, 3)):
        stamps[random.randrange(len(stamps))] = random.choice(STAMPS)


def shift_stamps(answer: Any, random: Random) -> None:
    by = random.choice([86400, -86400, 3600, -3600, 6 * 3600, -12 * 3600, 43200, 1, 10**9, 365 * 86400])
    _result(answer)["timestamp"] = [stamp + by for stamp in _result(answer)["timestamp"]]


def reverse_rows(answer: Any, random: Random) -> None:
    del random
    result = _result(answer)
    for column in (result["timestamp"], *lists(result["indicators"])):
        column.reverse()


def repeat_row(answer: Any, random: Random) -> None:
    result = _result(answer)
    columns = [result["timestamp"], *(c for c in lists(result["indicators"]) if not isinstance(c[0], dict))]
    at, to = random.randrange(len(columns[0])), random.randrange(len(columns[0]) + 1)
    for column in columns:
        column.insert(to, column[at])


def move_zone(answer: Any, random: Random) -> None:
    _result(answer)["meta"]["exchangeTimezoneName"] = random.choice(ZONES)


def move_exchange(answer: Any, random: Random) -> None:
    _result(answer)["meta"]["exchangeName"] = random.choice(CODES)


def another_granularity(answer: Any, random: Random) -> None:
    _result(answer)["meta"]["dataGranularity"] = random.choice(["1wk", "1mo", "3mo", "1m", None, 5, "x"])


def second_result(answer: Any, random: Random) -> None:
    results = answer["chart"]["result"]
    results.insert(random.randrange(2), {"meta": {"symbol": "OTHER"}} if random.random() < 0.5 else {})


def refuse(answer: Any, random: Random) -> None:
    answer["chart"]["error"] = random.choice(
        [{"code": "Not Found", "description": 5}, {"code": "x"}, "text", [], {"description": None}, True]
    )


MUTATIONS: tuple[Callable[[Any, Random], None], ...] = (
    *(put_odd, put_odd, put_odd_value, put_odd_value, put_odd_value, remove, rename, swap, shuffle, shorten, lengthen),
    *(scale, blank, move_stamps, move_stamps, shift_stamps, reverse_rows, repeat_row, repeat_row),
    *(move_zone, move_exchange, another_granularity, second_result, refuse),
)


def mutate(answer: Any, random: Random) -> bytes:
    """Mutate an answer in place and return its bytes."""
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        try:
            random.choice(MUTATIONS)(answer, random)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError):
            continue  # an earlier mutation took away what this one works on
    body = json.dumps(answer).encode()
    if random.random() < 0.05:
        body = _damage(body, random)
    return body


def _damage(body: bytes, random: Random) -> bytes:
    at = random.randrange(len(body))
    return random.choice(
        [body[:at], body[:at] + bytes([random.randrange(256)]) + body[at:], b"\xef\xbb\xbf" + body, body + body,
         body[:at] + body[at + 1 :], b"\x00" + body, b" " * 1000 + body, b"[" * 5000]
    )  # fmt: skip
