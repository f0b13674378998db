#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/config/table.hpp"
#include "rampart/learning/options.hpp"

/// What a search goes over, and how: the table [search] of a recipe.
namespace rampart::tuning {

enum class Method {
    kRandom,   // every setting with the whole resource
    kHalving,  // all with a part of it, the better third with three times as much, and so on
};
inline constexpr std::array<std::string_view, 2> kMethods{"random", "halving"};
std::string_view to_string(Method method);

/// Before the name of an option of the post-processor.
inline constexpr std::string_view kPostprocess = "postprocess.";

/// Values that one option may take: a range of numbers, or choices.
struct Range {
    std::string option = {};  // "learning_rate", "postprocess.gamma"
    double from = 0, to = 0;
    bool log = false;                                 // drawn uniformly on the scale of logarithms
    bool whole = false;                               // whole numbers
    std::vector<learning::OptionValue> choices = {};  // not empty: in the place of from and to
    /// Returns whether the value is one of them.
    bool contains(const learning::OptionValue& value) const;
};

/// One value for each range, in its order.
using Setting = std::vector<learning::OptionValue>;

inline constexpr int64_t kMaxTrials = 1000;

struct Plan {
    Method method = Method::kRandom;
    int trials = 20;                 // settings, 1 … kMaxTrials
    int folds = 3;                   // 2 … 10
    std::optional<uint64_t> seed{};  // nullopt: that of the training
    /// Computing time of all trials from which on no further one is begun; 0: no limit. With a
    /// limit the result depends on the machine; trials that are kept are not done again.
    double seconds = 0;
    std::vector<Range> ranges = {};  // not empty
};

/// Reads a table [search]. Ranges are of declared options of the learner and, as postprocess.KEY,
/// of the post-processor. What is wrong is recorded at its key, for Table::finish(): an option that
/// is no number or choice, or says what is asked (Option::asked); values outside its range.
void read_plan(config::Table& table, const learning::OptionValues& learner,
               const learning::OptionValues& postprocess, Plan& plan);

/// Errors: invalid_argument "no_range".
base::Status validate(const Plan& plan);

/// Returns the plan as a table [search], which read_plan() reads as the same plan.
std::string to_toml(const Plan& plan);

/// Returns the settings that are tried, each once, Plan::trials or as many as there are: first
/// `own`, if it lies within all ranges, then draws. Numbers have four significant digits. The draw
/// of a range does not depend on the other ranges. Deterministic in the seed.
std::vector<Setting> settings_of(const Plan& plan, const Setting& own, uint64_t seed);

/// Puts the setting's values into the options that the ranges name.
base::Status apply(const Plan& plan, const Setting& setting, learning::OptionValues& learner,
                   learning::OptionValues& postprocess);
/// Returns the values that these options have.
Setting setting_of(const Plan& plan, const learning::OptionValues& learner,
                   const learning::OptionValues& postprocess);

/// Returns "learning_rate=0.05 leaves=15".
std::string text_of(const Plan& plan, const Setting& setting);

}  // namespace rampart::tuning
