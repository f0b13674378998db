#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/certification/gate_run.hpp"

namespace rampart::certification {

/// What the validation of a model asks for beside the verdict. All of it follows from the plan and
/// the evidence. It speaks of the vault's persons: keep it in the certificate.

/// Two-sided interval of a group's mean effect per record, margin not counted, in the units of the
/// impact. No end: none could be computed.
struct EffectInterval {
    std::string name;  // as GroupPlan
    std::optional<double> lower, upper;
    /// Mean effect per record at which the group passes with probability 0.8, of the persons on
    /// hand, from figures of the plan alone; none: none within the range.
    std::optional<double> smallest_seen;
    bool operator==(const EffectInterval&) const = default;
};

/// Share of a group's persons whom a policy approves by draw, and its ratio to that of the group of
/// the same attribute with the highest share. The ends are for the population that the persons are
/// a random sample of; of these persons the share itself is exact.
struct ApprovalRate {
    /// Mean over persons of the mean of P(approve | x), [0, 1]; 0 where all are erased.
    double rate = 0;
    double lower = 0, upper = 1;  // ends for the rate
    std::string highest{};        // that group; empty: no other group has the attribute
    std::optional<double> ratio{}, ratio_lower{}, ratio_upper{};  // none: division by 0
    bool operator==(const ApprovalRate&) const = default;
};
struct GroupApproval {
    std::string name;
    ApprovalRate candidate{}, reference{};
    bool operator==(const GroupApproval&) const = default;
};

/// How far what the test rests on may be wrong, other things (bets, ranges) equal.
struct Sensitivity {
    /// Declared impacts of a decline around the configured one, within the declared range, with
    /// which all groups pass if they do, or not all if they do not. None: none is declared.
    std::optional<double> declined_from{}, declined_to{};
    /// Factor by which the odds p / (1 - p) of what was drawn may be wrong for each record, 1 /
    /// factor to factor, whichever is the worst for the group, with all groups passing; 10: that or
    /// more. None for a run that was not certified, and with max_weight, which depends on p, too.
    std::optional<double> odds_factor{};
    /// Distance of missing outcomes from their control variates with which all groups pass, in a
    /// certified run that counted them as the worst: any. Certificate::tipping_gamma where they
    /// were not.
    std::optional<double> tipping_gamma{};
    bool operator==(const Sensitivity&) const = default;
};

/// Mean effect per record of a group within a part of the vault, with an interval by Student's t
/// that holds by itself alone and approximately; erased persons are in no part.
struct PartEffect {
    std::string part;  // "first half", "second half" or a logging policy
    std::string group;
    size_t records = 0, persons = 0;
    std::optional<double> estimate{}, lower{}, upper{};  // none: too few persons
    bool operator==(const PartEffect&) const = default;
};

struct ValidationFigures {
    /// Error probability of each end: delta_epoch over the number of ends, so that all intervals of
    /// a kind hold together with confidence 1 - delta_epoch.
    double effect_delta = 0, rate_delta = 0;
    std::vector<EffectInterval> effects{};   // in the order of the plan's groups
    std::vector<GroupApproval> approvals{};  // groups against the reference
    Sensitivity sensitivity{};
    /// Halves of the period, where the evidence names them, and logging policies, if there are
    /// several; each with confidence 1 - delta_epoch.
    std::vector<PartEffect> parts{};
    /// Records and persons of the vault who are in no group, so that no test speaks of them.
    size_t ungrouped_records = 0, ungrouped_persons = 0;
    bool operator==(const ValidationFigures&) const = default;
};

/// Computes the figures of a run that ended with `verdict`. `feedback`: as given to run(). Errors:
/// the source's, and run()'s for impacts that do not fit.
base::Result<ValidationFigures> validation_figures(const RunPlan& plan, const VaultSource& feedback,
                                                   Verdict verdict);

/// Returns the attribute of a group: "sex" for "sex=F", "sex,age" for "sex=F,age=old"; empty for a
/// name without "=".
std::string attribute_of(std::string_view group);

}  // namespace rampart::certification
