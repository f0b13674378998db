#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/constraints/expression.hpp"

namespace rampart::constraints {

/// Feature: one value per record; NaN: missing.
struct Column {
    std::string name;
    std::vector<std::string> categories{};  // empty: the feature is a number
    std::vector<float> values{};            // a number, or a position in `categories`
};

/// Protected group; "sex=female" is also the value female of the attribute sex.
struct GroupMembers {
    std::string name;
    std::vector<uint32_t> records{};  // positions, ascending
};

/// Records that conditions are evaluated on, without outcomes.
struct People {
    size_t records = 0;
    std::vector<Column> columns{};
    std::vector<GroupMembers> groups{};
};

/// Returns the names of features and protected attributes that the condition mentions, each once,
/// in alphabetical order.
std::vector<std::string> names_in(const Condition& condition);

/// Whether a record meets a condition, which may depend on its label: bit 0 is set if it does with
/// an unfavourable label, bit 1 if it does with a favourable one.
inline constexpr uint8_t kMemberIfUnfavourable = 1, kMemberIfFavourable = 2;

/// Returns one entry per record. A comparison with a missing value does not hold, `!=` included;
/// `not` negates its part. Numbers are compared as float, as features are stored. Errors:
/// invalid_argument "unknown_feature", "unknown_group", "unknown_category" (listing those that
/// exist), "ambiguous_name" (a feature and a protected attribute), "feature_kind" (a number
/// compared with a category or the other way round).
base::Result<std::vector<uint8_t>> members(const Condition& condition, const People& people);

}  // namespace rampart::constraints
