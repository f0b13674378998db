#include "rampart/base/enum_names.hpp"

#include <gtest/gtest.h>

namespace rampart::base {
namespace {

enum class Fruit { kApple, kPear, kQuince };
constexpr std::array kFruits{EnumName<Fruit>{Fruit::kApple, "apple"},
                             EnumName<Fruit>{Fruit::kPear, "pear"},
                             EnumName<Fruit>{Fruit::kApple, "pome"}};

#define RAMPART_FRUIT_REASONS(X) \
    X(kUnknownFruit, kInvalidArgument, "unknown_fruit", "Use one of the fruits.")
RAMPART_REASONS("fruit", RAMPART_FRUIT_REASONS)

TEST(EnumNames, TheFirstWordOfAValueIsWrittenAndEveryWordIsRead) {
    EXPECT_EQ(name_of(kFruits, Fruit::kApple), "apple");
    EXPECT_EQ(value_of(kFruits, "pome", Reason::kUnknownFruit).value(), Fruit::kApple);
    EXPECT_EQ(value_of(kFruits, "pear", Reason::kUnknownFruit).value(), Fruit::kPear);
}

TEST(EnumNames, AnUnknownWordIsRefusedWithThoseThatAreKnown) {
    const auto fruit = value_of(kFruits, "plum", Reason::kUnknownFruit);
    ASSERT_FALSE(fruit);
    EXPECT_EQ(fruit.error().reason, "unknown_fruit");
    EXPECT_EQ(fruit.error().message, "'plum' is no fruit: use one of apple, pear, pome");
}

TEST(EnumNames, AValueWithoutAWordIsAQuestionMark) {
    EXPECT_EQ(name_of(kFruits, Fruit::kQuince), "?");
}

}  // namespace
}  // namespace rampart::base
