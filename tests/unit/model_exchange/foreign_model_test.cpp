#include "rampart/model_exchange/foreign_model.hpp"

#include <gtest/gtest.h>

#include "golden_models.hpp"

namespace rampart::model_exchange {
namespace {

using Places = std::vector<std::optional<size_t>>;
using Names = std::vector<std::string>;

TEST(ForeignModel, FeaturesAreFoundByName) {
    Names notes;
    const auto schema = golden_schema();
    EXPECT_EQ(*match_features(Names{"income", "gone", "open_lines", "region"}, 4, schema, notes),
              (Places{3, std::nullopt, 2, 0}));
    EXPECT_EQ(*match_features(Names{"open lines"}, 1, schema, notes), (Places{2}));
    EXPECT_TRUE(notes.empty());
}

TEST(ForeignModel, FeaturesWithoutNamesAreTakenInOrder) {
    const auto schema = golden_schema();
    for (const auto& names : {Names{"Column_0", "Column_1", "Column_2", "Column_3"},
                              Names{"f0", "f1", "f2", "f3"}, Names{}}) {
        Names notes;
        EXPECT_EQ(*match_features(names, 4, schema, notes), (Places{0, 1, 2, 3}));
        EXPECT_EQ(notes.size(), 1u);
    }
    Names notes;
    const auto few = match_features(Names{"f0", "f1"}, 2, schema, notes);
    ASSERT_FALSE(few);
    EXPECT_EQ(few.error().reason, "wrong_feature_count");
    EXPECT_EQ(match_features(Names{"income"}, 2, schema, notes).error().reason,
              "wrong_feature_count");
    // names that are none of these, and none of the schema's: nothing is guessed
    EXPECT_EQ(*match_features(Names{"a", "b", "c", "d"}, 4, schema, notes), Places(4));
}

TEST(ForeignModel, ANameThatMayBeTwoFeaturesIsRefused) {
    using dataset::FeatureKind;
    const auto schema = dataset::FeatureSchema::create({{"open lines", FeatureKind::kNumeric, {}},
                                                        {"open_lines", FeatureKind::kNumeric, {}}})
                            .value();
    Names notes;
    const auto places = match_features(Names{"open_lines"}, 1, schema, notes);
    ASSERT_FALSE(places);
    EXPECT_EQ(places.error().reason, "ambiguous_feature_name");
}

TEST(ForeignModel, NegationExchangesTheLabels) {
    model::Ensemble ensemble{0.5, {{.nodes = {{.value = 2}}, .category_sets = {}}}};
    negate(ensemble);
    EXPECT_EQ(ensemble.predict_raw({}), -2.5);
}

TEST(ForeignModel, ScoresHaveNames) {
    EXPECT_EQ(to_string(RawScore::kLogOdds), "log-odds");
    EXPECT_EQ(to_string(RawScore::kValue), "value");
    EXPECT_EQ(to_string(RawScore::kLogarithm), "logarithm");
}

}  // namespace
}  // namespace rampart::model_exchange
