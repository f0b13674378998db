#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/learning/options.hpp"

/// Protected groups that options name, checked before there is any data.
namespace rampart::learning {

/// Protected groups that rows will have, as far as they are known.
struct GroupsToCome {
    /// {"sex", "age"}; the name of each group has a value of each, in this order: "sex=F,age=low".
    std::vector<std::string> attributes;
    std::vector<std::string> names = {};  // in order; empty: not known yet
};

/// Checks that `attribute`, which the value of an option names, is one of the groups'. Errors:
/// invalid_argument "unknown_attribute" with option, value and the attributes.
base::Status check_attribute(std::string_view option, std::string_view value,
                             std::string_view attribute, const GroupsToCome& groups);

/// Checks a learner's options: the attributes that `constraints` names, and that
/// `disparity_tolerance` and `zeta` have one value, or one for each group. Errors: as above;
/// invalid_argument "bad_option"; parse_parity's.
base::Status check_groups(const OptionValues& values, const GroupsToCome& groups);

}  // namespace rampart::learning
