#include "rampart/wire/topics.hpp"

#include <gtest/gtest.h>

namespace rampart::wire {
namespace {

using Cleanup = streaming::TopicSpec::Cleanup;

TEST(Topics, CarryThePrefixOfTheirDeployment) {
    const auto topics = Topics::with_prefix("eu.");
    EXPECT_EQ(topics.decisions, "eu.decisions");
    for (const auto& spec : topics.specs(4)) EXPECT_EQ(spec.name.substr(0, 3), "eu.");
}

TEST(Topics, KeepDecisionsAndOutcomesForEver) {
    const auto topics = Topics::with_prefix("");
    for (const auto& spec : topics.specs(3)) {
        if (spec.name == "decisions" || spec.name == "outcomes") {
            EXPECT_EQ(spec.partitions, 3);
            EXPECT_EQ(spec.cleanup, Cleanup::kDelete);
            EXPECT_FALSE(spec.max_age);
        }
        if (spec.name == "person-keys" || spec.name == "protected-attributes") {
            // what is erased there is gone within a day
            EXPECT_EQ(spec.cleanup, Cleanup::kCompact);
            EXPECT_EQ(spec.compact_within, base::Duration::days(1));
        }
        if (spec.name == "leases") {
            EXPECT_EQ(spec.partitions, 1);
            EXPECT_EQ(spec.cleanup, Cleanup::kCompact);
            EXPECT_EQ(spec.compact_within, base::Duration::days(1)) << "a start reads all of it";
        }
    }
}

TEST(Topics, KeepDecisionsAndOutcomesForAsLongAsIsSaidAndNoLess) {
    const auto years = base::Duration::days(7 * 366);
    for (const auto& spec : Topics::with_prefix("").specs(3, years)) {
        const bool said = spec.name == "decisions" || spec.name == "outcomes";
        EXPECT_EQ(spec.max_age == years, said) << spec.name;
        EXPECT_EQ(spec.least_age == years, said) << spec.name;
        // people alone read the quarantine, so that it may be deleted sooner
        EXPECT_EQ(spec.max_age.has_value() && !spec.least_age, spec.name == "quarantine");
        if (spec.name == "applications") {
            EXPECT_EQ(spec.least_age, base::Duration::days(7));
        }
    }
}

}  // namespace
}  // namespace rampart::wire
