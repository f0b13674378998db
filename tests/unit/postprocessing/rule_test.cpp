#include "rampart/postprocessing/rule.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "lenders.hpp"
#include "rampart/postprocessing/postprocessor.hpp"

namespace rampart::postprocessing {
namespace {

using learning::OptionValues;
using test::applicants;

/// A link whose ensemble is one leaf, so that p is the same for all rows.
model::LearnedLink link_of(double raw) {
    model::LearnedLink link;
    link.ensemble.base_score = raw;
    return link;
}

/// Each rule, put on a link of a policy, decides as approve() says: for the ensemble's p, each
/// group and each row of features.
TEST(Rule, APolicyDecidesAsTheRuleSays) {
    auto rows = applicants(1800, 6);
    const auto features = test::features_of(rows, 7);
    for (const auto& [criterion, group] :
         std::vector<std::pair<std::string, std::string>>{{"none", ""},
                                                          {"statistical_parity", "known"},
                                                          {"statistical_parity", "blind"},
                                                          {"equal_opportunity", "blind"},
                                                          {"equalized_odds", "known"},
                                                          {"equalized_odds", "blind"},
                                                          {"covariance", "known"},
                                                          {"thresholds", ""}}) {
        const auto& one = *find_postprocessor(criterion).value();
        OptionValues values(one.options());
        const std::string method = criterion == "none" ? "isotonic" : "default";
        ASSERT_TRUE(group.empty() || values.set("group", group));
        ASSERT_TRUE(!values.has("calibration") || values.set("calibration", method));
        const auto needs = one.needs(values);
        GroupModel groups;
        rows.posteriors.clear();
        if (!needs.group_model.empty()) {
            groups = learn_groups(features, needs.group_model, 10, nullptr).value();
            add_posteriors(groups, features, nullptr, rows);
        }
        const auto fitted = fit(one, rows, values, {.slope = 1.5, .threshold = 0.05});
        ASSERT_TRUE(fitted) << criterion << ": " << fitted.error().message;
        auto same = rows;
        const double raw = 0.7;
        same.p.assign(rows.size(), model::sigmoid(raw));
        const auto approve = fitted->rule.approve(same, groups);
        auto link = link_of(raw);
        fitted->rule.put_on(link, groups);
        EXPECT_EQ(link.group_aware(), needs.groups_to_decide) << criterion;
        const auto policy = model::Policy::create(
            features.schema, {link},
            link.group_aware() ? rows.group_names : std::vector<std::string>(), {});
        ASSERT_TRUE(policy) << criterion << ": " << policy.error().message;
        for (size_t i = 0; i < 200; ++i) {
            const float row[] = {features.columns[0][i], features.columns[1][i]};
            EXPECT_NEAR(policy->evaluate(row, static_cast<size_t>(rows.group[i])).approve,
                        approve[i], 1e-9)
                << criterion << " " << group;
        }
    }
}

TEST(Rule, OneThatNeedsTheGroupDecidesNoRowWithout) {
    Rule rule{.ramp = {0, 0.5, {-0.5, 0.5}, {1, 1}}};
    Rows rows{.p = {0.5, 0.5, 0.5}, .group = {0, 1, -1}, .group_names = {"a", "b"}};
    const auto aware = rule.approve(rows, {});
    EXPECT_EQ(aware[0], 1);
    EXPECT_EQ(aware[1], 0);
    EXPECT_TRUE(std::isnan(aware[2]));
    rule.ramp = {0, 0.5, {-0.5}, {1}};
    EXPECT_EQ(rule.approve(rows, {})[2], 1);
}

}  // namespace
}  // namespace rampart::postprocessing
