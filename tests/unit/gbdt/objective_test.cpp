#include "rampart/gbdt/objective.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rampart/gbdt/learner.hpp"
#include "toy_data.hpp"

namespace rampart::gbdt {
namespace {

using testing::ElementsAre;

/// Writes down in which order it is asked.
class Recorder : public Objective {
  public:
    std::string_view name() const override { return "recorder"; }
    double initial_score() const override { return 0.5; }
    void prepare(std::span<const double> scores) override {
        calls.push_back("gradients");
        seen.assign(scores.begin(), scores.end());
    }
    void gradients_of_rows(std::span<const double>, size_t, std::span<float> g,
                           std::span<float> h) const override {
        for (size_t i = 0; i < g.size(); ++i)
            g[i] = i % 2 == 0 ? 1.0f : -1.0f, h[i] = bad ? 0.0f : 1.0f;
    }
    void after_tree(int iteration, std::span<const double> scores) override {
        calls.push_back("after_tree " + std::to_string(iteration));
        seen.assign(scores.begin(), scores.end());
    }
    bool bad = false;
    std::vector<std::string> calls;
    std::vector<double> seen;
};

LearnerParams tiny() {
    LearnerParams params;
    params.trees = 2;
    params.learning_rate = 0.5;
    params.min_rows_in_leaf = 1;
    return params;
}

TEST(Objective, IsAskedForGradientsThenShownTheNewScores) {
    const auto data = numeric_data({{0, 1, 0, 1}}, {0, 1, 0, 1});
    Recorder recorder;
    const auto ensemble = train(data, recorder, tiny(), nullptr).value();
    EXPECT_THAT(recorder.calls,
                ElementsAre("gradients", "after_tree 0", "gradients", "after_tree 1"));
    EXPECT_EQ(ensemble.base_score, 0.5);
    // each tree moves a row by learning rate * -g / h = 0.5
    EXPECT_THAT(recorder.seen, ElementsAre(-0.5, 1.5, -0.5, 1.5));
}

TEST(Objective, AGradientWithoutCurvatureStopsTraining) {
    const auto data = numeric_data({{0, 1}}, {0, 1});
    Recorder recorder;
    recorder.bad = true;
    const auto ensemble = train(data, recorder, tiny(), nullptr);
    ASSERT_FALSE(ensemble);
    EXPECT_EQ(ensemble.error().reason, "bad_gradient");
    EXPECT_THAT(ensemble.error().message, testing::HasSubstr("'recorder', iteration 0, row 0"));
}

}  // namespace
}  // namespace rampart::gbdt
