#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "operating_point.hpp"
#include "postprocessors.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/postprocessing/reasons.hpp"

namespace rampart::postprocessing {
namespace {

constexpr int kNarrower = 4;          // how often a band is made narrower, to a quarter each time
constexpr double kLeastGamma = 1e-6;  // least width of rules that need a band

/// Checks that every row is in a group and every group has a row.
base::Status check_groups(const Rows& rows) {
    if (rows.groups() < 2)
        return base::make_error(base::Reason::kNoGroups,
                                "a ramp evens out protected groups, and the table has {}: "
                                "name columns under `protected` in the schema",
                                rows.groups());
    std::vector<size_t> count(rows.groups());
    for (size_t i = 0; i < rows.size(); ++i) {
        if (rows.group[i] < 0 || static_cast<size_t>(rows.group[i]) >= rows.groups())
            return base::make_error(base::Reason::kBadGroup,
                                    "row {}: group {} is not one of 0 to {}", i, rows.group[i],
                                    rows.groups() - 1);
        ++count[static_cast<size_t>(rows.group[i])];
    }
    const auto empty = std::find(count.begin(), count.end(), size_t{0});
    if (empty == count.end()) return base::ok();
    return base::make_error(Reason::kGroupWithoutRows,
                            "group '{}' has none of the {} rows: a rule for it cannot be fitted; "
                            "wait for more rows, or leave the group out",
                            rows.group_names[static_cast<size_t>(empty - count.begin())],
                            rows.size());
}

}  // namespace

std::span<const Postprocessor* const> postprocessors() {
    static const std::array<const Postprocessor*, 6> all{
        &no_criterion(),   &statistical_parity(), &equal_opportunity(),
        &equalized_odds(), &covariance(),         &group_thresholds()};
    return all;
}

base::Result<const Postprocessor*> find_postprocessor(std::string_view name) {
    std::vector<std::string_view> names;
    for (const auto* one : postprocessors()) {
        if (one->name() == name) return one;
        names.push_back(one->name());
    }
    return base::make_error(Reason::kUnknownPostprocessor,
                            "there is no criterion '{}'; there are {}", name,
                            fmt::join(names, ", "));
}

base::Result<Fitted> fit(const Postprocessor& postprocessor, const Rows& rows,
                         const learning::OptionValues& values, const Setting& setting) {
    RAMPART_RETURN_IF_ERROR(postprocessor.check(values));
    const auto needs = postprocessor.needs(values);
    if (rows.size() == 0) return base::make_error(base::Reason::kNoRows, "there are no rows");
    if ((needs.labels || speaks_of_labels(setting)) && rows.label.size() != rows.size())
        return base::make_error(
            Reason::kNoLabels,
            "{} is fitted on labels, and {} of {} rows have one: give rows with labels",
            needs.labels ? fmt::format("criterion {}", postprocessor.name())
                         : fairness::to_string(*setting.operate_at),
            rows.label.size(), rows.size());
    if (rows.posteriors.size() != needs.group_model.size())
        return base::make_error(base::Reason::kSizeMismatch,
                                "{} estimates of the groups, and the rule takes {}",
                                rows.posteriors.size(), needs.group_model.size());
    if (needs.groups) RAMPART_RETURN_IF_ERROR(check_groups(rows));
    RAMPART_RETURN_IF_ERROR(check_has_strata(values, rows));
    if (needs.strata) {
        RAMPART_RETURN_IF_ERROR(check_strata_count(values, *rows.strata, rows.groups()));
        RAMPART_RETURN_IF_ERROR(check_cells(values, rows));
    }
    auto at = setting;
    const auto solve = [&](double threshold) -> base::Result<Fitted> {
        at.threshold = threshold;
        RAMPART_TRY(auto fitted, postprocessor.solve(rows, values, at));
        fitted.threshold = threshold;
        return fitted;
    };
    if (!setting.moves()) return solve(setting.threshold);
    auto found = solve_at(*setting.operate_at, rows, needs.group_model, solve);
    // a band about the best scores still approves: a narrower one keeps a lower rate
    for (int i = 0; i < kNarrower && values.has("gamma") && !found &&
                    found.error().is(Reason::kOperatingPointMissed);
         ++i) {
        at.gamma = std::max(at.gamma.value_or(values.number("gamma")) / 4, kLeastGamma);
        at.search_gamma = false;
        found = solve_at(*setting.operate_at, rows, needs.group_model, solve);
    }
    return found;
}

}  // namespace rampart::postprocessing
