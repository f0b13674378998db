#include "rampart/postprocessing/rows.hpp"

#include <gtest/gtest.h>

#include "lenders.hpp"

namespace rampart::postprocessing {
namespace {

using Given = model::GroupBlindAdjustment::Given;
using test::applicants;

TEST(Rows, ASubsetHasAllThatItsRowsHave) {
    auto rows = applicants(9, 1);
    rows.posteriors = {{}};
    for (int i = 0; i < 27; ++i) rows.posteriors[0].push_back(i);
    const std::vector<uint32_t> chosen{7, 2};
    const auto part = rows.subset(chosen);
    EXPECT_EQ(part.p, (std::vector<double>{rows.p[7], rows.p[2]}));
    EXPECT_EQ(part.group, (std::vector<int32_t>{1, 2}));
    EXPECT_EQ(part.label, (std::vector<uint8_t>{rows.label[7], rows.label[2]}));
    EXPECT_EQ(part.weight_of(1), rows.weight_of(2));
    EXPECT_EQ(part.posteriors[0], (std::vector<double>{21, 22, 23, 6, 7, 8}));
    rows.label.clear();
    EXPECT_TRUE(rows.subset(chosen).label.empty());
    EXPECT_EQ(rows.table().group_names, rows.group_names);
}

TEST(GroupModel, EstimatesWhatTheFeaturesTellWithAndWithoutTheLabel) {
    auto rows = applicants(1500, 2);
    const auto data = test::features_of(rows, 3);
    const std::vector<Given> both{Given::kFavourable, Given::kUnfavourable};
    const auto model = learn_groups(data, both, 20, nullptr).value();
    ASSERT_EQ(model.size(), 2u);
    EXPECT_EQ(model[1].given, Given::kUnfavourable);
    add_posteriors(model, data, nullptr, rows);
    ASSERT_EQ(rows.posteriors.size(), 2u);
    double own = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
        const double* of_row = rows.posteriors[0].data() + 3 * i;
        EXPECT_NEAR(of_row[0] + of_row[1] + of_row[2], 1, 1e-9);
        own += of_row[rows.group[i]];
    }
    EXPECT_GT(own / 1500, 0.45) << "a third is by chance";
}

TEST(GroupModel, NeedsLabelsOnlyWhereOneIsGiven) {
    const auto rows = applicants(600, 4);
    auto data = test::features_of(rows, 5);
    data.label.clear();
    data.target.assign(600, 0);
    const std::vector<Given> nothing{Given::kNothing}, favourable{Given::kFavourable};
    EXPECT_TRUE(learn_groups(data, nothing, 5, nullptr));
    EXPECT_EQ(learn_groups(data, favourable, 5, nullptr).error().reason, "numeric_label");
    data.group.clear();
    EXPECT_EQ(learn_groups(data, nothing, 5, nullptr).error().reason, "no_groups");
}

}  // namespace
}  // namespace rampart::postprocessing
