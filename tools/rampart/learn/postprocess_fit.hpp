#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/postprocessing/postprocessor.hpp"
#include "rampart/report/text_table.hpp"

/// Puts a rule on the scores of a model: what `rampart postprocess` does once files are read.
namespace rampart::cli {

struct PostprocessSettings {
    const postprocessing::Postprocessor* postprocessor = nullptr;
    learning::OptionValues values;
    bool search_gamma = true;  // by cross-validation, instead of the option gamma
    uint64_t seed = 0;
    double threshold = 0;  // on the scale of scores, -1 to 1
    std::optional<fairness::OperatingPoint> operate_at = {};

    bool blind() const { return !postprocessor->needs(values).group_model.empty(); }
};

struct Postprocessed {
    model::LearnedLink link;
    postprocessing::Fitted fitted;
    std::vector<double> approve;  // [n] P(approve) of the fitting rows by the rule

    /// Returns the difference between primal and dual; nullopt: not a ramp.
    std::optional<double> gap() const;
};

/// fit: rows that the model has not learnt from; blind: `others` are yet others, with groups, for
/// P(group | x). Errors: a mixture; those of postprocessing::fit.
base::Result<Postprocessed> postprocess_link(const model::LearnedLink& before,
                                             const dataset::Dataset& fit,
                                             const dataset::Dataset& others,
                                             const PostprocessSettings& settings,
                                             base::ThreadPool& pool);

/// Returns the model with this link in the place of its own; `how` is printed as what was done to
/// it. Errors: Policy::create()'s.
base::Result<model::Policy> policy_of_link(const model::LoadedPolicy& loaded,
                                           const model::LearnedLink& link,
                                           const std::vector<std::string>& group_names,
                                           const std::string& how);

/// What each epsilon costs, the rest as in settings: one solution each, for one sort.
struct EpsilonPoint {
    double epsilon = 0;
    double bias = 0;          // largest difference of the criterion's rates, on the fitting rows
    double mean_product = 0;  // agreement with the scores, on the fitting rows
    double approval = 0;      // overall
    model::RampRule rule;     // by group that the ramp compares
};
/// Requires a ramp that knows the group.
base::Result<std::vector<EpsilonPoint>> epsilon_curve(const Postprocessed& post,
                                                      const dataset::Dataset& fit);

/// Approval of a group in a stratum, before and after.
struct StratumRate {
    std::string group;
    size_t rows = 0;
    double before = 0, after = 0;  // NaN without rows
};

/// A stratum by the feature that the criterion compares within.
struct StratumRates {
    std::string name;
    std::vector<StratumRate> groups;
    double gap_before = 0, gap_after = 0;  // largest difference between groups with rows
};

/// One for each stratum; none without strata. Errors: postprocessing::add_strata()'s.
base::Result<std::vector<StratumRates>> stratum_rates(const learning::OptionValues& values,
                                                      const dataset::Dataset& rows,
                                                      const std::vector<double>& before,
                                                      const std::vector<double>& after);

/// Rows of one group: how many have which score, and how likely these are approved.
struct RampPicture {
    std::string group;
    size_t rows = 0;
    double before = 0, after = 0;                 // approval rate
    std::vector<double> share;                    // share of the rows, by bin over [-1, 1]
    std::vector<std::pair<double, double>> ramp;  // score, mean P(approve); rising scores
};

constexpr size_t kScoreBins = 40;

/// One for each group, in bins over the scores.
std::vector<RampPicture> ramp_pictures(const std::vector<std::string>& groups,
                                       const std::vector<int32_t>& group,
                                       const std::vector<double>& scores,
                                       const std::vector<double>& before,
                                       const std::vector<double>& after);

/// One HTML file: each group's ramp over the histogram of its scores.
std::string postprocess_page(const std::string& title, const std::string& summary,
                             const report::Table& table, const std::vector<RampPicture>& pictures);

}  // namespace rampart::cli
