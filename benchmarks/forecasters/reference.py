"""Scores that were published with the protocols, for models that are not run again and left no forecasts."""

from __future__ import annotations

DAILY: dict[str, dict[str, tuple[float, float]]] = {
    "log_volume": {
        "PatchTST, 900 steps, mean of 3 seeds": (0.2547, 0.1507),
        "LightGBM, recursive on differences": (0.2388, 0.1450),
        "AutoARIMA with calendar": (0.2468, 0.1484),
        "AutoETS": (0.295, 0.184),
        "Theta": (0.296, 0.186),
        "NHITS": (0.300, 0.185),
    },
    "log_range": {
        "PatchTST, 900 steps, mean of 3 seeds": (0.5057, 0.3092),
        "AutoETS": (0.509, 0.313),
        "Theta": (0.510, 0.317),
        "AutoARIMA with calendar": (0.514, 0.314),
        "NHITS, mean of 3 seeds": (0.5506, 0.3416),
    },
    "log_return": {},
}
"""RMSE and CRPS; the mean over the four series."""

HOURLY: dict[str, tuple[float, float, float]] = {
    "context mean": (1.084, 1.143, 1.187),
    "same bar of the day before": (0.928, 1.113, 1.199),
    "time-of-day mean over 20 sessions": (0.816, 0.908, 0.962),
    "time-of-day mean and a decaying level": (0.753, 0.895, 0.941),
    "LightGBM, direct": (0.759, 0.910, 0.956),
    "trial transformer, RoPE": (0.786, 1.013, 1.199),
    "trial transformer, cycle": (0.740, 0.897, 0.963),
}
"""RMSE of the bands 1 to 14, 15 to 35 and 36 to 70, in standard deviations of the context."""

CPU: dict[str, float] = {"PatchTST": 113, "NHITS": 235, "TFT": 552, "LightGBM, direct": 71, "AutoARIMA": 97}
"""Seconds for two targets, on six series and another machine."""

BOUNDS_DAILY: dict[tuple[str, str], float] = {
    ("log_volume", "RMSE"): 0.2390,
    ("log_volume", "CRPS"): 0.1439,
    ("log_range", "RMSE"): 0.4902 * 1.005,
    ("log_range", "CRPS"): 0.3013 * 1.005,
}
"""The best deep peer and statistical model on log volume; HAR and half a percent on log range."""

BOUNDS_HOURLY = (0.740, 0.895, 0.941 * 1.01)
"""The best row of `HOURLY`, with one percent in the last band."""
