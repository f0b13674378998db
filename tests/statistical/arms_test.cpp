// Split, draw and arm of a person are independent: pairs of the three fill a square evenly, for
// many keys and over many persons. An arm from the key and fields of the draw does not.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/decision/arm.hpp"
#include "rampart/decision/draw.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::test {
namespace {

constexpr int kPersons = 100'000, kKeys = 20, kFewKeys = 3;
constexpr size_t kCells = 8;  // for each side of the square
constexpr size_t kSplitCells = 2;

/// What a person has: the side of the split, the draw of a window, and the draw of an arm.
struct Person {
    bool vault = false;
    double draw = 0, arm = 0;
};
using Arms = std::function<double(int key, const domain::PersonId&, const domain::DrawWindow&)>;

std::vector<Person> persons(int key, const Arms& arm) {
    const std::string salt = fmt::format("a salt of many bytes {}", key);
    const decision::DrawKey draw_key{"draw", fmt::format("draw secret {}", key)};
    const domain::DrawWindow window{"loan", 30, 700 + key};
    std::vector<Person> out;
    out.reserve(kPersons);
    for (int i = 0; i < kPersons; ++i) {
        const domain::PersonId person(fmt::format("p{}", i));
        out.push_back({training_set::in_vault(salt, person),
                       decision::window_draw(draw_key, person, window), arm(key, person, window)});
    }
    return out;
}

size_t cell(double u) { return static_cast<size_t>(u * kCells); }

/// Chi-square of a table against independence with the margins that are given, as a z-score.
double z_of(const std::vector<std::vector<double>>& share, const std::vector<size_t>& counts) {
    double chi_square = 0;
    size_t at = 0;
    for (const auto& row : share) {
        for (const double p : row) {
            const double expected = p * kPersons;
            const double off = static_cast<double>(counts[at++]) - expected;
            chi_square += off * off / expected;
        }
    }
    const double freedom = static_cast<double>(counts.size()) - 1;
    return (chi_square - freedom) / std::sqrt(2 * freedom);
}

/// Largest z-score of the pairs of split, draw and arm over all keys.
struct Dependence {
    double split_draw = 0, split_arm = 0, draw_arm = 0;
    double largest() const { return std::max({split_draw, split_arm, draw_arm}); }
};

Dependence dependence(const char* name, int keys, const Arms& arm) {
    const std::vector<std::vector<double>> square(
        kCells, std::vector<double>(kCells, 1.0 / (kCells * kCells)));
    const std::vector<std::vector<double>> by_side{
        std::vector<double>(kCells, (1 - training_set::kVaultShare) / kCells),
        std::vector<double>(kCells, training_set::kVaultShare / kCells)};
    Dependence worst;
    for (int key = 0; key < keys; ++key) {
        std::vector<size_t> split_draw(kSplitCells * kCells), split_arm(kSplitCells * kCells),
            draw_arm(kCells * kCells);
        for (const auto& person : persons(key, arm)) {
            const size_t side = person.vault ? kCells : 0;
            ++split_draw[side + cell(person.draw)];
            ++split_arm[side + cell(person.arm)];
            ++draw_arm[cell(person.draw) * kCells + cell(person.arm)];
        }
        worst.split_draw = std::max(worst.split_draw, z_of(by_side, split_draw));
        worst.split_arm = std::max(worst.split_arm, z_of(by_side, split_arm));
        worst.draw_arm = std::max(worst.draw_arm, z_of(square, draw_arm));
    }
    std::printf("    %-40s largest z: split and draw %.2f, split and arm %.2f, draw and arm %.2f\n",
                name, worst.split_draw, worst.split_arm, worst.draw_arm);
    return worst;
}

TEST(Arms, SplitDrawAndArmAreIndependent) {
    const auto found = dependence(
        "a key of its own", kKeys, [](int key, const domain::PersonId& person, const auto&) {
            const decision::ArmKey arm_key{"arm", fmt::format("arm secret {}", key)};
            return decision::arm_draw(arm_key, person, "challenge");
        });
    EXPECT_LT(found.largest(), 5);
}

TEST(Arms, TheSameSecretForAllThreeLeavesThemIndependentToo) {
    // the names in front of the fields keep the three apart, should keys ever be confused
    const auto found =
        dependence("the draw's secret, the arm's fields", kFewKeys,
                   [](int key, const domain::PersonId& person, const auto&) {
                       const decision::ArmKey arm_key{"arm", fmt::format("draw secret {}", key)};
                       return decision::arm_draw(arm_key, person, "challenge");
                   });
    EXPECT_LT(found.largest(), 5);
}

TEST(Arms, AnArmByTheKeyAndFieldsOfTheDrawIsTheDraw) {
    const auto found =
        dependence("WRONG: key and fields of the draw", kFewKeys,
                   [](int key, const domain::PersonId& person, const domain::DrawWindow& window) {
                       return decision::window_draw({"draw", fmt::format("draw secret {}", key)},
                                                    person, window);
                   });
    EXPECT_GT(found.draw_arm, 1000);
}

TEST(Arms, AnArmByTheSaltOfTheSplitIsTheSplit) {
    const auto found = dependence(
        "WRONG: salt and field of the split", kFewKeys,
        [](int key, const domain::PersonId& person, const domain::DrawWindow&) {
            return base::keyed_uniform(fmt::format("a salt of many bytes {}", key), person.value());
        });
    EXPECT_GT(found.split_arm, 1000);
}

}  // namespace
}  // namespace rampart::test
