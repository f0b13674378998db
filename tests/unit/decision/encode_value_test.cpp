#include "rampart/decision/encode_value.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "policies.hpp"
#include "rampart/decision/encode.hpp"

namespace rampart::decision {
namespace {

using namespace testing;

std::variant<std::monostate, double, std::string_view> view(const domain::FeatureValue& value) {
    if (const auto* number = std::get_if<double>(&value)) return *number;
    if (const auto* text = std::get_if<std::string>(&value)) return std::string_view(*text);
    return {};
}

/// A value by itself and in a row are the same number, or the same error.
TEST(EncodeValue, IsWhatTheRowHasAtItsPlace) {
    const auto schema = sample_schema();
    const std::vector<domain::FeatureValue> values{
        std::monostate(),      0.0,  41.0,           2.0,    1e300, std::nan(""), "",
        std::string("school"), "41", "kindergarten", "\xff", "2.0"};
    size_t errors = 0;
    for (size_t i = 0; i < schema.size(); ++i) {
        for (const auto& value : values) {
            auto application = sample_application();
            for (auto& feature : application.features)
                if (feature.name == schema.features()[i].name) feature.value = value;
            const auto row = encode_row(application, schema);
            const auto one = encode_value(view(value), schema, i);
            ASSERT_EQ(row.has_value(), one.has_value());
            if (!row) {
                EXPECT_EQ(row.error(), one.error());
                ++errors;
            } else if (!std::isnan((*row)[i])) {
                EXPECT_EQ((*row)[i], *one);
            } else {
                EXPECT_TRUE(std::isnan(*one));
            }
        }
    }
    EXPECT_GT(errors, 4u);
}

}  // namespace
}  // namespace rampart::decision
