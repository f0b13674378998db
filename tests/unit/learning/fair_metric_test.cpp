#include "rampart/learning/fair_metric.hpp"

#include <gtest/gtest.h>

#include "support/grouped_data.hpp"

namespace rampart::learning {
namespace {

using support::made_up;

OptionValues defaults() { return OptionValues(metric_options()); }

TEST(AttributesOf, EachAttributeStandsAlone) {
    dataset::Dataset data;
    data.group_names = {"race=a,b,sex=f", "race=a,b,sex=m", "race=c,sex=f"};
    data.group = {0, 1, 2, 1};
    const auto attributes = attributes_of(data, {"race", "sex"});
    ASSERT_EQ(attributes.size(), 2u);
    EXPECT_EQ(attributes[0].group_names, (std::vector<std::string>{"a,b", "c"}));
    EXPECT_EQ(attributes[0].group, (std::vector<int32_t>{0, 0, 1, 0}));
    EXPECT_EQ(attributes[1].group_names, (std::vector<std::string>{"f", "m"}));
    EXPECT_EQ(attributes[1].group, (std::vector<int32_t>{0, 1, 0, 1}));
    const auto one = attributes_of(data, {});
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].group, data.group);
}

TEST(FairMetricOfATask, IsLearntFromTheProtectedAttributesUnlessTheOptionsSayMore) {
    const auto data = made_up(500, 1);
    const auto learnt = fair_metric({.train = data}, defaults());
    ASSERT_TRUE(learnt) << learnt.error().message;
    EXPECT_GE(learnt->subspace_dimensions(), 1u);
    auto values = defaults();
    const auto feature = data.schema.features().front().name;
    ASSERT_TRUE(values.set("indicators", feature));
    const auto named = fair_metric({.train = data}, values);
    ASSERT_TRUE(named) << named.error().message;
    EXPECT_FALSE(*named == *learnt);
    // the bytes of a metric come before what the options say
    const auto given = fair_metric({.train = data, .fair_metric = learnt->encode()}, values);
    ASSERT_TRUE(given);
    EXPECT_TRUE(*given == *learnt);
}

TEST(FairMetricOfATask, ErrorsSayWhatIsMissing) {
    auto data = made_up(200, 1);
    auto values = defaults();
    ASSERT_TRUE(values.set("protected_directions", "x"));
    EXPECT_EQ(fair_metric({.train = data}, values).error().reason, "bad_option");
    values = defaults();
    ASSERT_TRUE(values.set("metric_weights", "x:"));
    EXPECT_EQ(fair_metric({.train = data}, values).error().reason, "bad_option");
    EXPECT_EQ(fair_metric({.train = data, .fair_metric = "junk"}, defaults()).error().reason,
              "bad_metric_file");
    data.group.clear();
    data.group_names.clear();
    EXPECT_EQ(fair_metric({.train = data}, defaults()).error().reason, "no_protected_attributes");
}

}  // namespace
}  // namespace rampart::learning
