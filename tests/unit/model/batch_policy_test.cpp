#include "rampart/model/batch_policy.hpp"

#include <gtest/gtest.h>

#include "model_pieces.hpp"

namespace rampart::model {
namespace {

/// Checks that a policy says the same of many rows as of each, to the last bit.
void expect_same(const Policy& policy, base::Random& random, size_t rows, base::ThreadPool* pool) {
    std::vector<std::vector<float>> columns(policy.schema().size());
    std::vector<std::vector<float>> table;
    std::vector<size_t> groups;
    for (size_t r = 0; r < rows; ++r) {
        table.push_back(random_row(random));
        for (size_t f = 0; f < columns.size(); ++f) columns[f].push_back(table[r][f]);
        if (policy.group_aware()) groups.push_back(random.below(policy.group_names().size()));
    }
    std::vector<PolicyOutput> out(rows);
    BatchPolicy(policy).evaluate(TableView::column_major(columns), groups, out, pool);
    for (size_t r = 0; r < rows; ++r) {
        const auto one = policy.evaluate(
            table[r], groups.empty() ? std::nullopt : std::optional<size_t>(groups[r]));
        ASSERT_EQ(out[r].score, one.score) << r;
        ASSERT_EQ(out[r].exploit, one.exploit) << r;
        ASSERT_EQ(out[r].approve, one.approve) << r;
    }
}

TEST(BatchPolicy, SaysOfManyRowsWhatThePolicySaysOfEach) {
    base::Random random(11);
    base::ThreadPool pool(3);
    using Make = LearnedLink (*)(base::Random&, size_t);
    const Make kinds[] = {random_link, random_calibrated_link, random_score_link,
                          [](base::Random& r, size_t groups) { return random_mixture(r, groups); },
                          random_stratified_link};
    for (int repeat = 0; repeat < 40; ++repeat) {
        const size_t groups = 1 + random.below(3), blind = groups == 1;
        std::vector<Link> links;
        if (random.bernoulli(0.5)) links.emplace_back(example_bootstrap());
        for (size_t more = 1 + random.below(3); more > 0; --more) {
            // strata, the last kind, have a ramp by group
            auto link = kinds[random.below(std::size(kinds) - blind)](random, groups);
            link.exploit_chain = random.bernoulli(0.5);
            links.emplace_back(std::move(link));
        }
        const auto policy =
            Policy::create(example_schema(), links, group_names(groups), {}).value();
        expect_same(policy, random, 300, repeat % 2 == 0 ? &pool : nullptr);
    }
}

TEST(BatchPolicy, HasTasksForMoreRowsThanOneTakes) {
    base::Random random(12);
    base::ThreadPool pool(2);
    expect_same(random_policy(random, 3, 2, true), random, 9001, &pool);
}

TEST(BatchPolicy, HasNothingToSayOfNoRows) {
    base::Random random(13);
    expect_same(random_policy(random, 2, 1, true), random, 0, nullptr);
}

}  // namespace
}  // namespace rampart::model
