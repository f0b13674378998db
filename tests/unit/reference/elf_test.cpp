#include "reference/elf.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "elf_sample.hpp"
#include "rampart/stats/distributions.hpp"

namespace rampart::reference {
namespace {

ElfOptions options_of(bool paper, stats::BoundMethod bound, uint64_t seed = 1) {
    ElfOptions options;
    options.paper_compat = paper;
    options.bound = bound;
    options.search.max_evaluations = 150;
    options.search.scale = 0.5;
    options.search.seed = seed;
    return options;
}

/// rampart mode steps from beta; the paper's policies are plain logistic ones.
LogisticPolicy policy_of(const Drawn& drawn, bool paper) {
    return LogisticPolicy::create(drawn.columns, paper
                                                     ? std::vector<double>{}
                                                     : logits(drawn.sample.log.decisions.reference))
        .value();
}

ElfResult run(const Drawn& drawn, const ElfOptions& options) {
    const auto result = run_elf(drawn.sample, policy_of(drawn, options.paper_compat), options);
    EXPECT_TRUE(result) << result.error().message;
    return result.value_or(ElfResult{});
}

TEST(Elf, TheSplitIsStratifiedAndTheSameForASeed) {
    const auto drawn = draw(1000, 0.5, 1);
    const auto& groups = drawn.sample.log.decisions.groups;
    for (const auto& group : groups) {
        size_t held = 0;
        for (const uint32_t i : group.records) held += drawn.sample.tested[i];
        EXPECT_NEAR(static_cast<double>(held), 0.4 * static_cast<double>(group.records.size()),
                    0.5);
    }
    EXPECT_EQ(stratified_split(groups, 1000, 0.4, 1), drawn.sample.tested);
    EXPECT_NE(stratified_split(groups, 1000, 0.4, 2), drawn.sample.tested);
}

TEST(Elf, PaperCompatTestsAsAlgorithmThreeDoesButOnTheHeldOutPart) {
    const auto drawn = draw(2000, 0.8, 4);
    const auto options = options_of(true, stats::BoundMethod::kStudentT);
    const auto result = run(drawn, options);
    const auto policy = policy_of(drawn, true);
    std::vector<double> pi(2000);
    policy.approve(result.candidate, pi);
    const auto& d = drawn.sample.log.decisions;
    bool all = true;
    for (size_t g = 0; g < 2; ++g) {
        double tau = 0;
        std::vector<double> values;
        for (const uint32_t i : d.groups[g].records) tau += drawn.sample.log.impact[i];
        tau /= static_cast<double>(d.groups[g].records.size());
        for (const uint32_t i : d.groups[g].records) {
            if (!drawn.sample.tested[i]) continue;
            const double w =
                d.approved[i] ? pi[i] / d.p_approve[i] : (1 - pi[i]) / (1 - d.p_approve[i]);
            values.push_back(tau - w * drawn.sample.log.impact[i]);
        }
        const auto m = stats::moments(values);
        const auto n = static_cast<double>(m.n);
        const double upper =
            m.mean + std::sqrt(m.variance / n) * stats::student_t_quantile(0.9, n - 1);
        EXPECT_EQ(result.tests[g].records, m.n);
        EXPECT_NEAR(result.tests[g].upper, upper, 1e-9);
        EXPECT_EQ(result.tests[g].passed, upper <= 0);
        all = all && upper <= 0;
    }
    EXPECT_EQ(result.theta.has_value(), all);
}

TEST(Elf, TheSameSeedGivesTheSameSolution) {
    const auto drawn = draw(800, 0.8, 5);
    for (const bool paper : {false, true}) {
        const auto bound = paper ? stats::BoundMethod::kStudentT : stats::BoundMethod::kBetting;
        const auto a = run(drawn, options_of(paper, bound, 9)),
                   b = run(drawn, options_of(paper, bound, 9));
        EXPECT_EQ(a.candidate, b.candidate);
        EXPECT_EQ(a.theta, b.theta);
        EXPECT_NE(a.candidate, run(drawn, options_of(paper, bound, 10)).candidate);
    }
}

/// Share of `repetitions` samples with a solution; and whether all groups gain by it.
double solution_rate(size_t n, double alpha, const ElfOptions& base, int repetitions) {
    int solved = 0;
    for (int r = 0; r < repetitions; ++r) {
        ElfOptions options = base;
        options.search.seed = static_cast<uint64_t>(r);
        solved += run(draw(n, alpha, 1000 + static_cast<uint64_t>(r)), options).theta.has_value();
    }
    return static_cast<double>(solved) / repetitions;
}

TEST(Elf, WhereNoPolicyChangesAnythingSolutionsAreAsRareAsDeltaSays) {
    constexpr int kRepetitions = 200;
    const double limit = 0.1 + 4 * std::sqrt(0.1 * 0.9 / kRepetitions);
    for (const auto bound : {stats::BoundMethod::kStudentT, stats::BoundMethod::kBetting}) {
        EXPECT_LE(solution_rate(400, 0, options_of(false, bound), kRepetitions), limit);
    }
    EXPECT_LE(solution_rate(400, 0, options_of(true, stats::BoundMethod::kStudentT), kRepetitions),
              limit);
}

TEST(Elf, WithoutASplitSelectionLeaksIntoTheTest) {
    // the wrong gate: the same records to choose from and to test on
    constexpr int kRepetitions = 60;
    int solved = 0;
    for (int r = 0; r < kRepetitions; ++r) {
        auto drawn = draw(400, 0, 2000 + static_cast<uint64_t>(r));
        auto doubled = drawn;
        const auto n = static_cast<uint32_t>(drawn.sample.label.size());
        auto& d = doubled.sample.log.decisions;
        const auto append = [](auto& column) {
            const auto copy = column;
            column.insert(column.end(), copy.begin(), copy.end());
        };
        append(d.record_id), append(d.p_approve), append(d.reference), append(d.approved),
            append(d.has_impact);
        append(doubled.sample.log.impact), append(doubled.sample.label);
        for (auto& column : doubled.columns) append(column);
        for (auto& group : d.groups) {
            const auto records = group.records;
            for (const uint32_t i : records) group.records.push_back(i + n);
        }
        doubled.sample.tested.assign(2 * n, 0);
        std::fill(doubled.sample.tested.begin() + n, doubled.sample.tested.end(), uint8_t{1});
        solved +=
            run(doubled, options_of(false, stats::BoundMethod::kStudentT, static_cast<uint64_t>(r)))
                .theta.has_value();
    }
    EXPECT_GT(solved, kRepetitions * 3 / 10);
}

TEST(Elf, OursFindsSolutionsWhereThePaperNeedsMoreData) {
    const double ours =
        solution_rate(500, 0.8, options_of(false, stats::BoundMethod::kBetting), 40);
    const double paper =
        solution_rate(500, 0.8, options_of(true, stats::BoundMethod::kStudentT), 40);
    EXPECT_GE(ours, 0.85);
    EXPECT_LE(paper, ours - 0.3);
}

TEST(Elf, AnAccuracyFloorThatCannotBeReachedMeansNoSolution) {
    const auto drawn = draw(4000, 0.9, 6);
    auto options = options_of(true, stats::BoundMethod::kStudentT);
    options.search.max_evaluations = 600;
    options.accuracy_floor = 0.3;
    const auto low = run(drawn, options);
    EXPECT_EQ(low.tests.size(), 3u);
    EXPECT_TRUE(low.tests[2].passed);
    options.accuracy_floor = 0.999;
    const auto high = run(drawn, options);
    EXPECT_FALSE(high.tests[2].passed);
    EXPECT_FALSE(high.theta);
}

/// A family that knows no probability.
class Nonsense final : public ParametricPolicy {
  public:
    explicit Nonsense(size_t rows) : rows_(rows) {}
    size_t dimension() const override { return 1; }
    size_t rows() const override { return rows_; }
    void approve(std::span<const double>, std::span<double> out) const override {
        std::fill(out.begin(), out.end(), std::nan(""));
    }
    std::unique_ptr<ParametricPolicy> on(std::span<const uint32_t> rows) const override {
        return std::make_unique<Nonsense>(rows.size());
    }

