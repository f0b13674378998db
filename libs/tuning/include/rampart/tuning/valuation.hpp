#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/postprocessing/postprocessor.hpp"
#include "rampart/tuning/search.hpp"

/// What a setting is worth, out of fold by person.
namespace rampart::tuning {

/// What is learnt from and valued.
struct ValuationInputs {
    const dataset::Dataset& rows;
    std::vector<std::string> persons;  // [rows]; all rows of a person are on one side of each cut
    const learning::Learner* learner = nullptr;
    learning::OptionValues options;  // the learner's; what the setting does not name
    const postprocessing::Postprocessor* postprocessor = nullptr;
    learning::OptionValues postprocess;  // the post-processor's, likewise
    /// Share of the persons outside of a fold, in [0, 1), from which the learner does not learn: by
    /// them it stops early, and the rule is fitted on them.
    double validation = 0.2;
    double slope = 2, intercept = -1;          // map to the score on which the rule is put
    std::vector<std::string> attributes = {};  // learning::Task's, as all below
    double label_lo = 0, label_hi = 1;
    uint64_t seed = 0;
    std::function<bool()> stopped = {};  // asked from several threads: the user has had enough
};

/// Values settings. Each fold's rows are decided by what was learnt from the others' persons: of a
/// mixture, and where the recipe puts a rule on the score, the decisions count, by their cost at
/// the operating point (a false approval costs the threshold t, a false decline 1 - t); of a score
/// on the unit scale the mean squared error of the drawn score; else the log loss. Weights of rows
/// and the recipe's `favourable_weight` count. Constraints are missed by the mean over the folds of
/// what the learner misses in its training, or by what the decisions of all folds miss of the
/// post-processor's criterion, whichever is more. The resource is `trees` of the learner, else
/// persons. Thread safe.
class Valuation {
  public:
    Valuation(ValuationInputs inputs, const Plan& plan);

    Setting own() const;  // the recipe's
    /// Errors: learning::fit's, postprocessing::fit's; unavailable "training_stopped".
    base::Result<FoldValue> value(const Setting& setting, double share, size_t fold) const;
    base::Result<double> excess(const Setting& setting, std::span<const FoldValue> folds) const;
    /// Returns the problem, which keeps a reference to this.
    Problem problem() const;
    /// Returns the digest of all that the trials depend on.
    base::Digest digest() const;
    std::string_view resource() const;  // "trees", "persons"
    const Plan& plan() const { return plan_; }
    uint64_t seed() const { return in_.seed; }
    std::string_view score() const;  // "log loss", "cost of decisions", "squared error"

  private:
    struct Parts;
    base::Result<Parts> parts_of(double share, size_t fold) const;
    base::Result<learning::Learned> learn(const Parts& parts,
                                          const learning::OptionValues& options) const;
    base::Result<std::vector<double>> by_rule(const Parts& parts, const model::LearnedLink& link,
                                              const learning::OptionValues& options,
                                              const learning::OptionValues& post) const;
    base::Result<std::vector<double>> by_link(const dataset::Dataset& valued,
                                              const model::LearnedLink& link) const;
    std::vector<uint32_t> rows_of(size_t fold) const;
    bool by_score() const;
    bool by_decisions() const;

    ValuationInputs in_;
    const Plan& plan_;
    std::vector<size_t> fold_;       // [rows] of the person
    std::vector<uint8_t> held_out_;  // [rows] the person is of the validation share
    std::vector<double> order_;      // [rows] the person's place in [0, 1) in growing samples
    double threshold_ = 0.5;         // P(favourable) from which an approval is worth more
    double favourable_weight_ = 1;
};

/// What a program hands in to its searches. All may be empty.
struct Host {
    std::function<double()> seconds = {};  // a clock; called from several threads
    std::function<bool()> stopped = {};    // as ValuationInputs::stopped
    /// Reads what is kept of a search, as encode() wrote it; empty: nothing.
    std::function<base::Result<std::string>(const base::Digest&)> kept = {};
    std::function<base::Status(const base::Digest&, const std::string&)> keep = {};
    /// Shows how far a search is, in fits.
    std::function<void(size_t done, size_t of)> progress = {};
};

/// Searches, from where an interrupted search of the same digest was. Errors: search()'s;
/// decode()'s of what is kept; those of `kept` and `keep`.
base::Result<Found> search(const Valuation& valuation, const Host& host, base::ThreadPool* pool);

/// Returns what is found in one line: "8 settings by random, 3 folds; taken: 2, leaves=15, …".
std::string describe(const Valuation& valuation, const Found& found);

}  // namespace rampart::tuning
