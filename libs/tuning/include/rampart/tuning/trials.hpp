#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"

/// The table of a search, and how it is kept until the search is over.
namespace rampart::tuning {

/// One setting, valued with a part of the resource.
struct Trial {
    uint32_t setting = 0;     // 1, 2, …: its place among the settings
    double share = 1;         // part of the resource, in (0, 1]
    std::string values = {};  // "learning_rate=0.05 leaves=15"
    double score = 0;         // out of fold; less is better
    double excess = 0;        // by how much the constraints are missed; 0: they are kept
    double seconds = 0;       // computing time; in no digest
    std::string failed = {};  // why there is no score; empty: there is one
};

/// Returns whether `a` comes before `b`: those with a score before those without, those that keep
/// the constraints before those that miss them, of the former the lower score, of the latter the
/// lower excess first, equal ones by score, then by number.
bool is_better(const Trial& a, const Trial& b);

/// Returns the line of the table: "2: leaves=15, 1/3 of the trees: log loss 0.43210, …".
std::string describe(const Trial& trial, std::string_view resource, std::string_view score);

/// Trials as text, which decode() reads to the last bit. `of` says what they are of: a search of
/// the same digest has the same trials.
std::string encode(const base::Digest& of, std::span<const Trial> trials);
/// Errors: data_loss "bad_trials"; failed_precondition "other_search": they are of another digest.
base::Result<std::vector<Trial>> decode(const base::Digest& of, std::string_view text);

}  // namespace rampart::tuning
