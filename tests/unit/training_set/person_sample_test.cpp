#include "rampart/training_set/person_sample.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training_set {
namespace {

using Persons = std::set<int>;
const std::string kSalt = "a salt of sixteen bytes or more";

domain::PersonId person(int i) { return domain::PersonId(fmt::format("p-{}", i)); }

PersonSample taken(const std::vector<int>& rows, size_t max_rows, uint64_t seed) {
    PersonSample sample(PersonSample::key_of(kSalt, seed), max_rows);
    for (const int i : rows) sample.add(sample.place_of(person(i)));
    return sample;
}

Persons held(const PersonSample& sample, const std::vector<int>& rows) {
    Persons in;
    for (const int i : rows)
        if (sample.holds(sample.place_of(person(i)))) in.insert(i);
    return in;
}

/// Returns the persons of the lowest places who fit with all of their rows, found by sorting.
Persons lowest(std::vector<int> rows, size_t max_rows, uint64_t seed) {
    const PersonSample keyed(PersonSample::key_of(kSalt, seed), 0);
    std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) {
        return keyed.place_of(person(a)) < keyed.place_of(person(b));
    });
    Persons in;
    for (size_t end = 0; end < rows.size();) {
        const int who = rows[end];
        end += static_cast<size_t>(std::count(rows.begin(), rows.end(), who));
        if (end > max_rows) break;
        in.insert(who);
    }
    return in;
}

RC_GTEST_PROP(PersonSample, HasWholePersonsAsManyAsFitInWhateverOrderTheirRowsCome,
              (std::vector<uint8_t> drawn, uint8_t max_rows, uint64_t seed)) {
    std::vector<int> rows(drawn.begin(), drawn.end());
    for (int& i : rows) i %= 40;  // several rows a person
    const auto sample = taken(rows, max_rows, seed);
    RC_ASSERT(held(sample, rows) == lowest(rows, max_rows, seed));
    RC_ASSERT(sample.rows_there() == rows.size());
    RC_ASSERT(sample.rows() <= max_rows);
    const Persons in = held(sample, rows);
    RC_ASSERT(sample.rows() ==
              static_cast<size_t>(
                  std::count_if(rows.begin(), rows.end(), [&](int i) { return in.contains(i); })));
    auto reversed = rows;
    std::reverse(reversed.begin(), reversed.end());
    RC_ASSERT(held(taken(reversed, max_rows, seed), rows) == in);
    auto more = rows;
    more.push_back(40);
    more.push_back(rows.empty() ? 41 : rows.front());
    auto later = held(taken(more, max_rows, seed), rows);
    RC_ASSERT(std::includes(in.begin(), in.end(), later.begin(), later.end()));
}

TEST(PersonSample, WithFewerRowsThanPersonsHasSomeAndWithNoneIsEmpty) {
    std::vector<int> rows(1000);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i);
    EXPECT_EQ(held(taken(rows, 10, 1), rows).size(), 10u);
    EXPECT_TRUE(held(taken(rows, 0, 1), rows).empty());
    EXPECT_EQ(held(taken(rows, 1000, 1), rows).size(), 1000u);
    EXPECT_TRUE(held(taken({7, 7, 7}, 2, 1), {7}).empty()) << "a person is never cut";
}

TEST(PersonSample, IsTheSameForASeedAndAnotherForAnother) {
    std::vector<int> rows(1000);
    for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i);
    const auto one = held(taken(rows, 500, 1), rows);
    EXPECT_EQ(one, held(taken(rows, 500, 1), rows));
    const auto other = held(taken(rows, 500, 2), rows);
    Persons both;
    std::set_intersection(one.begin(), one.end(), other.begin(), other.end(),
                          std::inserter(both, both.end()));
    EXPECT_NEAR(static_cast<double>(both.size()), 250, 60);
    EXPECT_NE(PersonSample::key_of(kSalt, 1), PersonSample::key_of(kSalt + "x", 1));
}

/// A sample by the hash of the split itself would have no person of the vault below 0.6.
TEST(PersonSample, IsIndependentOfTheSplit) {
    constexpr int kAll = 20'000;
    const PersonSample keyed(PersonSample::key_of(kSalt, 3), 0);
    size_t low = 0, low_of_vault = 0, vault = 0;
    for (int i = 0; i < kAll; ++i) {
        const bool is_low = keyed.place_of(person(i)) < 0.25, held_out = in_vault(kSalt, person(i));
        low += is_low ? 1 : 0;
        vault += held_out ? 1 : 0;
        low_of_vault += is_low && held_out ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(low) / kAll, 0.25, 0.013);
    EXPECT_NEAR(static_cast<double>(low_of_vault) / static_cast<double>(vault), 0.25, 0.02);
}

}  // namespace
}  // namespace rampart::training_set