  private:
    size_t rows_;
};

TEST(Elf, APolicyWithoutNumbersIsNoSolution) {
    const auto drawn = draw(400, 0.9, 7);
    for (const bool paper : {false, true}) {
        const auto result =
            run_elf(drawn.sample, Nonsense(400), options_of(paper, stats::BoundMethod::kStudentT));
        ASSERT_TRUE(result);
        EXPECT_FALSE(result->theta);
    }
}

TEST(Elf, TheSearchMaySeeAPartOfTheSelectionRowsOnly) {
    const auto drawn = draw(2000, 0.9, 8);
    auto options = options_of(false, stats::BoundMethod::kBetting);
    options.max_selection_rows = 300;
    const auto result = run(drawn, options);
    EXPECT_NE(result.candidate,
              run(drawn, options_of(false, stats::BoundMethod::kBetting)).candidate);
    size_t tested = 0;
    for (const auto& test : result.tests) tested += test.records;
    EXPECT_EQ(tested, static_cast<size_t>(
                          std::count(drawn.sample.tested.begin(), drawn.sample.tested.end(), 1)));
}

TEST(Elf, ASearchThatSawAPartCanBeRefinedOnAllOfTheSelectionRows) {
    const auto drawn = draw(2000, 0.9, 8);
    auto options = options_of(false, stats::BoundMethod::kBetting);
    options.max_selection_rows = 300;
    const auto coarse = run(drawn, options);
    options.refine_evaluations = 60;
    const auto fine = run(drawn, options);
    EXPECT_GT(fine.evaluations, coarse.evaluations);
    EXPECT_LE(fine.evaluations, coarse.evaluations + 60);
    // the last objective is the one of all rows, and the search never ends worse than it began
    ElfOptions whole = options_of(false, stats::BoundMethod::kBetting);
    whole.starts = {coarse.candidate};
    whole.search.max_evaluations = 1;
    EXPECT_LE(fine.predicted.cost, run(drawn, whole).predicted.cost);
}

TEST(Elf, TheBoundByTStandsBesideEveryOther) {
    const auto drawn = draw(1000, 0.5, 9);
    const auto betting = run(drawn, options_of(false, stats::BoundMethod::kBetting));
    auto same = options_of(false, stats::BoundMethod::kStudentT);
    same.starts = {betting.candidate};
    same.search.max_evaluations = 1;
    const auto by_t = run(drawn, same);
    for (size_t g = 0; g < 2; ++g) {
        EXPECT_EQ(by_t.tests[g].upper, by_t.tests[g].upper_t);
        EXPECT_NEAR(betting.tests[g].upper_t, by_t.tests[g].upper, 1e-12);
    }
}

TEST(Elf, RefusesSamplesThatAreNotWhole) {
    const auto refused = [](auto change) {
        auto drawn = draw(200, 0.5, 1);
        auto options = options_of(false, stats::BoundMethod::kBetting);
        const auto policy = policy_of(drawn, false);
        change(drawn.sample, options);
        const auto result = run_elf(drawn.sample, policy, options);
        return !result && result.error().reason == "bad_elf";
    };
    EXPECT_FALSE(refused([](auto&, auto&) {}));
    EXPECT_TRUE(refused([](auto& s, auto&) { s.label.pop_back(); }));
    EXPECT_TRUE(refused([](auto& s, auto&) { s.log.impact[3] = std::nan(""); }));
    EXPECT_TRUE(refused(
        [](auto& s, auto&) { s.log.decisions.p_approve[3] = s.log.decisions.reference[3] = 1; }));
    EXPECT_TRUE(refused([](auto& s, auto&) { s.log.decisions.reference[3] = 0.5; }));
    EXPECT_TRUE(refused([](auto& s, auto&) { s.log.decisions.groups[1].records = {1}; }));
    EXPECT_TRUE(
        refused([](auto& s, auto&) { std::fill(s.tested.begin(), s.tested.end(), uint8_t{1}); }));
    EXPECT_TRUE(refused([](auto&, auto& o) { o.kappa = 0; }));
    EXPECT_TRUE(refused([](auto&, auto& o) { o.paper_compat = true; }));
    EXPECT_TRUE(refused([](auto&, auto& o) { o.accuracy_floor = 0.5; }));
    EXPECT_TRUE(refused([](auto&, auto& o) { o.starts = {{1}}; }));
}

}  // namespace
}  // namespace rampart::reference
