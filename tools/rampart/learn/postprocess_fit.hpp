#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/calibration/calibration.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/learner.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/ramp/blind.hpp"
#include "rampart/ramp/gamma_search.hpp"
#include "rampart/report/text_table.hpp"

/// Puts a ramp on the scores of a model: what `rampart postprocess` does once files are read.
namespace rampart::cli {

struct PostprocessSettings {
    ramp::RampParams ramp;
    bool search_gamma = true;  // by cross-validation, instead of ramp.gamma
    /// Protected attribute within whose values the groups are compared; empty: all groups at once.
    std::string within;
    std::optional<calibration::CalibrationMethod> calibration;
    bool blind = false;
    gbdt::LearnerParams posteriors;  // blind: the ensembles that estimate P(group | x)
    uint64_t seed = 0;
};

/// The fitted rows as the ramp saw them.
struct RampRows {
    std::vector<double> scores;   // [n] f
    std::vector<double> approve;  // [n] P(approve) by the rule
    std::vector<int32_t> strata;  // [groups]; empty: one
};

struct Postprocessed {
    model::LearnedLink link;
    RampRows rows;
    std::optional<calibration::CalibrationFit> calibration;
    std::vector<ramp::GammaFigure> gammas;  // empty: given, not searched for
    // one of the two
    std::optional<ramp::RampSolution> aware;
    std::optional<ramp::BlindSolution> blind;

    double gap() const;  // between primal and dual
};

/// fit: rows that the model has not learnt from; blind: `others` are yet others, with groups, for
/// P(group | x). Errors: a mixture; no groups; those of the solvers.
base::Result<Postprocessed> postprocess_link(const model::LearnedLink& before,
                                             const dataset::Dataset& fit,
                                             const dataset::Dataset& others,
                                             const PostprocessSettings& settings,
                                             base::ThreadPool& pool);

/// What each epsilon costs, the rest as in settings: one solution each, for one sort.
struct EpsilonPoint {
    double epsilon = 0;
    double bias = 0;          // largest difference of the criterion's rates, on the fitting rows
    double mean_product = 0;  // agreement with the scores, on the fitting rows
    double approval = 0;      // overall
    model::RampRule rule;
};
base::Result<std::vector<EpsilonPoint>> epsilon_curve(const Postprocessed& fitted,
                                                      const dataset::Dataset& fit,
                                                      const PostprocessSettings& settings);

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
