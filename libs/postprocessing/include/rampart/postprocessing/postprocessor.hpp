#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/calibration/calibration.hpp"
#include "rampart/fairness/operating_point.hpp"
#include "rampart/learning/groups_to_come.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/postprocessing/rows.hpp"
#include "rampart/postprocessing/rule.hpp"
#include "rampart/postprocessing/strata.hpp"
#include "rampart/ramp/blind.hpp"
#include "rampart/ramp/gamma_search.hpp"
#include "rampart/ramp/solver.hpp"

/// Every post-processor of the house in one form: what it needs, which options it has, fit() and
/// measure().
namespace rampart::postprocessing {

/// What a post-processor with given options needs. All false: it puts nothing on the score.
struct Needs {
    bool groups = false;            // rows with protected groups, to fit and to measure
    bool labels = false;            // is fitted on rows with labels
    bool groups_to_decide = false;  // its rule reads the applicant's group
    bool strata = false;            // rows with strata (add_strata()), to fit, try and measure
    /// Estimates that its rule has of the group instead; empty: none.
    std::vector<model::GroupBlindAdjustment::Given> group_model = {};
    bool any() const { return groups || labels; }
};

/// Score on which a rule is put, and how.
struct Setting {
    /// f = slope · P(favourable) + intercept, within [-1, 1].
    double slope = 2, intercept = -1;
    /// Value of f from which on an approval is worth more than a decline, in [-1, 1].
    double threshold = 0;
    /// Where it moves(): the threshold is instead the one at which the rule's own decisions just
    /// keep it on the rows; those of fpr, fnr and bad_rate need labels.
    std::optional<fairness::OperatingPoint> operate_at = {};
    std::optional<double> gamma = {};  // in place of the option
    bool search_gamma = false;         // by cross-validation, in place of both
    bool report = false;               // calibration errors out of fold
    uint64_t seed = 0;                 // seed of the folds
    bool moves() const { return operate_at && operate_at->moves(); }
};

/// A rule, and how it was found.
struct Fitted {
    Rule rule;
    double threshold = 0;  // Setting::threshold, or where the operating point put it
    std::optional<calibration::CalibrationFit> calibration = {};
    std::optional<calibration::CalibrationMethod> method = {};  // by which it was calibrated
    std::vector<ramp::GammaFigure> gammas = {};                 // those searched
    // at most one of these two
    std::optional<ramp::RampSolution> aware = {};
    std::optional<ramp::BlindSolution> blind = {};
    // what the ramp was fitted to; empty without one
    std::vector<double> scores = {};  // [n] f of the rows, calibrated
    std::vector<int32_t> group = {};  // [n] of those that the ramp compares, in 0 … groups-1
    size_t groups = 0;
    std::vector<int32_t> strata = {};     // [groups]; empty: one
    std::vector<std::string> names = {};  // [groups]
    ramp::RampParams params = {};
};

using learning::Kept;

/// Returns where a rule is put on the score of a learner's link: about the threshold or at the
/// operating point that the learner's options name, else where f is 0. Errors: those of
/// fairness::parse_operating_point.
base::Result<Setting> setting_on(const model::LearnedLink& link,
                                 const learning::OptionValues& options, double slope,
                                 double intercept);
/// Returns whether the operating point is a rate among rows of one label.
bool speaks_of_labels(const Setting& setting);

/// A post-processor. Stateless; safe to use from many threads.
class Postprocessor {
  public:
    virtual ~Postprocessor() = default;
    virtual std::string_view name() const = 0;     // the criterion: "equalized_odds"
    virtual std::string_view summary() const = 0;  // one line: what it promises
    virtual std::string_view source() const = 0;   // the paper, or ""
    virtual std::vector<learning::Option> options() const = 0;
    virtual Needs needs(const learning::OptionValues& values) const = 0;
    /// Checks the options with one another, before there is any data. Errors: invalid_argument or
    /// out_of_range, with the option's name.
    virtual base::Status check(const learning::OptionValues& values) const = 0;
    /// Measures decisions P(approve) of rows by what the criterion asks. Errors: a group without a
    /// row that the criterion speaks of, by name; rows without the strata that it needs.
    virtual base::Result<Kept> measure(const Rows& rows, std::span<const double> approve,
                                       const learning::OptionValues& values) const = 0;

  protected:
    friend base::Result<Fitted> fit(const Postprocessor&, const Rows&,
                                    const learning::OptionValues&, const Setting&);
    /// Fits. Options and rows have been checked against the needs.
    virtual base::Result<Fitted> solve(const Rows& rows, const learning::OptionValues& values,
                                       const Setting& setting) const = 0;
};

/// Returns all post-processors, in the order in which people should meet them; "none" first.
std::span<const Postprocessor* const> postprocessors();
/// Returns the one of the name. Errors: invalid_argument "unknown_postprocessor" lists the names.
base::Result<const Postprocessor*> find_postprocessor(std::string_view name);

/// Checks the groups and attributes that options name, before there is any data. Errors: those of
/// learning::check_groups(); invalid_argument "unknown_attribute", "no_such_member",
/// "bad_group_tolerance" with the option's name, its value and what is allowed.
base::Status check_groups(const learning::OptionValues& values,
                          const learning::GroupsToCome& groups);

/// Fits a rule to the rows. Deterministic. Errors: those of check(); "no_groups", "no_labels";
/// failed_precondition "group_without_rows" names the group; "other_scores": the criterion is about
/// labels, and the score does not rise with P(favourable); "operating_point_missed": no threshold
/// keeps it, or only one that approves no row; those of check_cells(), of ramp, fairness and
/// calibration, among them "infeasible".
base::Result<Fitted> fit(const Postprocessor& postprocessor, const Rows& rows,
                         const learning::OptionValues& values, const Setting& setting);

}  // namespace rampart::postprocessing
