#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"

namespace rampart::ope {

/// A named protected group: positions of its records, ascending, unique. Groups may overlap.
struct Group {
    std::string name;
    std::vector<uint32_t> records;
};

/// Records that would be among logged decisions and are set aside: those of erased persons, those
/// that the schema file does not explain and those that cannot be read. Nothing else is known of
/// them: each counts the least that a person's value can be.
struct ErasedCounts {
    size_t records = 0;
    /// Those that are, or may be, in each group; empty if there are none at all.
    std::vector<size_t> of_group{};
    size_t unexplained = 0, unreadable = 0;  // parts; the rest are of erased persons
    size_t in_group(size_t g) const { return g < of_group.size() ? of_group[g] : records; }
    bool operator==(const ErasedCounts&) const = default;
};

/// Logged decisions as a structure of arrays, WITHOUT their impacts: everything that may be read
/// before a test is registered. n records; every per-record vector has n entries.
struct LoggedDecisions {
    std::vector<std::string> record_id;  // decision id, unique
    std::vector<std::string> unit_id;    // person; all records of a person form one unit
    std::vector<double> p_approve;  // P(approve | x) by the policy that decided THIS record, [0, 1]
    std::vector<uint8_t> approved;  // 0 or 1: the drawn action
    std::vector<uint8_t> has_impact;  // 0 or 1: a matured impact is on record
    std::vector<double> candidate;    // pi(1|x), [0, 1]
    std::vector<double> reference;    // s(1|x), [0, 1]: the policy that the candidate would replace
    std::vector<uint32_t> logger;     // index into logger_ids
    std::vector<std::string> logger_ids;  // the deciding policies
    std::vector<Group> groups;
    /// Positions, ascending, of the records where people reversed the drawn action.
    /// `approved` stays the drawn action, and the person's outcome counts for it: intention
    /// to treat.
    std::vector<uint32_t> overridden{};
    /// P(approve | x) of a second policy to compare with, [0, 1]; empty: none.
    std::vector<double> anchor{};
    /// Expected impacts of both actions for each record, estimated without the outcomes of these
    /// records; empty: none. If given, an estimate uses them as control variates instead of
    /// ImpactModel's centres.
    std::vector<ControlVariates> control_variates{};
    /// For constraints; empty if there are none. has_label: a label is on record, 0 or 1.
    /// conditions: which conditions the record meets, two bits each, condition k from bit 2k on:
    /// bit 0 if met with an unfavourable label, bit 1 if met with a favourable one.
    std::vector<uint8_t> has_label{};
    std::vector<uint64_t> conditions{};
    /// P(refer | x) by the policy that decided, the candidate, the reference and, if there is one,
    /// the anchor, [0, 1 - P(approve | x)]; all empty: a log without referrals. 1: a rule refers.
    std::vector<double> p_refer{}, candidate_refer{}, reference_refer{}, anchor_refer{};
    /// Referral as a number: a referral was drawn, and what people answered. Then `approved` is 0,
    /// the record is not `overridden`, and an unanswered one has no impact.
    std::vector<uint8_t> referred{};
    /// 1: decided in the second half of the period that the decisions are of; empty: not known.
    std::vector<uint8_t> second_half{};
    ErasedCounts erased{};

    size_t size() const { return record_id.size(); }
    bool is_overridden(size_t i) const;
    /// Returns whether the action that was finally carried out is an approval.
    bool granted(size_t i) const {
        if (referral(i) != Referral::kNone) return referral(i) == Referral::kApproved;
        return (approved[i] != 0) != is_overridden(i);
    }
    Referral referral(size_t i) const {
        return referred.empty() ? Referral::kNone : static_cast<Referral>(referred[i]);
    }
};

/// Decisions and their outcomes.
struct LoggedFeedback {
    LoggedDecisions decisions;
    std::vector<double> impact;  // NaN: none on record (then has_impact is 0)
    /// 1 favourable, 0 not, NaN: none on record (then has_label is 0); empty where has_label is.
    std::vector<double> label{};
};

/// Checks shapes, ranges, finite numbers, indices, ascending groups and ids, and that what was
/// drawn was possible. Does not check whether
/// the data suffice for a test. Fails with invalid_argument naming record, field and value;
/// out_of_range beyond limits::kMaxRows or kMaxGroups.
base::Status validate(const LoggedDecisions& decisions);

/// Checks decisions and impacts: a finite number where has_impact is 1, NaN where it is 0; labels
/// likewise, 0 or 1.
base::Status validate(const LoggedFeedback& feedback);

/// Checks impacts against `decisions`: one per record, finite where has_impact is 1, NaN
/// elsewhere.
base::Status validate_impacts(const LoggedDecisions& decisions, const std::vector<double>& impact);

/// Checks labels in the same way, 0 or 1; no labels if has_label is empty.
base::Status validate_labels(const LoggedDecisions& decisions, const std::vector<double>& label);

}  // namespace rampart::ope
