#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/config/table.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/postprocessing/postprocessor.hpp"
#include "rampart/tuning/plan.hpp"

namespace rampart::training {

/// How a link's parameters are chosen: the ramp's width and threshold, exploration and step.
enum class Selection {
    kGrid,   // width and step: of a few values those with the highest expected certified gain
    kNone,   // as the recipe gives them
    kCmaEs,  // search on the development set for parameters predicted to pass
};

/// Where a candidate's learner begins.
enum class Start {
    kScratch,
    kChampion,  // from the trees of the champion's last link, where these are of the same settings
};

/// What a candidate's learner learns from.
enum class Label {
    kOutcome,  // the product's label: favourable or not
    kImpact,   // the reported impact of an approval, a number in the product's range
};

/// A value and its text in configurations and model files.
template <class E>
struct Named {
    E value;
    std::string_view text;
};
inline constexpr std::array kSelections{Named{Selection::kGrid, "grid"},
                                        Named{Selection::kNone, "none"},
                                        Named{Selection::kCmaEs, "cma_es"}};
std::string_view to_string(Selection selection);
inline constexpr std::array kStarts{Named{Start::kScratch, "scratch"},
                                    Named{Start::kChampion, "champion"}};
std::string_view to_string(Start start);

inline constexpr std::array kLabels{Named{Label::kOutcome, "outcome"},
                                    Named{Label::kImpact, "impact"}};
std::string_view to_string(Label label);

/// Recipe of a candidate.
struct Recipe {
    std::string name{};              // that of its file, without ending; empty: it has none
    std::filesystem::path file{};    // empty: it has none
    std::string learner = "gbdt";    // a name that learning::find_learner() knows
    learning::OptionValues options;  // empty: the fallbacks
    /// With kImpact an approval is by the predicted impact: from that of a decline on, unless the
    /// options name another step.
    Label label = Label::kOutcome;
    /// Keeps a candidate that misses its learner's constraints or its criterion.
    bool allow_infeasible = false;
    /// Keeps one that misses them as well where it comes nearer to them than the champion by at
    /// least `least_step`.
    bool toward = true;
    double least_step = 0.005;         // [0, 1]
    double validation_fraction = 0.2;  // share of the development set held out for early stopping
    double ipw_cap = 10;               // cap of the inverse-propensity weights
    /// With kChampion at most `more_trees` are added to the champion's, if they are at most
    /// `most_trees` then; otherwise the learner begins from scratch, with its option `trees`.
    Start start = Start::kScratch;
    int64_t more_trees = 50;   // 1 … limits::kMaxTrees
    int64_t most_trees = 500;  // trees + more_trees … limits::kMaxTrees
    /// A name that postprocessing::find_postprocessor() knows, and its options; empty: the
    /// fallbacks.
    std::string criterion = "none";
    learning::OptionValues postprocess;
    model::Exploration exploration{model::ExplorationMode::kOneSided, 0.05};
    double kappa = 0.5;  // trust region of each link
    int max_links = 16;  // length at which a chain is distilled
    uint64_t seed = 0;
    /// Seed by which persons are held out of the learning; nullopt: `seed`. Where `seed` is another
    /// one in each run, and start is kChampion, the one that all runs have in common: a person who
    /// was learnt from is never held out later.
    std::optional<uint64_t> split_seed{};
    Selection selection = Selection::kGrid;
    int selection_folds = 4;  // 2 … 20: CMA-ES scores a row by an ensemble fitted without its
                              // person
    int selection_evaluations = 400;
    double selection_power = 0.9;  // (0.5, 1): chance that each group passes the gate
    /// Search over options of learner and post-processor, which is part of the learning; nullopt:
    /// they are as given.
    std::optional<tuning::Plan> search{};
};

/// Returns the learner of the recipe and the values of all its options. Errors: "unknown_learner".
struct ChosenLearner {
    const learning::Learner* learner = nullptr;
    learning::OptionValues options;
};
base::Result<ChosenLearner> chosen_learner(const Recipe& recipe);

/// Returns the post-processor of the recipe and the values of all its options. Errors:
/// "unknown_postprocessor".
struct ChosenPostprocessor {
    const postprocessing::Postprocessor* postprocessor = nullptr;
    learning::OptionValues values;
    postprocessing::Needs needs() const { return postprocessor->needs(values); }
};
base::Result<ChosenPostprocessor> chosen_postprocessor(const Recipe& recipe);
/// Returns whether candidates of the recipe read the applicant's group: only group-aware
/// deployments take them.
bool decides_by_group(const Recipe& recipe);
/// Returns the ramp's width that the recipe names; 0 where its rule has none.
double gamma_of(const Recipe& recipe);

/// Returns the learner's options with the fallbacks of recipes, which suit some thousands of rows,
/// as retraining has.
learning::OptionValues recipe_options(const learning::Learner& learner);

/// Keys of a recipe that only scheduled training reads: how it takes rows from the log.
inline constexpr std::array<std::string_view, 8> kLoopKeys{
    "label", "validation_fraction", "ipw_cap",   "toward", "least_step",
    "start", "more_trees",          "most_trees"};

/// Returns the keys that a recipe has beside its tables: those of every learner, too.
std::vector<std::string> recipe_keys();

/// What is wrong with a recipe, and at which key: of the table `table` or, where that is empty, of
/// the recipe's own.
struct Fault {
    std::string table, key;
    base::Error error;
};
/// Checks the recipe without data: the options of learner and post-processor; that the learner's
/// output can take what the recipe puts on it. Errors: those of their check(); invalid_argument
/// "not_with_learner"; "bad_selection": a search over persons from whom the rule has learnt;
/// "not_from_champion": what cannot go with start = kChampion; "cannot_learn": what cannot go with
/// label = kImpact.
std::optional<Fault> find_fault(const Recipe& recipe);
/// Returns the error of find_fault().
base::Status validate(const Recipe& recipe);

/// What a recipe is to learn from, as far as it is known beforehand.
struct RowsToCome {
    const dataset::FeatureSchema& features;
    bool numeric = false;                            // labels are numbers, not of two values
    double label_lo = 0, label_hi = 1;               // their range
    std::optional<learning::GroupsToCome> groups{};  // nullopt: not known
};
/// Checks the recipe with the rows' features, labels and groups. Errors: "cannot_learn"; those of
/// learning::check_features(), of the learner's check_labels() and of check_groups() of learning
/// and postprocessing; those of postprocessing::feature_strata() and check_strata_count().
std::optional<Fault> find_misfit(const Recipe& recipe, const RowsToCome& rows);

/// Returns the error with file, line and key of the recipe's file; without a file, as it is.
base::Error located(const Recipe& recipe, const Fault& fault);

/// Reads from a table the learner, its options, and what happens to a candidate that misses its
/// constraints. Fallbacks are those of recipe_options(). What is wrong is recorded at its key, for
/// Table::finish(); options of other learners are refused by name.
void read_recipe(config::Table& table, Recipe& recipe);
/// Reads a table [postprocess]: criterion, and the options of the post-processor of that name.
/// Options of others are refused by name.
void read_postprocess(config::Table& table, Recipe& recipe);
/// Records at its key what learner and criterion together make ineffective. `table` holds the
/// recipe, which has been read of it. (Options that another of the same table makes ineffective are
/// refused when they are read.)
void refuse_ineffective(config::Table& table, const Recipe& recipe);
/// Reads a recipe file: the keys of read_recipe(), a table [postprocess] and a table [search].
/// `recipe` keeps the rest. Errors: not_found; bad_toml; bad_configuration with file, line, key and
/// what is allowed;
/// those of validate(), at their keys.
base::Status read_recipe_file(const std::filesystem::path& file, Recipe& recipe);

/// Returns the recipe as the text of a recipe file: all options of the learner that have an effect,
/// but for a threshold that was not given, and what else differs from a recipe's defaults.
std::string recipe_text(const Recipe& recipe);

/// Returns the SHA-256 of recipe_text(): equal for files that say the same. `rampart recipe check`
/// prints it, model files and certificates hold it.
base::Digest recipe_digest(const Recipe& recipe);

/// Returns the SHA-256 of all settings by which two candidates of one service may differ, each with
/// its name: those of the recipe, and step, search, exploration and seed (split_seed, where there
/// is one) of the service.
base::Digest settings_digest(const Recipe& recipe);

}  // namespace rampart::training
