#include "gate/origin.hpp"

#include <algorithm>

#include "rampart/report/text_table.hpp"

namespace rampart::cli {
namespace {

using certification::Certificate;
using report::Table;

constexpr const char* kHeading = "Where it comes from";

Table facts_of(const Certificate& c) {
    Table rows;
    const auto fact = [&](const char* name, const std::string& value) {
        if (!value.empty()) rows.push_back({name, value});
    };
    const auto time = [](const std::optional<base::TimePoint>& at) {
        return at ? base::to_iso8601(*at) : std::string();
    };
    const auto& id = c.plan.identity;
    fact("software", id.software);
    fact("finished by the software", c.finished_by);
    fact("proposed by", id.proposed_by);
    fact("recipe of the training", id.recipe);
    if (c.ledger) fact("charged, by the machine's clock", time(c.ledger->registration.wall_clock));
    fact("issued, by the machine's clock", time(c.issued_wall_clock));
    fact("permits a promotion until", time(c.valid_until));
    return rows;
}

Table loggers_of(const Certificate& c) {
    Table rows;
    for (const auto& logger : c.plan.identity.loggers) {
        if (rows.empty()) rows.push_back({"decided by", "first", "last", "in the evidence"});
        rows.push_back({logger.id, base::to_iso8601(logger.first), base::to_iso8601(logger.last),
                        std::to_string(logger.records)});
    }
    return rows;
}

/// Returns the decisions of a group, of all ("") or of those in no group: in the evidence, and left
/// out by reason.
std::vector<std::string> counts_of(const Certificate& c, std::string_view group, size_t evidence,
                                   const std::vector<std::string>& reasons) {
    std::vector<std::string> row{group.empty() ? "all" : std::string(group),
                                 std::to_string(evidence)};
    for (const auto& reason : reasons) {
        size_t records = 0;
        for (const auto& one : c.plan.identity.left_out) {
            if (one.reason == reason && one.group == group) records = one.records;
        }
        row.push_back(std::to_string(records));
    }
    return row;
}

Table decisions_of(const Certificate& c) {
    const auto& id = c.plan.identity;
    if (id.decisions == 0) return {};
    std::vector<std::string> reasons;
    for (const auto& one : id.left_out) {
        if (one.group.empty()) reasons.push_back(one.reason);
    }
    Table rows{{"decisions of the vault", "in the evidence"}};
    rows.front().insert(rows.front().end(), reasons.begin(), reasons.end());
    rows.push_back(counts_of(c, "", c.evidence_records, reasons));
    for (const auto& group : c.plan.groups) {
        if (group.against == certification::Against::kReference)
            rows.push_back(counts_of(c, group.name, group.records, reasons));
    }
    rows.push_back(counts_of(c, certification::kUnknownGroup, id.in_no_group, reasons));
    return rows;
}

}  // namespace

std::string origin_text(const Certificate& c) {
    std::string text;
    const auto add = [&](const Table& table, size_t left) {
        if (!table.empty()) text += fmt::format("\n{}", report::align(table, left));
    };
    add(facts_of(c), 2);
    add(loggers_of(c), 3);
    add(decisions_of(c), 1);
    return text.empty() ? text : fmt::format("\n{}\n{}", kHeading, text);
}

void add_origin(const Certificate& c, report::Html& page) {
    const auto facts = facts_of(c), loggers = loggers_of(c), decisions = decisions_of(c);
    if (facts.empty() && loggers.empty() && decisions.empty()) return;
    page.heading(kHeading).facts(report::rows_of(facts));
    for (const Table& table : {loggers, decisions}) {
        if (table.empty()) continue;
        auto rows = report::rows_of(table);
        const report::Row head = rows.front();
        rows.erase(rows.begin());
        page.table(head, rows);
    }
}

}  // namespace rampart::cli
