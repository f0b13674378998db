#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/config/table.hpp"
#include "rampart/dataset/feature_schema.hpp"

/// What applicants can act on, as the lender declares it, a file for each product:
///
///     product = "credit_card"
///     immutable = ["months_on_file"]  # no change of these is accepted
///     together = 3                    # features changed at a time, 1 to kMaxTogether; default 4
///
///     [[change]]
///     feature = "loan_amount"
///     direction = "fall"              # or "rise", "any"
///     from = 500                      # the new value: from, from + step, … up to `to`
///     to = 40000
///     step = 100                      # 1, and a whole `from`: whole numbers
///     scale = 1000                    # a change by so much has the distance 1
///
///     [[change]]
///     feature = "purpose"             # a category
///     categories = ["car", "debt"]    # what it may become
///     distance = 1                    # of the change; default 1
///
/// What is not declared is never changed.
namespace rampart::counterfactuals {

enum class Direction { kAny, kRise, kFall };

/// How one feature may change.
struct Change {
    std::string feature;
    Direction direction = Direction::kAny;     // only of a number, as the next four
    double from = 0, to = 0;                   // finite, from <= to
    double step = 1;                           // > 0; at most kMaxSteps of them from `from` to `to`
    double scale = 1;                          // > 0
    std::vector<std::string> categories = {};  // [1 to kMaxCategories] distinct; empty: a number
    double distance = 1;                       // > 0; only of a category
};

struct DeclaredChanges {
    std::string product;
    std::vector<std::string> immutable{};  // names of features
    size_t together = 4;                   // [1 to kMaxTogether]
    std::vector<Change> changes{};         // [1 to kMaxChanges]
};

inline constexpr size_t kMaxChanges = 64, kMaxTogether = 8, kMaxImmutable = 1024;
inline constexpr double kMaxSteps = 10'000;

/// Reads strictly; the errors are the table's, which its caller's finish() returns.
DeclaredChanges read_changes(config::Table root);
/// Reads a file's text; `name` stands in errors. Errors: those of config::parse and finish().
base::Result<DeclaredChanges> parse_changes(std::string_view text, std::string_view name);

/// Checks the changes against the features of a policy. Refuses by name: another product; a feature
/// that is doubled, immutable, a protected attribute (in capitals or not) or not in the schema; a
/// change of a number for a category, and the other way round; an unknown category or immutable
/// name. Errors: invalid_argument "bad_changes".
base::Status check_changes(const DeclaredChanges& declared, std::string_view product,
                           const dataset::FeatureSchema& schema,
                           std::span<const std::string> protected_attributes);

}  // namespace rampart::counterfactuals
