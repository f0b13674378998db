// Who is declined applies again. The importance weights of the first record of each person and
// window are exact; those of every application, or of the last one, are not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "rampart/base/random.hpp"
#include "rampart/decision/draw.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::test {
namespace {

using base::Duration;
using base::TimePoint;
using training_set::Row;

constexpr int kWorlds = 4000, kPersons = 50, kCoolOffDays = 30, kTrials = 4;
constexpr double kBet = 0.2;

enum class Draws { kByWindow, kById };

/// Persons who apply, and apply again one to 25 days after each decline: within the window, or in
/// the next. What the lender knows of them changes from time to time, and so does P(approve).
std::vector<Row> world(const decision::DrawKey& key, Draws draws, base::Random& random) {
    std::vector<Row> rows;
    for (int person = 0; person < kPersons; ++person) {
        auto now = TimePoint::from_micros(0) + Duration::hours(random.uniform(0, 24 * 365));
        for (int trial = 0; trial < kTrials; ++trial) {
            Row row;
            row.person = domain::PersonId(fmt::format("p{}", person));
            row.decision = domain::DecisionId(fmt::format("d{}-{}", person, trial));
            row.decided_at = now;
            row.p_approve = random.uniform(0.3, 0.7);
            double u = decision::draw_by_id(key, row.decision);
            if (draws == Draws::kByWindow) {
                row.window = decision::draw_window(key, row.person, {"loan", kCoolOffDays}, now);
                u = decision::window_draw(key, row.person, *row.window);
            }
            row.approved = u < row.p_approve;
            rows.push_back(row);
            if (row.approved) break;
            now = now + Duration::hours(24 + static_cast<int64_t>(random.uniform(0, 24 * 24)));
        }
    }
    training_set::number_records(rows);
    return rows;
}

/// Candidate's over logged probability of the action. The candidate approves less: a policy that
/// declines more looks likely where declines are counted again and again.
double weight_of(const Row& row) {
    const double candidate = row.p_approve - 0.5 * std::min(row.p_approve, 1 - row.p_approve);
    return row.approved ? candidate / row.p_approve : (1 - candidate) / (1 - row.p_approve);
}

/// Mean over worlds, and its standard error.
struct Mean {
    double sum = 0, squares = 0;
    int n = 0;
    void add(double x) {
        sum += x;
        squares += x * x;
        ++n;
    }
    double value() const { return sum / n; }
    double error() const { return std::sqrt((squares / n - value() * value()) / n); }
    double z() const { return (value() - 1) / error(); }
};

struct Figures {
    Mean weight;  // 1 + the sum of w - 1 over a world's evidence, divided by its persons
    Mean wealth;  // won by betting that the candidate does more of what was done
    double records = 0, repeats = 0;  // per world
};

/// `is_evidence(rows, i)`: whether a row counts.
template <class Counts>
Figures figures_of(const char* name, Draws draws, const Counts& is_evidence) {
    Figures out;
    base::Random random(base::mix64(17));
    for (int w = 0; w < kWorlds; ++w) {
        const decision::DrawKey key{"k", fmt::format("secret of world {}", w)};
        const auto rows = world(key, draws, random);
        double deviation = 0, wealth = 1;
        for (size_t i = 0; i < rows.size(); ++i) {
            out.repeats += rows[i].repeat ? 1.0 / kWorlds : 0;
            if (!is_evidence(rows, i)) continue;
            const double w_minus_1 = weight_of(rows[i]) - 1;
            deviation += w_minus_1;
            wealth *= 1 + kBet * w_minus_1;
            out.records += 1.0 / kWorlds;
        }
        out.weight.add(1 + deviation / kPersons);  // a fixed divisor: a martingale's end
        out.wealth.add(wealth);
    }
    std::printf("    %-42s weight %.4f (z %6.1f)  wealth %.4f (z %6.1f)  %.1f records\n", name,
                out.weight.value(), out.weight.z(), out.wealth.value(), out.wealth.z(),
                out.records);
    return out;
}

void expect_exact(const Figures& figures) {
    EXPECT_LT(std::abs(figures.weight.z()), 4);
    EXPECT_LT(std::abs(figures.wealth.z()), 4);
    EXPECT_LT(figures.weight.error(), 0.003) << "the test could not see an error";
    EXPECT_LT(figures.wealth.error(), 0.05);
}

void expect_wrong(const Figures& figures) {
    EXPECT_GT(std::abs(figures.weight.z()), 10);
    EXPECT_GT(std::abs(figures.wealth.z()), 10);
}

TEST(Draws, TheFirstRecordOfAPersonAndAWindowHasAnExactPropensity) {
    const auto figures =
        figures_of("first of person and window", Draws::kByWindow,
                   [](const std::vector<Row>& rows, size_t i) { return !rows[i].repeat; });
    expect_exact(figures);
    EXPECT_GT(figures.repeats, kPersons / 5) << "few apply again in the window";
    EXPECT_GT(figures.records, kPersons * 1.2) << "few apply again in the next window";
}

TEST(Draws, TheFirstRecordOfAPersonHasOneToo) {
    expect_exact(
        figures_of("first of person", Draws::kByWindow, [](const std::vector<Row>& rows, size_t i) {
            return !rows[i].repeat && rows[i].ordinal == 0;
        }));
}

TEST(Draws, RepeatsAreNoDrawsOfTheirOwn) {
    const auto figures = figures_of("WRONG: every application", Draws::kByWindow,
                                    [](const std::vector<Row>&, size_t) { return true; });
    expect_wrong(figures);
    EXPECT_GT(figures.wealth.value(), 2) << "false evidence, not only noise";
}

TEST(Draws, TheLastRecordOfAWindowIsSelectedByTheDraw) {
    expect_wrong(figures_of("WRONG: last of person and window", Draws::kByWindow,
                            [](const std::vector<Row>& rows, size_t i) {
                                return i + 1 == rows.size() || !rows[i + 1].repeat;
                            }));
}

TEST(Draws, RecordsFromBeforeThereWereWindowsWereDrawsOfTheirOwn) {
    const auto figures =
        figures_of("every application, drawn by its id", Draws::kById,
                   [](const std::vector<Row>& rows, size_t i) { return !rows[i].repeat; });
    expect_exact(figures);
    EXPECT_EQ(figures.repeats, 0);
}

}  // namespace
}  // namespace rampart::test
