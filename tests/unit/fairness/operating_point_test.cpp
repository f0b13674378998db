#include "rampart/fairness/operating_point.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "rampart/base/random.hpp"

namespace rampart::fairness {
namespace {

dataset::Dataset labelled(std::vector<uint8_t> labels, std::vector<float> weights = {}) {
    dataset::Dataset data;
    data.label = std::move(labels);
    data.weight = std::move(weights);
    return data;
}

double share(const dataset::Dataset& data, std::span<const double> scores, double threshold,
             Rate rate) {
    double part = 0, all = 0;
    for (size_t i = 0; i < scores.size(); ++i) {
        if (rate == Rate::kFalsePositive && data.label[i] == 1) continue;
        if (rate == Rate::kFalseNegative && data.label[i] == 0) continue;
        const auto w = static_cast<double>(data.weight_of(i));
        all += w;
        if ((scores[i] >= threshold) != (rate == Rate::kFalseNegative)) part += w;
    }
    return part / all;
}

TEST(OperatingPoint, AFixedThresholdIsItsLogOdds) {
    const auto data = labelled({0, 1});
    EXPECT_NEAR(threshold_of({.threshold = 0.75}, data, std::vector<double>{0, 0}), std::log(3.0),
                1e-12);
}

TEST(OperatingPoint, HandWorkedPoints) {
    const auto data = labelled({0, 0, 0, 0, 1, 1, 1, 1});
    const std::vector<double> scores{1, 2, 3, 4, 2.5, 3.5, 0.5, 5};
    const auto at = [&](Rate rate, double most) {
        return threshold_of({.meets = RateTarget{rate, most}}, data, scores);
    };
    // one of four label 0 may be approved: 3 stays out, what is above it comes in
    const double fpr = at(Rate::kFalsePositive, 0.25);
    EXPECT_GT(fpr, 3);
    EXPECT_LE(fpr, 3.5);
    EXPECT_EQ(at(Rate::kFalseNegative, 0.25), 2.25);  // 0.5 is declined, 2.5 is not
    const double approval = at(Rate::kApproval, 0.5);
    EXPECT_GT(approval, 2.5);
    EXPECT_LE(approval, 3);
    EXPECT_EQ(at(Rate::kFalsePositive, 0), 4.5);
    EXPECT_LT(at(Rate::kApproval, 1), 0.5);
}

TEST(OperatingPoint, TheBadRateIsThatOfThoseApproved) {
    const auto data = labelled({0, 0, 0, 0, 1, 1, 1, 1});
    const std::vector<double> scores{1, 2, 3, 4, 2.5, 3.5, 0.5, 5};
    const auto at = [&](double most) { return threshold_of({.bad_rate = most}, data, scores); };
    // from the top: 5 good, 4 bad, 3.5 good (1 of 3), 3 bad, 2.5 good (2 of 5), 2 bad, 1 bad, 0.5
    EXPECT_EQ(at(0), 4.5);
    EXPECT_EQ(at(0.34), 3.25);
    EXPECT_EQ(at(0.4), 2.25);
    EXPECT_LT(at(0.5), 0.5);  // all: 4 of 8, though half was bad among fewer as well
    EXPECT_GT(threshold_of({.bad_rate = 0.1}, labelled({0, 1}), std::vector<double>{2, 1}), 2);
    // equal scores are decided alike; a weight counts as rows
    EXPECT_EQ(threshold_of({.bad_rate = 0.3}, labelled({1, 1, 0}), std::vector<double>{2, 1, 1}),
              1.5);
    EXPECT_LT(threshold_of({.bad_rate = 0.3}, labelled({1, 1, 0}, {1, 2, 1}),
                           std::vector<double>{2, 1, 1}),
              1);
}

TEST(OperatingPoint, IsReadAndWritten) {
    for (const char* text :
         {"approve=0.7", "bad_rate<=0.03", "fpr<=0.05", "fnr<=0.1", "threshold=0.9"}) {
        const auto point = parse_operating_point(text);
        ASSERT_TRUE(point) << text;
        EXPECT_EQ(to_string(*point), text);
        EXPECT_EQ(point->moves(), std::string_view(text) != "threshold=0.9");
    }
    EXPECT_EQ(to_string(parse_operating_point(" approve <= 0.7 ").value()), "approve=0.7");
    EXPECT_EQ(to_string(parse_operating_point("statistical_parity<=0.7").value()), "approve=0.7");
    for (const char* text : {"", "=", "<=0.1", "approve", "approve=x", "approve=1.5",
                             "bad_rate=0.1", "bad_rate<=2", "threshold<=0.5", "threshold=1",
                             "error<=0.1", "fpr=0.1", "fpr<=0.1,fnr<=0.1", "auc<=0.1"})
        EXPECT_FALSE(parse_operating_point(text)) << text;
}

RC_GTEST_PROP(OperatingPoint, MeetsItsTargetAndCouldNotGoFurther, (uint64_t seed)) {
    base::Random random(seed);
    std::vector<uint8_t> labels{0, 1};
    std::vector<float> weights{1, 1};
    std::vector<double> scores{0, 0};
    for (size_t i = 0; i < random.below(40); ++i) {
        labels.push_back(static_cast<uint8_t>(random.below(2)));
        weights.push_back(static_cast<float>(1 + random.below(3)));
        scores.push_back(static_cast<double>(random.below(8)));
    }
    const auto data = labelled(labels, random.bernoulli(0.5) ? weights : std::vector<float>{});
    const double most = random.uniform();
    for (const Rate rate : {Rate::kFalsePositive, Rate::kFalseNegative, Rate::kApproval}) {
        const double threshold = threshold_of({.meets = RateTarget{rate, most}}, data, scores);
        RC_ASSERT(share(data, scores, threshold, rate) <= most + 1e-9);
        // the next score on the other side of the threshold would be too much
        const bool up = rate == Rate::kFalseNegative;
        double next = up ? INFINITY : -INFINITY;
        for (size_t i = 0; i < scores.size(); ++i) {
            const bool counts =
                rate == Rate::kApproval || data.label[i] == (rate == Rate::kFalseNegative ? 1 : 0);
            if (!counts) continue;
            if (up && scores[i] >= threshold) next = std::min(next, scores[i]);
            if (!up && scores[i] < threshold) next = std::max(next, scores[i]);
        }
        if (std::isinf(next)) continue;
        const double further = up ? std::nextafter(next, INFINITY) : next;
        RC_ASSERT(share(data, scores, further, rate) > most);
    }
}

TEST(OperatingPoint, EqualScoresAreDecidedAlike) {
    const auto data = labelled({0, 0, 0, 1});
    const std::vector<double> scores{1, 1, 1, 2};
    const double threshold =
        threshold_of({.meets = RateTarget{Rate::kFalsePositive, 0.5}}, data, scores);
    EXPECT_GT(threshold, 1);
    EXPECT_LE(threshold, 2);
}

TEST(OperatingPoint, RangesAreChecked) {
    const auto reason = [](const OperatingPoint& point) {
        const auto status = validate(point);
        return status ? std::string("none") : status.error().reason;
    };
    EXPECT_EQ(reason({}), "none");
    EXPECT_EQ(reason({.threshold = 0}), "bad_threshold");
    EXPECT_EQ(reason({.threshold = 1}), "bad_threshold");
    EXPECT_EQ(reason({.threshold = std::nan("")}), "bad_threshold");
    EXPECT_EQ(reason({.meets = RateTarget{Rate::kError, 0.1}}), "bad_operating_point");
    EXPECT_EQ(reason({.meets = RateTarget{Rate::kApproval, 2}}), "bad_target");
}

}  // namespace
}  // namespace rampart::fairness
