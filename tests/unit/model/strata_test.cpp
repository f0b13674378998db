#include "rampart/model/strata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rampart::model {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create(
               {{"income", dataset::FeatureKind::kNumeric, {}},
                {"housing", dataset::FeatureKind::kCategorical, {"own", "rent", "other"}}})
        .value();
}

const Strata kIncome{.feature = 0, .count = 4, .cuts = {20, 50}, .missing = 3};
const Strata kHousing{.feature = 1, .count = 2, .of_category = {0, 1, 1}, .missing = 1};

TEST(Strata, AreRangesOfANumberCategoriesAndTheMissingValue) {
    const float inf = std::numeric_limits<float>::infinity();
    for (const auto& [value, stratum] : std::vector<std::pair<float, size_t>>{
             {-inf, 0}, {19.99f, 0}, {20, 1}, {49.99f, 1}, {50, 2}, {inf, 2}, {std::nanf(""), 3}})
        EXPECT_EQ(kIncome.of(value), stratum) << value;
    for (const auto& [code, stratum] : std::vector<std::pair<float, size_t>>{
             {0, 0}, {1, 1}, {2, 1}, {std::nanf(""), 1}, {3, 1}, {-1, 1}})
        EXPECT_EQ(kHousing.of(code), stratum) << code;
    EXPECT_EQ((Strata{}.of(7)), 0u);
    EXPECT_EQ((Strata{}.of(std::nanf(""))), 0u);
}

TEST(Strata, HaveNames) {
    EXPECT_THAT(names_of(kIncome, schema()),
                ElementsAre("income < 20", "20 <= income < 50", "income >= 50", "income missing"));
    auto low = kIncome;
    low.missing = 0;
    low.count = 3;
    EXPECT_THAT(names_of(low, schema()),
                ElementsAre("income < 20 or missing", "20 <= income < 50", "income >= 50"));
    EXPECT_THAT(names_of(kHousing, schema()),
                ElementsAre("housing = own", "housing = rent, other or missing"));
    EXPECT_THAT(names_of(Strata{}, schema()), ElementsAre("any income or missing"));
}

TEST(Strata, FaultsAreNamed) {
    EXPECT_FALSE(fault_of(kIncome, schema()));
    EXPECT_FALSE(fault_of(kHousing, schema()));
    EXPECT_FALSE(fault_of(Strata{}, schema()));
    const auto fault = [](Strata strata, auto change) {
        change(strata);
        return fault_of(strata, schema()).value_or("none");
    };
    const float inf = std::numeric_limits<float>::infinity();
    EXPECT_THAT(fault(kIncome, [](Strata& s) { s.feature = 2; }), HasSubstr("feature 2 of 2"));
    EXPECT_THAT(fault(kIncome, [](Strata& s) { s.feature = 1; }), HasSubstr("cut points"));
    EXPECT_THAT(fault(kHousing, [](Strata& s) { s.feature = 0; }), HasSubstr("categories"));
    for (const float bad : {20.0f, 10.0f})
        EXPECT_THAT(fault(kIncome, [&](Strata& s) { s.cuts[1] = bad; }),
                    HasSubstr("not above the one before"));
    for (const float bad : {inf, std::nanf("")})
        EXPECT_THAT(fault(kIncome, [&](Strata& s) { s.cuts[1] = bad; }), HasSubstr("not finite"));
    EXPECT_THAT(fault(kIncome, [](Strata& s) { s.count = 3; }), HasSubstr("3 strata"));
    EXPECT_THAT(fault(kIncome, [](Strata& s) { s.count = 5; }), HasSubstr("5 strata"));
    EXPECT_THAT(fault(kIncome, [](Strata& s) { s.missing = 4, s.count = 5; }),
                HasSubstr("missing values in stratum 4"));
    EXPECT_THAT(fault(kIncome, [](Strata& s) { s.missing = 1; }), HasSubstr("4 strata"));
    EXPECT_THAT(fault(kHousing, [](Strata& s) { s.of_category.pop_back(); }),
                HasSubstr("2 categories for a feature with 3"));
    EXPECT_THAT(fault(kHousing, [](Strata& s) { s.of_category[2] = 3, s.count = 4; }),
                HasSubstr("stratum 2 has no category"));
    EXPECT_THAT(fault(kHousing, [](Strata& s) { s.count = 0; }), HasSubstr("0 strata"));
    EXPECT_THAT(fault(kIncome, [](Strata& s) { s.missing = UINT32_MAX; }), HasSubstr("strata"));
    EXPECT_THAT(fault(kHousing, [](Strata& s) { s.of_category[0] = UINT32_MAX; }),
                HasSubstr("no category"));
}

}  // namespace
}  // namespace rampart::model
