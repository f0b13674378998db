"""Limits of the settings that a run may be tested with: with others no bound need hold."""
import math

from bounds import need

WORDS = {"spending": ("by_history", "equal"), "trust_region": ("both_actions", "approvals"),
         "bound": ("betting", "student_t", "hoeffding", "maurer_pontil"),
         "labels_of": ("granted", "everybody"),
         "centres": ("per_action", "single", "none", "best", "regression")}
OPTIONAL = ("labels_of", "centres")  # of the words
# numbers: whether they fit, what is allowed, what they are if they are left out (None: they may be)
NUMBERS = {
    "delta_epoch": (lambda x: 0 < x <= 0.5, "lie in (0, 0.5]"),
    "bet_cap": (lambda x: 0 < x < 1, "lie in (0, 1)"),
    "margin": (lambda x: True, "be finite"),
    "max_missing_rate": (lambda x: 0 <= x <= 1, "lie in [0, 1]"),
    "min_power": (lambda x: 0 <= x <= 1, "lie in [0, 1]", None),
    "max_calibration_z": (lambda x: x > 0, "be positive", None),
    "calibration_level": (lambda x: 0 < x <= 0.5, "lie in (0, 0.5]", None),
    "max_drift_auc": (lambda x: 0.5 <= x <= 1, "lie in [0.5, 1]", None),
    "missing_gamma": (lambda x: x >= 0, "be 0 or more", None),
    "max_weight": (lambda x: 1 <= x <= 1000, "lie in [1, 1000]", None),
    "impact_lo": (lambda x: True, "be finite"),
}
COUNTS = {
    "runs_per_epoch": (1, 1000, "lie in [1, 1000]"),
    "records_per_person": (0, 1000, "be 1000 or less", 0),
    "valid_months": (0, 60, "be 60 or less", 0),
    "min_units": (2, math.inf, "be 2 or more"),
    "min_outcomes": (2, math.inf, "be 2 or more"),
}
MAX_CONSTRAINTS, MAX_CONDITIONS, MAX_NAME_BYTES = 16, 32, 128


def is_number(value):
    return type(value) in (int, float) and math.isfinite(value)


def require(fits, setting, value, allowed):
    need(fits, f"{setting} = {value}: must {allowed}")


def check_numbers(config):
    for name, (fits, allowed, *absent) in NUMBERS.items():
        if name in config or not absent:
            value = config.get(name)
            require(is_number(value) and fits(value), name, value, allowed)
    for name, (least, most, allowed, *absent) in COUNTS.items():
        value = config.get(name, *absent)
        require(type(value) is int and least <= value <= most, name, value, allowed)
    for name in ("referrals", "declines_overridden"):
        value = config.get(name, False)
        require(type(value) is bool, name, value, "be true or false")


def check_words(config):
    for name, words in WORDS.items():
        value = config.get(name, words[0] if name in OPTIONAL else None)
        require(value in words, name, value, f"be one of {', '.join(words)}")
    units = config["impact_units"]
    short = isinstance(units, str) and len(units.encode()) <= MAX_NAME_BYTES
    require(short, "impact_units", units, "be short")


def check_impacts(config):
    lo, hi = config["impact_lo"], config["impact_hi"]
    fits = is_number(hi) and hi > lo and math.isfinite(hi - lo)
    require(fits, "impact_hi", hi, "be finite and above impact_lo")
    within = lambda x: is_number(x) and lo <= x <= hi
    declined, least = config["declined_impact"], config.get("at_least", lo)
    allowed = "lie in [impact_lo, impact_hi]"
    require(declined is None or within(declined), "declined_impact", declined, allowed)
    require(within(least), "at_least", least, allowed)


def check_trust_region(config):
    region, kappa, most = config["trust_region"], config["kappa"], 1
    if region == "approvals":
        require(config["declined_impact"] is not None, "trust_region", region,
                "be both_actions unless declined_impact is declared")
        most = 10
    require(is_number(kappa) and 0 < kappa <= most, "kappa", kappa, f"lie in (0, {most}]")


def check_names(config):
    names = [x["name"] for x in config.get("constraints", [])]
    many = f"{len(names)} constraints; at most {MAX_CONSTRAINTS} are allowed"
    need(len(names) <= MAX_CONSTRAINTS, many)
    need(len(set(names)) == len(names), "two constraints have one name")
    for name in names:
        printable = all(byte >= 0x20 and byte != 0x7f for byte in name.encode())
        need(printable and 1 <= len(name.encode()) <= MAX_NAME_BYTES, f"the name '{name}'")


def check_settings(config):
    """Rejects a setting that the gate takes from nobody, and names it."""
    check_numbers(config)
    check_words(config)
    check_impacts(config)
    check_trust_region(config)
    check_names(config)
    records = config.get("records_per_person", 0)
    require(records or not config.get("referrals", False), "referrals", "true",
            "be false without records_per_person")
    require(not records or "max_calibration_z" not in config, "max_calibration_z",
            config.get("max_calibration_z"),
            "be left out with records_per_person: give calibration_level")
    one = ("max_calibration_z" in config) != ("calibration_level" in config)
    need(one, "either max_calibration_z or calibration_level must be there")
