#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/certification/constraint_set.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/gate_log/log_settings.hpp"
#include "rampart/ope/logged_feedback.hpp"

namespace rampart::gate_log {

/// A log of randomised decisions, laid out for the gate: of each person the first record.
struct DecisionFile {
    ope::LoggedFeedback development, vault;
    base::TimePoint period_from, period_to;          // times of the vault's records
    size_t later_records = 0;                        // the vault's, left out
    size_t decisions = 0;                            // the vault's, those left out among them
    size_t in_no_group = 0;                          // records of the vault without an attribute
    std::vector<certification::LeftOut> left_out{};  // the vault's
    std::vector<certification::LoggerPeriod> loggers{};  // who decided those
    bool anchor = false;                                 // the log has a column 'anchor'
    base::Digest columns;                                // digest of the column names in order
    std::optional<base::TimePoint> read_until;  // the vault's records up to then are left out
    std::set<std::string> persons_read;         // who has one of these
};

/// Reads a CSV file, one line for each decision:
///     record      id, unique                  person     id; the same person has the same
///     time        ISO 8601, when it was decided
///     side        "development" or "vault"; without the column a keyed hash of the person
///     logger      name of the policy that decided
///     p_approve   its P(approve | x), in [0, 1], from which the action was drawn
///     action      "approve", "decline" or "refer", as drawn
///     candidate, reference   P(approve | x) by the policies that are compared; anchor: by a
///                 third, if there is the column
///     impact      number in the declared range; empty: none is known. A decline's is that of the
///                 settings, if they declare one, and the cell is empty or the same
///     p_refer, candidate_refer, reference_refer (and anchor_refer)   P(refer | x), all or none of
///                 them; required where a decision is a referral. Its impact is what followed from
///                 the answer of people; without an answer it is empty
///     answer      "approve", "decline" or empty: of people to a referral. Without the column, one
///                 with an impact counts as approved
///     overridden  "yes" or "no": people did the other of approve and decline. Without the column
///                 they did not
///     label       0, 1 or empty; needed where constraints ask for outcomes
///     one column for each protected attribute: its value, empty if it is not known
/// Further columns are passed over. Groups: LogSettings::group_names.
///
/// split_key: secret of at least 16 bytes, for a log without `side`; 40 % of the persons are in the
/// vault. read_until: the vault's records up to then have been read by an earlier epoch, and are
/// left out, as are those older than gate.max_age_months. Errors: "bad_log_cell", which names line
/// and column; "missing_log_column"; "bad_split_key"; "person_on_both_sides"; "no_records"; those
/// of CsvReader, ConstraintSet::conditions_met and ope::validate.
base::Result<DecisionFile> read_decisions(const std::filesystem::path& path,
                                          const LogSettings& settings,
                                          const certification::ConstraintSet& constraints,
                                          const std::optional<std::string>& split_key,
                                          std::optional<base::TimePoint> read_until = {});

}  // namespace rampart::gate_log
