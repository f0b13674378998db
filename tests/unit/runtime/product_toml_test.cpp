#include "rampart/runtime/product_toml.hpp"

#include <gtest/gtest.h>

namespace rampart::runtime {
namespace {

const std::string kLabel = R"(name = "card"
[label]
name = "repaid"
horizon_months = 6
grace_days = 62
)";
const std::string kImpact = R"([impact]
units = "credit score points"
lo = -150
hi = 75
favourable = 75
unfavourable = -150
declined = 0
)";
const std::string kMeasure = R"([[measure]]
name = "income"
lo = -1.0
hi = 1.0
horizon_months = 12
grace_days = 0
)";

std::string error_of(const std::string& toml) {
    const auto product = parse_product(toml, "p.toml");
    return product ? "no error" : product.error().message;
}

TEST(ProductToml, ReadsAProduct) {
    const auto product = parse_product(kLabel + kMeasure + kImpact, "p.toml");
    ASSERT_TRUE(product) << product.error().message;
    domain::Product expected;
    expected.name = "card";
    expected.label = {"repaid", 0, 1, 6, base::Duration::days(62)};
    expected.measures = {{"income", -1, 1, 12, base::Duration()}};
    expected.impact = {"credit score points", -150, 75, std::nullopt, 75, -150, 0};
    EXPECT_EQ(*product, expected);
}

TEST(ProductToml, TheImpactMayBeMeasured) {
    const auto product = parse_product(
        kLabel + kMeasure +
            "[impact]\nunits = \"u\"\nlo = -1.0\nhi = 1.0\ndeclined = 0\nmeasure = \"income\"\n",
        "p.toml");
    ASSERT_TRUE(product) << product.error().message;
    EXPECT_EQ(product->impact.measure, "income");
}

TEST(ProductToml, MistakesAreNamedWithFileAndKey) {
    EXPECT_NE(error_of("").find("p.toml"), std::string::npos);
    EXPECT_NE(error_of(kLabel).find("impact.units"), std::string::npos);
    EXPECT_NE(error_of(kLabel + kImpact + "extra = 1\n").find("impact.extra"), std::string::npos);
    EXPECT_NE(error_of(kLabel + kImpact + "measure = \"income\"\n").find("favourable"),
              std::string::npos);
    EXPECT_NE(error_of(kLabel + "lo = 1\n" + kImpact).find("label.lo"), std::string::npos);
}

TEST(ProductToml, WhatMakesNoSenseIsNamedWithTheFile) {
    std::string impact = kImpact;
    impact.replace(impact.find("hi = 75"), 7, "hi = 74");
    const auto product = parse_product(kLabel + impact, "p.toml");
    ASSERT_FALSE(product);
    EXPECT_EQ(product.error().reason, "impact_outside_range");
    EXPECT_NE(product.error().message.find("p.toml"), std::string::npos);
}

TEST(ProductToml, AMissingFileIsNamed) {
    const auto product = load_product("/no/such/product.toml");
    ASSERT_FALSE(product);
    EXPECT_NE(product.error().message.find("/no/such/product.toml"), std::string::npos);
}

}  // namespace
}  // namespace rampart::runtime
