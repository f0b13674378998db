#include "erased_records.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace rampart::data_retention {
namespace {

using base::Result;
using base::TimePoint;

Result<std::optional<uint32_t>> cell_of(const ErasureDeps& deps, const domain::PersonId& person,
                                        TimePoint decided_at) {
    const bool now = deps.late_attributes == training_set::LateAttributes::kAssumed;
    RAMPART_TRY(const auto member, now ? deps.attributes.membership(person)
                                       : deps.attributes.membership_at(person, decided_at));
    return member.cell;
}

training_set::Row row_of(const domain::Decision& decision) {
    training_set::Row row;
    row.decision = decision.id;
    row.person = decision.application.person;
    row.event_time = decision.application.event_time;
    row.decided_at = decision.decided_at;
    row.window = decision.draw_window;
    return row;
}

/// Returns how many other persons have month, side, action and cell in common with a record.
Result<size_t> others_alike(const ErasureDeps& deps, const domain::Decision& decision,
                            uint32_t cell) {
    const auto& person = decision.application.person;
    RAMPART_TRY(const TimePoint from,
                base::parse_iso8601(base::month_of(decision.application.event_time) + "-01"));
    const bool vault = training_set::in_vault(deps.split_salt, person);
    std::set<domain::PersonId> others;
    const auto see = [&](const domain::Decision& other) -> base::Status {
        const auto& candidate = other.application.person;
        if (candidate == person || other.action != decision.action) return base::ok();
        if (training_set::in_vault(deps.split_salt, candidate) != vault) return base::ok();
        RAMPART_TRY(const auto of_other, cell_of(deps, candidate, other.decided_at));
        if (of_other == cell) others.insert(candidate);
        return base::ok();
    };
    RAMPART_RETURN_IF_ERROR(deps.joiner.decisions(from, base::add_months(from, 1), see));
    return others.size();
}

}  // namespace

Result<std::vector<privacy::ErasedRecords>> erased_records(
    const ErasureDeps& deps, const domain::PersonId& person,
    const std::vector<domain::DecisionId>& decisions) {
    using Side = privacy::ErasedRecords::Side;
    std::vector<training_set::Row> rows;
    std::map<domain::DecisionId, domain::Decision> known;
    for (const auto& id : decisions) {
        RAMPART_TRY(auto decision, deps.joiner.find_decision(id));
        if (!decision) continue;
        rows.push_back(row_of(*decision));
        known.emplace(id, std::move(*decision));
    }
    std::vector<privacy::ErasedRecords> out;
    if (rows.empty() && !decisions.empty()) out.push_back({.records = 1});
    training_set::number_records(rows);
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.ordinal < b.ordinal; });
    std::set<std::string> months;
    for (const auto& row : rows) {
        const std::string month = base::month_of(row.event_time);
        if (row.repeat || !months.insert(month).second) continue;
        const auto& decision = known.at(row.decision);
        privacy::ErasedRecords& one = out.emplace_back();
        one.month = month;
        one.side =
            training_set::in_vault(deps.split_salt, person) ? Side::kVault : Side::kDevelopment;
        one.action = to_string(decision.action);
        one.later = row.ordinal > 0;
        one.records = 1;
        RAMPART_TRY(const auto cell, cell_of(deps, person, row.decided_at));
        if (!cell) continue;
        RAMPART_TRY(const size_t others, others_alike(deps, decision, *cell));
        if (others >= kMinPersonsOfCell) one.cell = deps.attributes.catalog().cells()[*cell];
    }
    return out;
}

}  // namespace rampart::data_retention
