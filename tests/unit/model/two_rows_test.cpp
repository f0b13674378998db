#include "rampart/model/two_rows.hpp"

#include <gtest/gtest.h>

#include "model_pieces.hpp"
#include "rampart/model/batch_policy.hpp"

namespace rampart::model {
namespace {

/// Returns the features of the schema in parts: each feature in one part, in several, or in none.
std::vector<std::vector<size_t>> parts_of(base::Random& random, size_t features, size_t parts) {
    std::vector<std::vector<size_t>> out(parts);
    for (size_t f = 0; f < features; ++f) {
        const auto part = random.below(parts + 1);
        if (part < parts) out[part].push_back(f);
    }
    return out;
}

TEST(TwoRows, RowsTakeTheirPartsFromTheOther) {
    const std::vector<float> row{1, 2, 3, 4}, other{10, 20, 30, 40};
    const std::vector<std::vector<size_t>> parts{{2}, {0, 3}};
    const TwoRows two{row, other, parts};
    EXPECT_EQ(two.rows(),
              (std::vector<float>{1, 2, 3, 4, 1, 2, 30, 4, 10, 2, 3, 40, 10, 2, 30, 40}));
    EXPECT_EQ((TwoRows{row, other}.rows()), row);
}

TEST(TwoRows, ScoresAreThoseOfTheRowsToTheBit) {
    base::Random random(7);
    size_t parted = 0;
    for (int repeat = 0; repeat < 300; ++repeat) {
        const auto link = random_link(random, 1);
        const auto row = random_row(random), other = random_row(random);
        const auto parts = parts_of(random, row.size(), random.below(10));
        const TwoRows two{row, other, parts};
        std::vector<double> scores(two.count());
        predict_between(link.ensemble, two, scores);
        const auto rows = two.rows();
        for (size_t set = 0; set < two.count(); ++set) {
            const auto one = std::span(rows).subspan(set * row.size(), row.size());
            ASSERT_EQ(scores[set], link.ensemble.predict_raw(one)) << repeat << " row " << set;
            parted += scores[set] != scores[0];
        }
    }
    EXPECT_GT(parted, 5000u);
}

TEST(TwoRows, APolicySaysOfThemWhatItSaysOfEach) {
    base::Random random(8);
    using Make = LearnedLink (*)(base::Random&, size_t);
    const Make kinds[] = {random_link, random_calibrated_link, random_score_link,
                          [](base::Random& r, size_t groups) { return random_mixture(r, groups); },
                          random_stratified_link};
    for (int repeat = 0; repeat < 60; ++repeat) {
        const size_t groups = 1 + random.below(3), blind = groups == 1;
        std::vector<Link> links{example_bootstrap()};
        for (size_t more = 1 + random.below(3); more > 0; --more)
            links.emplace_back(kinds[random.below(std::size(kinds) - blind)](random, groups));
        const auto policy =
            Policy::create(example_schema(), links, group_names(groups), {}).value();
        const auto group =
            policy.group_aware() ? std::optional(random.below(groups)) : std::nullopt;
        const auto row = random_row(random), other = random_row(random);
        const auto parts = parts_of(random, row.size(), 1 + random.below(7));
        const TwoRows two{row, other, parts};
        std::vector<PolicyOutput> out(two.count());
        BatchPolicy(policy).evaluate_between(two, group, out);
        const auto rows = two.rows();
        for (size_t set = 0; set < two.count(); ++set) {
            const auto one =
                policy.evaluate(std::span(rows).subspan(set * row.size(), row.size()), group);
            ASSERT_EQ(out[set].score, one.score) << repeat << " row " << set;
            ASSERT_EQ(out[set].exploit, one.exploit) << repeat << " row " << set;
            ASSERT_EQ(out[set].approve, one.approve) << repeat << " row " << set;
        }
    }
}

}  // namespace
}  // namespace rampart::model
