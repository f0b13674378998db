#include "rampart/gbdt/bins.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rampart/gbdt/learner.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/gbdt/soft_cross_entropy.hpp"
#include "toy_data.hpp"

namespace rampart::gbdt {
namespace {

LearnerParams quick() {
    LearnerParams params;
    params.trees = 15;
    params.max_bins = 64;
    return params;
}

std::string trained(const dataset::Dataset& data, Objective& objective, const LearnerParams& params,
                    const TrainingOptions& options, base::ThreadPool* pool = nullptr) {
    return describe(train(data, objective, params, pool, options).value());
}

TEST(Bins, AFitOnSharedBinsIsTheFitWithout) {
    const auto data = mixed_data(3000, 1), validation = mixed_data(500, 2);
    auto params = quick();
    params.row_fraction = 0.7;  // rows outside the sample are scored by their bins
    params.early_stopping_rounds = 5;
    const auto bins = Bins::create(data, params.max_bins, nullptr).value();
    LogLoss objective(data);
    const auto own = trained(data, objective, params, {.validation = &validation});
    const auto shared =
        trained(data, objective, params, {.validation = &validation, .bins = &bins});
    EXPECT_EQ(own, shared);
    base::ThreadPool two(2);
    const auto made_by_two = Bins::create(data, params.max_bins, &two).value();
    EXPECT_EQ(own, trained(data, objective, params,
                           {.validation = &validation, .bins = &made_by_two}, &two));
}

TEST(Bins, ServeManyFitsWithLabelsAndWeightsOfTheirOwn) {
    const auto data = mixed_data(2000, 3);
    const auto bins = Bins::create(data, quick().max_bins, nullptr).value();
    std::vector<uint8_t> flipped;
    std::vector<float> weights;
    std::vector<double> targets;
    for (size_t i = 0; i < data.rows(); ++i) {
        flipped.push_back(1 - data.label[i]);
        weights.push_back(data.weight[i]);
        targets.push_back(1.0 - data.label[i]);
    }
    // the same data set with those labels: quantiles are by its weights, which are the same
    auto relabelled = data;
    relabelled.label = flipped;
    LogLoss of_data(relabelled), of_labels(flipped, weights);
    const auto expected = trained(relabelled, of_data, quick(), {});
    EXPECT_EQ(trained(data, of_labels, quick(), {.bins = &bins}), expected);
    EXPECT_EQ(trained(data, of_labels, quick(), {.bins = &bins}), expected);  // they do not wear
    auto soft = SoftCrossEntropy::create(targets, weights).value();
    EXPECT_EQ(trained(data, soft, quick(), {.bins = &bins}), trained(data, soft, quick(), {}));
}

TEST(Bins, OutliveTheDataAndAreSharedByCopies) {
    auto data = std::make_unique<dataset::Dataset>(mixed_data(300, 4));
    const auto again = *data;
    const Bins bins = Bins::create(*data, 64, nullptr).value();
    const Bins copy = bins;
    data.reset();
    EXPECT_EQ(&bins.binned(), &copy.binned());
    LogLoss objective(again);
    EXPECT_EQ(trained(again, objective, quick(), {.bins = &copy}),
              trained(again, objective, quick(), {}));
}

TEST(Bins, OfAnotherTrainingSetAreRefused) {
    const auto data = mixed_data(300, 5);
    const auto bins = Bins::create(data, 64, nullptr).value();
    EXPECT_TRUE(bins.check(data, 64));
    const auto refusal = [&](const dataset::Dataset& other, int max_bins) {
        LogLoss objective(other);
        auto params = quick();
        params.max_bins = max_bins;
        const auto result = train(other, objective, params, nullptr, {.bins = &bins});
        EXPECT_FALSE(result);
        EXPECT_EQ(result.error().reason, "other_bins");
        return result.error().message;
    };
    EXPECT_THAT(refusal(mixed_data(301, 5), 64), testing::HasSubstr("301 rows"));
    EXPECT_THAT(refusal(data, 63), testing::HasSubstr("max_bins is 63"));
    auto renamed = data;
    auto features = data.schema.features();
    features[0].name = "other";
    renamed.schema = dataset::FeatureSchema::create(features).value();
    EXPECT_THAT(refusal(renamed, 64), testing::HasSubstr("5 other features"));
}

TEST(Bins, OfNothingOrInNumbersOutOfRangeAreRefused) {
    const auto data = mixed_data(50, 6);
    EXPECT_EQ(Bins::create(data.subset({}), 64, nullptr).error().reason, "no_rows");
    for (const int bad : {-1, 0, 1, 256}) EXPECT_FALSE(Bins::create(data, bad, nullptr)) << bad;
    for (const int good : {2, 255}) EXPECT_TRUE(Bins::create(data, good, nullptr)) << good;
    auto infinite = data;
    infinite.columns[0][7] = std::numeric_limits<float>::infinity();
    EXPECT_EQ(Bins::create(infinite, 64, nullptr).error().reason, "bad_feature_value");
}

}  // namespace
}  // namespace rampart::gbdt
