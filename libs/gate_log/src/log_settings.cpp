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

bool are_unique(const std::vector<std::string>& names) {
    return std::set<std::string_view>(names.begin(), names.end()).size() == names.size();
}

/// Returns whether each part of a name such as "sex=F,age=low" has one of the columns.
bool is_group_of(std::string_view name, const std::vector<std::string>& columns) {
    while (true) {
        const auto part = name.substr(0, name.find(','));
        const auto equals = part.find('=');
        if (equals == part.npos || equals + 1 == part.size() ||
            std::find(columns.begin(), columns.end(), part.substr(0, equals)) == columns.end())
            return false;
        if (part.size() == name.size()) return true;
        name.remove_prefix(part.size() + 1);
    }
}

void read_groups(config::Table& root, LogSettings& settings) {
    auto groups = root.table("groups");
    settings.group_columns = groups.strings("columns");
    settings.group_names = groups.strings("names");
    const auto &columns = settings.group_columns, &names = settings.group_names;
    if (columns.empty()) groups.fail("columns", "must name one column of the log, or more");
    if (!are_unique(columns)) groups.fail("columns", "must name each column once");
    if (!are_unique(names)) groups.fail("names", "must name each group once");
    for (const auto& name : names) {
        if (!is_group_of(name, columns))
            groups.fail("names", "must be column=value with columns of 'columns', joined by ','");
    }
}

void read_erased(config::Table& root, LogSettings& settings) {
    if (!root.has("erased")) return;
    auto erased = root.table("erased");
    const auto read = [&](const std::string& side, ope::ErasedCounts& counts) {
        constexpr int64_t kMost = 1'000'000'000;
        counts.records = static_cast<size_t>(erased.integer(side, 0, kMost, 0));
        for (const int64_t n : erased.integers(side + "_groups", 0, kMost))
            counts.of_group.push_back(static_cast<size_t>(n));
        if (counts.records > 0 && counts.of_group.size() != settings.group_names.size())
            erased.fail(side, "needs a number for each group of groups.names, too");
        const auto most = static_cast<int64_t>(counts.records);
        const auto unexplained = erased.integer(side + "_unexplained", 0, most, 0);
        counts.unexplained = static_cast<size_t>(unexplained);
        counts.unreadable =
            static_cast<size_t>(erased.integer(side + "_unreadable", 0, most - unexplained, 0));
    };
    read("vault", settings.erased_vault);
    read("development", settings.erased_development);
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
    read_groups(root, settings);
    read_erased(root, settings);
    RAMPART_RETURN_IF_ERROR(root.finish());
    RAMPART_RETURN_IF_ERROR(check_without_features(settings.gate));
    settings.gate.config.records_per_person = training::kRecordsPerPerson;
    RAMPART_RETURN_IF_ERROR(certification::validate(settings.gate.config));
    return settings;
}

}  // namespace rampart::gate_log
