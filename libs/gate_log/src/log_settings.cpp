#include "rampart/gate_log/log_settings.hpp"

#include <algorithm>
#include <set>

#include "rampart/gate_log/reasons.hpp"
#include "rampart/training/gate_inputs.hpp"

namespace rampart::gate_log {
namespace {

using base::Status;

void read_impact(config::Table& root, certification::GateConfig& config) {
    auto impact = root.table("impact");
    config.impact_lo = impact.number("minimum", -1e9, 1e9);
    config.impact_hi = impact.number("maximum", -1e9, 1e9);
    if (!(config.impact_lo < config.impact_hi)) impact.fail("maximum", "must be above the minimum");
    if (impact.has("declined")) config.declined_impact = impact.number("declined", -1e9, 1e9);
    const auto declined = config.declined_impact;
    if (declined && (*declined < config.impact_lo || *declined > config.impact_hi))
        impact.fail("declined", "must lie between minimum and maximum");
    config.impact_units = impact.string("units", "units");
}

std::vector<std::string> read_columns(config::Table& root) {
    auto groups = root.table("groups");
    auto columns = groups.strings("columns");
    if (columns.empty()) groups.fail("columns", "must name one column of the log, or more");
    if (std::set<std::string>(columns.begin(), columns.end()).size() != columns.size())
        groups.fail("columns", "must name each column once");
    return columns;
}

Status check_without_features(const gate::GateSettings& settings) {
    const auto refuse = [](std::string_view key) {
        return base::make_error(Reason::kNotInALog, "gate.{}: a log has no features", key);
    };
    if (settings.config.max_drift_auc) return refuse("max_drift_auc");
    if (settings.config.control_variates == certification::ControlVariateKind::kRegression)
        return refuse("control_variates = \"regression\"");
    return base::ok();
}

}  // namespace

base::Result<LogSettings> read_settings(config::Table root) {
    LogSettings settings;
    settings.gate = gate::read_gate_settings(root);
    read_impact(root, settings.gate.config);
    settings.group_columns = read_columns(root);
    RAMPART_RETURN_IF_ERROR(root.finish());
    RAMPART_RETURN_IF_ERROR(check_without_features(settings.gate));
    settings.gate.config.records_per_person = training::kRecordsPerPerson;
    RAMPART_RETURN_IF_ERROR(certification::validate(settings.gate.config));
    return settings;
}

}  // namespace rampart::gate_log
