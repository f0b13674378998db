#include "rampart/learning/groups_to_come.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "rampart/base/reasons.hpp"
#include "rampart/fairness/rate_constraints.hpp"
#include "rampart/learning/reasons.hpp"

namespace rampart::learning {
namespace {

base::Status check_count(const OptionValues& values, std::string_view option,
                         const std::vector<std::string>& groups) {
    const size_t count = values.numbers(option).size();
    // groups without a row have no value: how many there are shows in the data
    if (count <= 1 || groups.empty() || count <= groups.size()) return base::ok();
    return base::make_error(Reason::kBadOption,
                            "`{}` has {} values; give one, or one for each of the {} groups (those "
                            "with rows) in the order of their names: {}",
                            option, count, groups.size(), fmt::join(groups, "; "));
}

}  // namespace

base::Status check_attribute(std::string_view option, std::string_view value,
                             std::string_view attribute, const GroupsToCome& groups) {
    const auto& known = groups.attributes;
    if (std::find(known.begin(), known.end(), attribute) != known.end()) return base::ok();
    return base::make_error(base::Reason::kUnknownAttribute,
                            "`{}` is '{}': there is no protected attribute '{}'; there are {}: "
                            "name one of them, or leave it out",
                            option, value, attribute, fmt::join(known, ", "));
}

base::Status check_groups(const OptionValues& values, const GroupsToCome& groups) {
    if (values.has("constraints"))
        for (const auto& text : values.texts("constraints")) {
            const auto parity = fairness::parse_parity(text, 0);
            if (!parity) return parity.error().with_context("constraints");
            for (const auto& one : *parity)
                if (!one.attribute.empty())
                    RAMPART_RETURN_IF_ERROR(
                        check_attribute("constraints", text, one.attribute, groups));
        }
    for (const char* option : {"disparity_tolerance", "zeta"})
        if (values.has(option)) RAMPART_RETURN_IF_ERROR(check_count(values, option, groups.names));
    return base::ok();
}

}  // namespace rampart::learning
