#include "rampart/ope/logged_feedback.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <unordered_set>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/ope/reasons.hpp"

namespace rampart::ope {
namespace {

using base::make_error;
using base::Status;
namespace limits = base::limits;

Status check_shapes(const LoggedDecisions& d) {
    const size_t n = d.size();
    if (n > limits::kMaxRows) {
        return make_error(Reason::kTooManyRecords, "{} records; at most {} fit in one test", n,
                          limits::kMaxRows);
    }
    const std::pair<std::string_view, size_t> columns[] = {
        {"unit_id", d.unit_id.size()},     {"p_approve", d.p_approve.size()},
        {"approved", d.approved.size()},   {"has_impact", d.has_impact.size()},
        {"candidate", d.candidate.size()}, {"reference", d.reference.size()},
        {"logger", d.logger.size()}};
    for (const auto& [name, size] : columns) {
        if (size != n) {
            return make_error(Reason::kBadShape, "{} has {} entries for {} records", name, size, n);
        }
    }
    if (!d.anchor.empty() && d.anchor.size() != n) {
        return make_error(Reason::kBadShape, "anchor has {} entries for {} records",
                          d.anchor.size(), n);
    }
    if (!d.second_half.empty() && d.second_half.size() != n) {
        return make_error(Reason::kBadShape, "second_half has {} entries for {} records",
                          d.second_half.size(), n);
    }
    if (!d.control_variates.empty() && d.control_variates.size() != n) {
        return make_error(Reason::kBadShape, "centres has {} entries for {} records",
                          d.control_variates.size(), n);
    }
    if (d.has_label.size() != d.conditions.size() ||
        (!d.has_label.empty() && d.has_label.size() != n)) {
        return make_error(Reason::kBadShape,
                          "has_label has {} entries, conditions {}, for {} records: give both for "
                          "all records or neither",
                          d.has_label.size(), d.conditions.size(), n);
    }
    return base::ok();
}

/// Checks that all columns about referrals are there, or none.
Status check_referral_shapes(const LoggedDecisions& d) {
    const size_t n = d.referred.empty() ? 0 : d.size();
    const std::pair<std::string_view, size_t> columns[] = {
        {"referred", d.referred.size()},
        {"p_refer", d.p_refer.size()},
        {"candidate_refer", d.candidate_refer.size()},
        {"reference_refer", d.reference_refer.size()}};
    for (const auto& [name, size] : columns) {
        if (size != n) {
            return make_error(Reason::kBadShape, "{} has {} entries for {} records", name, size,
                              d.size());
        }
    }
    if (d.anchor_refer.size() == (d.anchor.empty() ? 0 : n)) return base::ok();
    return make_error(Reason::kBadShape, "anchor_refer has {} entries, anchor {}, referred {}",
                      d.anchor_refer.size(), d.anchor.size(), d.referred.size());
}

Status check_probability(const std::string& record, std::string_view what, double p) {
    if (p >= 0 && p <= 1) return base::ok();  // false for NaN
    return make_error(base::Reason::kBadProbability,
                      "record {}: {} is {}; a probability lies in [0, 1]", record, what, p);
}

/// Checks P(refer | x) beside P(approve | x): the rest is the probability of a decline.
Status check_refer(const std::string& record, std::string_view what, double approve, double refer) {
    RAMPART_RETURN_IF_ERROR(check_probability(record, what, refer));
    if (approve + refer <= 1 + 1e-12) return base::ok();
    return make_error(base::Reason::kBadProbability,
                      "record {}: {} is {}, beside an approval's {}: their sum is at most 1",
                      record, what, refer, approve);
}

Status check_referral(const LoggedDecisions& d, size_t i) {
    if (d.referred.empty()) return base::ok();
    const std::string& id = d.record_id[i];
    RAMPART_RETURN_IF_ERROR(check_refer(id, "p_refer", d.p_approve[i], d.p_refer[i]));
    RAMPART_RETURN_IF_ERROR(
        check_refer(id, "candidate_refer", d.candidate[i], d.candidate_refer[i]));
    RAMPART_RETURN_IF_ERROR(
        check_refer(id, "reference_refer", d.reference[i], d.reference_refer[i]));
    if (!d.anchor.empty())
        RAMPART_RETURN_IF_ERROR(check_refer(id, "anchor_refer", d.anchor[i], d.anchor_refer[i]));
    const bool fits = d.referred[i] <= static_cast<uint8_t>(Referral::kApproved) &&
                      !(d.referral(i) != Referral::kNone && d.approved[i] != 0) &&
                      !(d.referral(i) == Referral::kUnanswered && d.has_impact[i] != 0);
    if (fits) return base::ok();
    return make_error(base::Reason::kBadFlag,
                      "record {}: referred is 0 to 3; a referral is no approval, and one without "
                      "an answer has no impact",
                      id);
}

double propensity_of(const LoggedDecisions& d, size_t i) {
    if (d.referral(i) != Referral::kNone) return d.p_refer[i];
    if (d.approved[i] != 0) return d.p_approve[i];
    return decline_probability(d.p_approve[i], d.p_refer.empty() ? 0 : d.p_refer[i]);
}

Status check_record(const LoggedDecisions& d, size_t i) {
    const std::string& id = d.record_id[i];
    if (id.empty() || id.size() > limits::kMaxIdBytes) {
        return make_error(Reason::kBadRecordId, "record number {}: an id has 1 to {} bytes", i,
                          limits::kMaxIdBytes);
    }
    if (d.unit_id[i].empty() || d.unit_id[i].size() > limits::kMaxIdBytes) {
        return make_error(Reason::kBadUnitId, "record {}: the person's id has 1 to {} bytes", id,
                          limits::kMaxIdBytes);
    }
    RAMPART_RETURN_IF_ERROR(check_probability(id, "candidate", d.candidate[i]));
    RAMPART_RETURN_IF_ERROR(check_probability(id, "reference", d.reference[i]));
    if (!d.anchor.empty()) RAMPART_RETURN_IF_ERROR(check_probability(id, "anchor", d.anchor[i]));
    RAMPART_RETURN_IF_ERROR(check_probability(id, "p_approve", d.p_approve[i]));
    const bool label = !d.has_label.empty() && d.has_label[i] > 1;
    const bool half = !d.second_half.empty() && d.second_half[i] > 1;
    if (d.approved[i] > 1 || d.has_impact[i] > 1 || label || half) {
        return make_error(base::Reason::kBadFlag,
                          "record {}: approved, has_impact, has_label and second_half are 0 or 1",
                          id);
    }
    RAMPART_RETURN_IF_ERROR(check_referral(d, i));
    const double propensity = propensity_of(d, i);
    if (!(propensity > 0)) {
        return make_error(base::Reason::kBadPropensity,
                          "record {}: the action taken has logged propensity {}; it must lie in "
                          "(0, 1], so the log is wrong",
                          id, propensity);
    }
    if (!d.control_variates.empty() && !(std::isfinite(d.control_variates[i].approve) &&
                                         std::isfinite(d.control_variates[i].decline))) {
        return make_error(Reason::kBadCentre, "record {}: centres {} and {} must be finite", id,
                          d.control_variates[i].approve, d.control_variates[i].decline);
    }
    if (d.logger[i] >= d.logger_ids.size()) {
        return make_error(Reason::kBadLogger, "record {}: logger {} of {}", id, d.logger[i],
                          d.logger_ids.size());
    }
    return base::ok();
}

Status check_groups(const LoggedDecisions& d) {
    if (d.groups.size() > limits::kMaxGroups) {
        return make_error(base::Reason::kTooManyGroups, "{} groups; at most {} are allowed",
                          d.groups.size(), limits::kMaxGroups);
    }
    std::set<std::string_view> names;
    for (const Group& group : d.groups) {
        if (group.name.empty() || group.name.size() > limits::kMaxNameBytes ||
            !names.insert(group.name).second) {
            return make_error(Reason::kBadGroup,
                              "group '{}': names are unique and have 1 to {} bytes", group.name,
                              limits::kMaxNameBytes);
        }
        for (size_t k = 0; k < group.records.size(); ++k) {
            if (group.records[k] >= d.size() ||
                (k > 0 && group.records[k] <= group.records[k - 1])) {
                return make_error(Reason::kBadGroup,
                                  "group '{}': positions must be ascending and below {}; entry {} "
                                  "is {}",
                                  group.name, d.size(), k, group.records[k]);
            }
        }
    }
    return base::ok();
}

Status check_erased(const LoggedDecisions& d) {
    const ErasedCounts& e = d.erased;
    const bool fits = e.unexplained <= e.records && e.unreadable <= e.records - e.unexplained &&
                      e.of_group.size() == (e.records > 0 ? d.groups.size() : 0) &&
                      std::all_of(e.of_group.begin(), e.of_group.end(),
                                  [&](size_t n) { return n >= e.unreadable && n <= e.records; });
    if (!fits) {
        return make_error(
            Reason::kBadShape,
            "{} records counted at the worst, {} of another schema file and {} that "
            "cannot be read, and numbers of {} of {} groups: give one for each group, "
            "none above the whole, nor below those that cannot be read",
            e.records, e.unexplained, e.unreadable, e.of_group.size(), d.groups.size());
    }
    if (e.records <= limits::kMaxRows) return base::ok();
    return make_error(Reason::kTooManyRecords, "{} records counted at the worst; at most {} may be",
                      e.records, limits::kMaxRows);
}

Status check_overridden(const LoggedDecisions& d) {
    for (size_t k = 0; k < d.overridden.size(); ++k) {
        if (d.overridden[k] >= d.size() || (k > 0 && d.overridden[k] <= d.overridden[k - 1])) {
            return make_error(Reason::kBadOverridden,
                              "overridden: positions must be ascending and below {}; entry "
                              "{} is {}",
                              d.size(), k, d.overridden[k]);
        }
        if (d.referral(d.overridden[k]) == Referral::kNone) continue;
        return make_error(Reason::kBadOverridden,
                          "record {}: the answer to a referral reverses nothing",
                          d.record_id[d.overridden[k]]);
    }
    return base::ok();
}

}  // namespace

bool LoggedDecisions::is_overridden(size_t i) const {
    return std::binary_search(overridden.begin(), overridden.end(), i);
}

Status validate(const LoggedDecisions& decisions) {
    RAMPART_RETURN_IF_ERROR(check_shapes(decisions));
    RAMPART_RETURN_IF_ERROR(check_referral_shapes(decisions));
    std::unordered_set<std::string_view> seen;
    seen.reserve(decisions.size());
    for (size_t i = 0; i < decisions.size(); ++i) {
        RAMPART_RETURN_IF_ERROR(check_record(decisions, i));
        if (!seen.insert(decisions.record_id[i]).second) {
            return make_error(Reason::kDuplicateRecord, "record {} occurs twice; keep one",
                              decisions.record_id[i]);
        }
    }
    RAMPART_RETURN_IF_ERROR(check_overridden(decisions));
    RAMPART_RETURN_IF_ERROR(check_erased(decisions));
    return check_groups(decisions);
}

Status validate_impacts(const LoggedDecisions& decisions, const std::vector<double>& impact) {
    if (impact.size() != decisions.size()) {
        return make_error(Reason::kBadShape, "impact has {} entries for {} records", impact.size(),
                          decisions.size());
    }
    for (size_t i = 0; i < impact.size(); ++i) {
        const bool fits =
            decisions.has_impact[i] != 0 ? std::isfinite(impact[i]) : std::isnan(impact[i]);
        if (!fits) {
            return make_error(Reason::kBadImpact,
                              "record {}: has_impact is {}, so its impact must be {}",
                              decisions.record_id[i], decisions.has_impact[i],
                              decisions.has_impact[i] != 0 ? "a finite number" : "NaN (missing)");
        }
    }
    return base::ok();
}

Status validate_labels(const LoggedDecisions& decisions, const std::vector<double>& label) {
    if (label.size() != decisions.has_label.size()) {
        return make_error(Reason::kBadShape, "label has {} entries, has_label {}", label.size(),
                          decisions.has_label.size());
    }
    for (size_t i = 0; i < label.size(); ++i) {
        const bool known = decisions.has_label[i] != 0;
        if (known ? label[i] == 0 || label[i] == 1 : std::isnan(label[i])) continue;
        return make_error(
            base::Reason::kBadLabel, "record {}: has_label is {}, so its label must be {}",
            decisions.record_id[i], decisions.has_label[i], known ? "0 or 1" : "NaN (missing)");
    }
    return base::ok();
}

Status validate(const LoggedFeedback& feedback) {
    RAMPART_RETURN_IF_ERROR(validate(feedback.decisions));
    RAMPART_RETURN_IF_ERROR(validate_impacts(feedback.decisions, feedback.impact));
    return validate_labels(feedback.decisions, feedback.label);
}

}  // namespace rampart::ope
