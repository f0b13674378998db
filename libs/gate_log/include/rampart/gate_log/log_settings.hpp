#pragma once

#include <string>
#include <vector>

#include "rampart/config/table.hpp"
#include "rampart/gate/gate_settings.hpp"
#include "rampart/ope/logged_feedback.hpp"

namespace rampart::gate_log {

/// Settings of a gate on a log.
struct LogSettings {
    gate::GateSettings gate;  // with the impact's range, units and known value of a decline
    std::vector<std::string> group_columns;  // protected attributes, unique, at least one
    /// Groups in order, "sex=F" or "sex=F,age=under_30"; empty: every value of each column.
    std::vector<std::string> group_names{};
    ope::ErasedCounts erased_vault{}, erased_development{};  // by group as in group_names
};

/// Reads the whole of a gate.toml:
///     [gate]    as in rampartd.toml, but what needs features or a store
///     [impact]  minimum, maximum: the declared range of an impact; units (text); declined: the
///               impact of every decline, if that is known
///     [groups]  columns = ["sex", "age_band"]: the log's columns with protected attributes;
///               names = ["sex=F", "sex=F,age_band=low"]: the groups, if not all values are meant
///     [erased]  vault, development: numbers of records that count at the worst, if there are any:
///               those of erased persons, and of these vault_unexplained of another schema file and
///               vault_unreadable that cannot be read;
///               vault_groups, development_groups: of these in each group of groups.names
/// Errors: config's, with file, line and key; "not_in_a_log" for a setting that needs features.
base::Result<LogSettings> read_settings(config::Table root);

}  // namespace rampart::gate_log
