#include "rampart/gate/gate_settings.hpp"

#include "rampart/constraints/parse.hpp"

namespace rampart::gate {
namespace {

/// Reads the bound and the estimate by which the gate decides.
void read_estimate(config::Table& gate, certification::GateConfig& config) {
    using certification::ControlVariateKind;
    using stats::BoundMethod;
    const auto bound =
        gate.choice("bound", {"betting", "student_t", "hoeffding", "maurer_pontil"}, "betting");
    for (const BoundMethod b : {BoundMethod::kBetting, BoundMethod::kStudentT,
                                BoundMethod::kHoeffding, BoundMethod::kMaurerPontil}) {
        if (to_string(b) == bound) config.bound = b;
    }
    if (gate.has("centres")) gate.fail("centres", "is called control_variates now: rename the key");
    const auto kind = gate.choice(
        "control_variates", {"per_action", "single", "none", "best", "regression"}, "per_action");
    for (const ControlVariateKind c :
         {ControlVariateKind::kPerAction, ControlVariateKind::kSingle, ControlVariateKind::kNone,
          ControlVariateKind::kBest, ControlVariateKind::kRegression}) {
        if (to_string(c) == kind) config.control_variates = c;
    }
    config.min_power = gate.number("min_power", 0, 1, 0.5);
    if (gate.has("at_least")) config.at_least = gate.number("at_least", -1e9, 1e9);
    if (gate.has("max_weight")) config.max_weight = gate.number("max_weight", 1, 1000);
}

/// Reads [[gate.constraint]]: names and texts. The names in a text are looked up later, when schema
/// and groups are known.
void read_constraints(config::Table& gate, certification::GateConfig& config) {
    for (auto& table : gate.tables("constraint")) {
        certification::NamedConstraint named{table.string("name"), table.string("expression")};
        const auto parsed = constraints::parse(named.expression);
        if (!parsed) table.fail("expression", parsed.error().message);
        config.named_constraints.push_back(std::move(named));
    }
}

}  // namespace

GateSettings read_gate_settings(config::Table& root) {
    GateSettings settings;
    auto gate = root.table("gate");
    settings.config.delta_epoch = gate.number("delta_epoch", 1e-9, 0.5, 0.1);
    settings.config.runs_per_epoch =
        static_cast<unsigned>(gate.integer("runs_per_epoch", 1, 1000, 12));
    read_estimate(gate, settings.config);
    settings.config.kappa = gate.number("kappa", 0.01, 1, 0.5);
    settings.distilled_kappa = gate.number("distilled_kappa", 0.01, 10, settings.distilled_kappa);
    settings.config.margin = gate.number("margin", 0, 1e9, 0);
    settings.config.spending =
        gate.choice("spending", {"equal", "by_history"}, "by_history") == "equal"
            ? certification::Spending::kEqual
            : certification::Spending::kByHistory;
    settings.config.min_units =
        static_cast<unsigned>(gate.integer("min_units_per_group", 2, 1'000'000'000, 100));
    settings.config.valid_months =
        static_cast<unsigned>(gate.integer("valid_months", 1, certification::kMaxValidMonths, 12));
    settings.config.declines_overridden = gate.boolean("declines_overridden", false);
    settings.config.referrals = gate.boolean("referrals", false);
    if (gate.has("max_drift_auc"))
        settings.config.max_drift_auc = gate.number("max_drift_auc", 0.5, 1);
    settings.drift_weeks =
        static_cast<int>(gate.integer("drift_weeks", 1, 520, settings.drift_weeks));
    const double delta = settings.config.delta_epoch;  // calibration_level is paid out of it
    settings.config.calibration_level =
        gate.number("calibration_level", delta / 1e6, delta / 2, delta / 10);
    if (gate.has("acknowledged_alarm")) {
        auto alarm = gate.table("acknowledged_alarm");
        settings.acknowledged_epoch =
            static_cast<uint32_t>(alarm.integer("epoch", 1, 1'000'000'000));
        settings.acknowledged_why = alarm.string("why");
        if (settings.acknowledged_why.empty()) alarm.fail("why", "must say what was looked for");
    }
    settings.config.max_missing_rate = gate.number("max_missing_rate", 0, 1, 0.02);
    if (gate.has("missing_gamma"))
        settings.config.missing_gamma = gate.number("missing_gamma", 0, 1e9);
    settings.late_attributes =
        gate.choice("late_attributes", {"missing", "assumed"}, "missing") == "assumed"
            ? training_set::LateAttributes::kAssumed
            : training_set::LateAttributes::kMissing;
    settings.look_again = gate.boolean("look_again", false);
    // a tolerated loss must not add up from promotion to promotion
    settings.anchor = gate.boolean("anchor", settings.config.margin > 0);
    settings.max_age_months = static_cast<int>(gate.integer("max_age_months", 0, 1200, 0));
    settings.commit_log = gate.boolean("commit_log", true);
    read_constraints(gate, settings.config);
    return settings;
}

}  // namespace rampart::gate
