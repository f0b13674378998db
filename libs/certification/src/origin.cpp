#include "origin.hpp"

#include <algorithm>
#include <map>

#include "rampart/certification/reasons.hpp"

namespace rampart::certification {
namespace {

using base::Status;

Status differs(std::string_view figure) {
    return base::make_error(Reason::kDoesNotRecompute,
                            "{} does not follow from what the certificate records", figure);
}

/// Returns the number of records left out; nullopt: a part is larger than its whole, or one comes
/// without it.
std::optional<size_t> records_left_out(const std::vector<LeftOut>& left_out) {
    std::map<std::string_view, size_t> of_reason;
    size_t sum = 0;
    for (const LeftOut& one : left_out) {
        if (one.group.empty()) {
            if (!of_reason.emplace(one.reason, one.records).second) return std::nullopt;
            sum += one.records;
        } else if (const auto whole = of_reason.find(one.reason);
                   whole == of_reason.end() || one.records > whole->second) {
            return std::nullopt;
        }
    }
    return sum;
}

Status check_loggers(const RunPlan& plan, const std::vector<VaultRecord>& evidence) {
    std::vector<size_t> records(plan.logger_ids.size(), 0);
    for (const VaultRecord& record : evidence) ++records[record.logger];
    const auto& loggers = plan.identity.loggers;
    bool same = loggers.size() == records.size();
    for (size_t i = 0; same && i < records.size(); ++i) {
        const LoggerPeriod& logger = loggers[i];
        same = logger.id == plan.logger_ids[i] && logger.records == records[i] &&
               plan.identity.period_from <= logger.first && logger.first <= logger.last &&
               logger.last <= plan.identity.period_to;
    }
    return same ? base::ok() : differs("identity: loggers");
}

}  // namespace

void forget_counts(RunIdentity& identity) {
    identity.read_before = identity.repeats = identity.later_records = 0;
    identity.without_exploration = identity.stopped = 0;
    identity.decisions = identity.in_no_group = 0;
    identity.left_out.clear();
    identity.loggers.clear();
}

Status check_origin(const RunPlan& plan, const std::vector<VaultRecord>& evidence) {
    const RunIdentity& id = plan.identity;
    if (!id.loggers.empty()) RAMPART_RETURN_IF_ERROR(check_loggers(plan, evidence));
    const auto left_out = records_left_out(id.left_out);
    if (!left_out) return differs("identity: left_out");
    if (id.decisions == 0) {
        return *left_out + id.in_no_group == 0 ? base::ok() : differs("identity: decisions");
    }
    if (id.decisions != evidence.size() + *left_out) return differs("identity: decisions");
    const auto in_no_group = std::count_if(evidence.begin(), evidence.end(),
                                           [](const auto& record) { return record.groups == 0; });
    return id.in_no_group == static_cast<size_t>(in_no_group) ? base::ok()
                                                              : differs("identity: in_no_group");
}

void add_about_origin(const Certificate& c, std::vector<Assumption>& out) {
    const RunIdentity& id = c.plan.identity;
    if (id.decisions == 0) return;
    std::string reasons;
    size_t left_out = 0;
    for (const LeftOut& one : id.left_out) {
        if (!one.group.empty()) continue;
        left_out += one.records;
        reasons += fmt::format("{}{} {}", reasons.empty() ? ": " : ", ", one.records, one.reason);
    }
    out.push_back({fmt::format("the vault had {} decisions in all: {} are in the evidence, {} of "
                               "them in no group, and {} are left out{}",
                               id.decisions, c.evidence_records, id.in_no_group, left_out, reasons),
                   true});
    out.push_back({"the counts of what is left out are the signer's", false});
}

}  // namespace rampart::certification
