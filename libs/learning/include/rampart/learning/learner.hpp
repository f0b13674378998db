#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/learning/options.hpp"
#include "rampart/model/policy.hpp"

/// Every learner of the house in one form: what it can do, which options it has, and fit().
namespace rampart::learning {

/// What a learner predicts, and so what may be put on its link.
enum class Output {
    kProbability,  // P(favourable | x) of one ensemble: any ramp, threshold or calibration
    kDecision,     // P(approve | x) of a mixture of classifiers: its own rule only
    kDrawnScore,   // a score that is drawn among levels, with a step on it: its own rule only
};
std::string_view to_string(Output output);  // "probability", "decision", "drawn score"

/// What a learner can do with given options. What it cannot is refused by fit().
struct Capabilities {
    bool labels = true;       // learns labels of two values
    bool numbers = false;     // learns numeric labels
    bool weights = true;      // weights of rows count in the loss and in the constraints
    bool groups = false;      // compares protected groups: each needs rows
    bool attributes = false;  // learns a fair metric from protected attributes
    bool monotone = true;     // keeps monotone and interaction constraints
    bool resume = false;
    bool constrained = false;  // a model may miss what it was asked to keep: Learned::missed
    Output output = Output::kProbability;
};

/// How far a training is: `done` of about `of` steps.
struct Progress {
    size_t done = 0, of = 0;
    std::string_view unit;  // "trees", "fits", "calls"
};

/// What a learner learns from.
struct Task {
    const dataset::Dataset& train;
    /// Chooses among models and stops early. The same features and groups. nullptr: the training
    /// rows choose.
    const dataset::Dataset* validation = nullptr;
    /// Protected attributes whose values name the groups, in order: {"sex", "age"} of groups like
    /// "sex=F,age=low". Empty: the groups are one attribute.
    std::vector<std::string> attributes = {};
    std::string fair_metric = {};       // its bytes; empty: learnt, where the learner has one
    double label_lo = 0, label_hi = 1;  // range of numeric labels
    uint64_t seed = 0;
    base::ThreadPool* pool = nullptr;
    std::function<bool(const Progress&)> progress = {};  // false stops
    /// A policy of the same learner on the same features, to whose last link trees are added: an
    /// option `trees` counts them all. nullptr: from scratch.
    const model::Policy* start = nullptr;
};

/// What came of a training.
struct Learned {
    /// The score and the rule by which the learner itself decides: score slope 2, intercept -1.
    model::LearnedLink link;
    model::PolicyState state = {};  // multipliers, fair metric, loss, constraints that are missed
    std::string figures = "{}";     // a JSON object: trees, feasible, gap, …; by learner
    /// By how much the constraints are missed, and what to try; empty: all are kept. Options are
    /// named in backticks, here and in `notes` and errors.
    std::string missed = {};
    double excess = 0;        // largest amount by which a constraint is missed; 0: all are kept
    std::string report = {};  // lines about the training, for people; may be empty
    std::vector<std::string> notes = {};       // what did not come as it was asked for
    std::optional<base::Error> no_model = {};  // why there is no link: only of try_fit()
};

/// How far decisions keep what a learner's constraints or a post-processor's criterion ask.
struct Kept {
    double most = 0;        // largest difference of a rate between groups, or covariance; 0: none
    double beyond = 0;      // by how much the tolerance is exceeded; <= 0: it is kept
    std::string text = {};  // "approval rates differ by 0.0712 (…)"; empty: nothing is asked
    std::string not_measured = {};  // why what bounds nothing was not measured; empty: it was
};

/// Returns what both say, and the excess of the one that is exceeded by more.
Kept both(const Kept& one, const Kept& other);

/// Decisions about labelled rows.
struct DecidedRows {
    const dataset::Dataset& rows;
    std::span<const double> approve;    // [rows] P(approve)
    std::string_view fair_metric = {};  // that of the judged model; empty: none
    base::ThreadPool* pool = nullptr;
};

/// Labels, as far as they are known before there are rows.
struct LabelsToCome {
    bool numeric = false;   // numbers, of which none is favourable; false: of two values, 0 and 1
    double lo = 0, hi = 1;  // their range
};

/// A learner. Stateless; safe to use from many threads.
class Learner {
  public:
    virtual ~Learner() = default;
    virtual std::string_view name() const = 0;     // "fairgbm"
    virtual std::string_view summary() const = 0;  // one line: what it promises
    virtual std::string_view source() const = 0;   // the paper and its algorithm, or ""
    /// Returns the name of the figures, which learners of one family have in common: "reduction".
    virtual std::string_view family() const { return name(); }
    virtual std::vector<Option> options() const = 0;
    virtual Capabilities capabilities(const OptionValues& values) const = 0;
    /// Checks the options with one another, before there is any data. Errors: invalid_argument or
    /// out_of_range of the learner's room, with the option's name.
    virtual base::Status check(const OptionValues& values) const = 0;
    /// Checks options in units of the label against its range, and those that speak of rates among
    /// rows of one label against its kind. Errors: invalid_argument, with the option's name.
    virtual base::Status check_labels(const OptionValues&, const LabelsToCome& /*labels*/) const {
        return base::ok();
    }
    /// Measures decisions by the constraints that the options name. Errors: a group without a row
    /// that a rate speaks of, by name.
    virtual base::Result<Kept> measure(const DecidedRows& /*decided*/,
                                       const OptionValues& /*values*/) const {
        return Kept{};
    }

  protected:
    friend base::Result<Learned> try_fit(const Learner&, const Task&, const OptionValues&);
    /// Learns. `task` has been checked against the capabilities. Errors: "cannot_resume" of a start
    /// that the learner cannot go on from.
    virtual base::Result<Learned> learn(const Task& task, const OptionValues& values) const = 0;
};

/// Returns all learners, in the order in which people should meet them.
std::span<const Learner* const> learners();
/// Adds a learner of the program's own, which lives as long as the program; recipes, command line
/// and scheduled training then know it. Call it at the start of the program, not from several
/// threads. Requires a name that no other learner has.
void add_learner(const Learner& learner);
/// Returns the learner of the name. Errors: invalid_argument "unknown_learner" lists the names.
base::Result<const Learner*> find_learner(std::string_view name);

/// Checks the features that options name against a schema, before there is any data. Errors:
/// bad_monotone, bad_interactions; invalid_argument "bad_option" for a feature, or a column of the
/// fair metric, that there is not.
base::Status check_features(const OptionValues& values, const dataset::FeatureSchema& schema);

/// Trains. Deterministic in its arguments for any number of threads. Errors: those of check();
/// invalid_argument "cannot_learn" names what the learner cannot do with the data or the options;
/// dataset::validate's of the training rows; unavailable "training_stopped" where progress returned
/// false; failed_precondition "no_model_found", "proven_impossible"; the learner's.
base::Result<Learned> fit(const Learner& learner, const Task& task, const OptionValues& values);

/// Trains like fit(); where no model was found, or none is possible, it returns what was found in
/// its place, with Learned::no_model.
base::Result<Learned> try_fit(const Learner& learner, const Task& task, const OptionValues& values);

}  // namespace rampart::learning
