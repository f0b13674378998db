#include "rampart/counterfactuals/changes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rampart/base/file.hpp"
#include "rampart/counterfactuals/reasons.hpp"
#include "support/places.hpp"

namespace rampart::counterfactuals {
namespace {

using dataset::FeatureKind;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kHead = "product = \"loans\"\n";
const std::string kAmount =
    "[[change]]\nfeature = \"amount\"\ndirection = \"fall\"\nfrom = 500\nto = 40000\nstep = 100\n"
    "scale = 1000\n";
const std::string kPurpose =
    "[[change]]\nfeature = \"purpose\"\ncategories = [\"car\", \"debt\"]\n";

std::string error_of(const std::string& text) {
    const auto read = parse_changes(text, "changes.toml");
    return read ? "" : read.error().message;
}

/// Returns `text` with `from` replaced by `to`.
std::string with(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

TEST(DeclaredChanges, AreReadWithTheirBoundsAndDefaults) {
    const auto read = parse_changes(kHead + "immutable = [\"age\"]\n" + kAmount + kPurpose, "c");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->product, "loans");
    EXPECT_THAT(read->immutable, ElementsAre("age"));
    EXPECT_EQ(read->together, 4u);
    ASSERT_EQ(read->changes.size(), 2u);
    const auto& amount = read->changes[0];
    EXPECT_EQ(amount.feature, "amount");
    EXPECT_EQ(amount.direction, Direction::kFall);
    EXPECT_EQ(amount.from, 500);
    EXPECT_EQ(amount.to, 40000);
    EXPECT_EQ(amount.step, 100);
    EXPECT_EQ(amount.scale, 1000);
    EXPECT_TRUE(amount.categories.empty());
    EXPECT_THAT(read->changes[1].categories, ElementsAre("car", "debt"));
    EXPECT_EQ(read->changes[1].distance, 1);
    EXPECT_EQ(parse_changes(kHead + "together = 2\n" + kAmount, "c")->together, 2u);
}

TEST(DeclaredChanges, WhatIsNotAsTheyAreSaidIsRefusedWithItsPlace) {
    EXPECT_EQ(error_of(kHead + kAmount + kPurpose), "");
    EXPECT_THAT(error_of(kHead), HasSubstr("here are 0"));
    EXPECT_THAT(error_of(kHead + "colour = 1\n" + kAmount), HasSubstr("colour"));
    EXPECT_THAT(error_of(kHead + "together = 9\n" + kAmount), HasSubstr("together"));
    EXPECT_THAT(error_of(kHead + "together = 0\n" + kAmount), HasSubstr("together"));
    EXPECT_THAT(error_of(kHead + with(kAmount, "\"fall\"", "\"down\"")), HasSubstr("down"));
    EXPECT_THAT(error_of(kHead + with(kAmount, "to = 40000", "to = 400")),
                AllOf(HasSubstr("400"), HasSubstr("below from")));
    EXPECT_THAT(error_of(kHead + with(kAmount, "step = 100", "step = 0")), HasSubstr("step"));
    EXPECT_THAT(error_of(kHead + with(kAmount, "step = 100", "step = 1")), HasSubstr("steps"));
    EXPECT_THAT(error_of(kHead + with(kAmount, "scale = 1000", "scale = -1")), HasSubstr("scale"));
    EXPECT_THAT(error_of(kHead + with(kAmount, "to = 40000", "to = 1e39")), HasSubstr("to"));
    EXPECT_THAT(error_of(kHead + with(kAmount, "scale = 1000\n", "")), HasSubstr("scale"));
    EXPECT_THAT(error_of(kHead + with(kAmount, "\"amount\"", "\"\"")), HasSubstr("no name"));
    EXPECT_THAT(error_of(kHead + with(kPurpose, "\"car\", \"debt\"", "")), HasSubstr("1 to"));
    EXPECT_THAT(error_of(kHead + with(kPurpose, "\"car\"", "\"debt\"")), HasSubstr("once"));
    EXPECT_THAT(error_of(kHead + kPurpose + "from = 1\n"), HasSubstr("from"));
    EXPECT_THAT(error_of(kHead + kPurpose + "distance = 0\n"), HasSubstr("distance"));
    std::string many = kHead;
    for (size_t i = 0; i <= kMaxChanges; ++i) many += kPurpose;
    EXPECT_THAT(error_of(many), HasSubstr("here are 65"));
}

dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create({{"amount", FeatureKind::kNumeric, {}},
                                           {"months_on_file", FeatureKind::kNumeric, {}},
                                           {"purpose", FeatureKind::kCategorical, {"car", "debt"}}})
        .value();
}

std::string refusal(const std::string& text, const std::string& product = "loans") {
    const auto read = parse_changes(text, "changes.toml");
    EXPECT_TRUE(read) << read.error().message;
    const std::vector<std::string> attributes{"sex", "age"};
    const auto checked = check_changes(*read, product, schema(), attributes);
    if (checked) return "";
    EXPECT_TRUE(checked.error().is(Reason::kBadChanges));
    return checked.error().message;
}

TEST(CheckChanges, ProtectedAndImmutableFeaturesAreRefusedByName) {
    EXPECT_EQ(refusal(kHead + kAmount + kPurpose), "");
    EXPECT_THAT(refusal(kHead + with(kAmount, "amount", "age")),
                AllOf(HasSubstr("'age'"), HasSubstr("protected")));
    EXPECT_THAT(refusal(kHead + with(kAmount, "amount", "Age")),
                AllOf(HasSubstr("'Age'"), HasSubstr("protected")));
    EXPECT_THAT(refusal(kHead + "immutable = [\"amount\"]\n" + kAmount),
                AllOf(HasSubstr("'amount'"), HasSubstr("immutable")));
    EXPECT_EQ(refusal(kHead + "immutable = [\"age\", \"months_on_file\"]\n" + kAmount), "");
    EXPECT_THAT(refusal(kHead + "immutable = [\"mnths\"]\n" + kAmount), HasSubstr("'mnths'"))
        << "a mistyped name would protect nothing";
}

TEST(CheckChanges, WhatDoesNotFitThePolicyIsRefusedByName) {
    EXPECT_THAT(refusal(kHead + with(kAmount, "amount", "amout")),
                AllOf(HasSubstr("'amout'"), HasSubstr("not a feature")));
    EXPECT_THAT(refusal(kHead + kAmount + kAmount), HasSubstr("twice"));
    EXPECT_THAT(refusal(kHead + with(kAmount, "amount", "purpose")), HasSubstr("is a category"));
    EXPECT_THAT(refusal(kHead + with(kPurpose, "purpose", "amount")), HasSubstr("is a number"));
    EXPECT_THAT(refusal(kHead + with(kPurpose, "\"debt\"", "\"boat\"")), HasSubstr("'boat'"));
    EXPECT_THAT(refusal(kHead + kAmount, "cards"), AllOf(HasSubstr("loans"), HasSubstr("cards")));
}

TEST(DeclaredChanges, TheExampleIsReadAsItStands) {
    const auto text = base::read_file(
        test_support::source_dir() + "/ops/config/letters/simulated/changes.toml", 1 << 20);
    ASSERT_TRUE(text);
    const auto read = parse_changes(*text, "changes.toml");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->product, "simulated");
    EXPECT_EQ(read->together, 3u);
}

}  // namespace
}  // namespace rampart::counterfactuals
