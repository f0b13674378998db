#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "rampart/learning/learner.hpp"

/// What learners say of features with more categories than bins, where they have no statistics of
/// them: trees that go on from a model.
namespace rampart::learning {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// `dealer` has the given number of categories, of which the i-th has i + 1 rows, and a missing
/// row; `region` has two categories.
dataset::Dataset dealers(size_t categories) {
    std::vector<std::string> names;
    for (size_t i = 0; i < categories; ++i) names.push_back("d" + std::to_string(i));
    dataset::Dataset data;
    using dataset::FeatureKind;
    data.schema = dataset::FeatureSchema::create({{"region", FeatureKind::kCategorical, {"n", "s"}},
                                                  {"dealer", FeatureKind::kCategorical, names}})
                      .value();
    data.columns.resize(2);
    const auto add = [&](float code) {
        data.columns[0].push_back(static_cast<float>(data.rows() % 2));
        data.columns[1].push_back(code);
        data.label.push_back(data.label.size() % 3 == 0 ? 1 : 0);
    };
    for (size_t i = 0; i < categories; ++i)
        for (size_t row = 0; row <= i; ++row) add(static_cast<float>(i));
    add(std::nanf(""));
    return data;
}

std::vector<std::string> notes(std::string_view learner, const dataset::Dataset& data,
                               int64_t bins = 20) {
    const auto* found = find_learner(learner).value();
    OptionValues values(found->options());
    EXPECT_TRUE(values.set("trees", int64_t{2}));
    EXPECT_TRUE(values.set("max_bins", bins));
    const auto start = fit(*found, {.train = data, .seed = 1}, values);
    EXPECT_TRUE(start) << start.error().message;
    if (!start) return {"no model"};
    const auto policy = model::Policy::create(data.schema, {start->link}, {}, {}).value();
    EXPECT_TRUE(values.set("trees", int64_t{4}));
    const auto learned = fit(*found, {.train = data, .seed = 1, .start = &policy}, values);
    EXPECT_TRUE(learned) << learned.error().message;
    return learned ? learned->notes : std::vector<std::string>{"no model"};
}

TEST(MergedCategories, AreCountedAndSaidWithARemedy) {
    // the 19 most frequent of 23 have a bin each; the four others have 1 + 2 + 3 + 4 rows
    EXPECT_THAT(notes("gbdt", dealers(23)),
                ElementsAre(AllOf(HasSubstr("'dealer' has 23 categories in the training rows, and "
                                            "`max_bins` leaves 20 bins: the rarest 4, in 10 of "
                                            "277 rows, are one category"),
                                  HasSubstr("merge categories that are alike"))));
}

TEST(MergedCategories, FollowTheWeightsThatTheBinsFollow) {
    auto data = dealers(21);
    // the most frequent category has the least weight, so that it shares the last bin
    for (size_t row = 0; row < data.rows(); ++row)
        data.weight.push_back(data.columns[1][row] == 20 ? 0.001f : 1);
    EXPECT_THAT(notes("gbdt", data), ElementsAre(HasSubstr("the rarest 2, in 22 of 232 rows")));
}

TEST(MergedCategories, NothingIsSaidWhereEachCategoryHasABin) {
    EXPECT_THAT(notes("gbdt", dealers(20)), IsEmpty());
    EXPECT_THAT(notes("gbdt", dealers(23), 255), IsEmpty());
    // in the schema, but not in the rows
    auto data = dealers(23);
    for (auto& code : data.columns[1])
        if (code < 3) code = std::nanf("");
    EXPECT_THAT(notes("gbdt", data), IsEmpty());
}

}  // namespace
}  // namespace rampart::learning
