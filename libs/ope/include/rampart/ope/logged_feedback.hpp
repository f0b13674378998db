#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"

namespace rampart::ope {

/// A named protected group: positions of its records, ascending, each once. Groups may overlap.
struct Group {
    std::string name;
    std::vector<uint32_t> records;
};

/// Logged decisions as a structure of arrays, WITHOUT their impacts: all that may be looked at
/// before a test is registered. n records; every per-record vector has n entries.
struct LoggedDecisions {
    std::vector<std::string> record_id;  // decision id, unique
    std::vector<std::string> unit_id;    // person; all records of a person are one unit
    std::vector<double> p_approve;  // P(approve | x) by the policy that decided THIS record, [0, 1]
    std::vector<uint8_t> approved;  // 0 or 1: the action that was drawn
    std::vector<uint8_t> has_impact;  // 0 or 1: a matured impact is on record
    std::vector<double> candidate;    // pi(1|x), [0, 1]
    std::vector<double> reference;    // s(1|x), [0, 1]: the policy that the candidate would replace
    std::vector<uint32_t> logger;     // index into logger_ids
    std::vector<std::string> logger_ids;  // policies that decided
    std::vector<Group> groups;
    /// Positions, ascending, of the records where people did the other action than was drawn.
    /// `approved` stays what was drawn, and what became of the person counts for it: intention to
    /// treat.
    std::vector<uint32_t> overridden{};
    /// P(approve | x) of a policy that the candidate is held against besides, [0, 1]; empty: none.
    std::vector<double> anchor{};
    /// Expected impacts of both actions for each record, which no outcome of these records had a
    /// part in; empty: none. An estimate then centres each record by its own (ImpactModel's centres
    /// stand back).
    std::vector<ControlVariates> control_variates{};
    /// For constraints, empty where there are none. Whether a label is on record, 0 or 1; and which
    /// of their conditions the record meets, two bits each, condition k from bit 2k on: bit 0 if it
    /// does with an unfavourable label, bit 1 if with a favourable one.
    std::vector<uint8_t> has_label{};
    std::vector<uint64_t> conditions{};

    size_t size() const { return record_id.size(); }
    bool is_overridden(size_t i) const;
    /// Whether the action that was taken in the end is an approval.
    bool granted(size_t i) const { return (approved[i] != 0) != is_overridden(i); }
};

/// Decisions and what became of them.
struct LoggedFeedback {
    LoggedDecisions decisions;
    std::vector<double> impact;  // NaN: none on record (then has_impact is 0)
    /// 1 favourable, 0 not, NaN: none on record (then has_label is 0); empty where has_label is.
    std::vector<double> label{};
};

/// Shapes, ranges, finite numbers, indices in range, groups ascending, ids present. Whether the
/// data suffice for a test is not judged here. Errors: invalid_argument naming record, field and
/// value; out_of_range beyond limits::kMaxRows or kMaxGroups.
base::Status validate(const LoggedDecisions& decisions);

/// The same, and impacts: a finite number where has_impact is 1, NaN where it is 0; labels
/// likewise, 0 or 1.
base::Status validate(const LoggedFeedback& feedback);

/// The impacts of `decisions` fit it: as many as records, finite where has_impact is 1, NaN
/// elsewhere.
base::Status validate_impacts(const LoggedDecisions& decisions, const std::vector<double>& impact);

/// The same of labels, 0 or 1; there are none where has_label is empty.
base::Status validate_labels(const LoggedDecisions& decisions, const std::vector<double>& label);

}  // namespace rampart::ope
