#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rampart/training_set/training_set_builder.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::training_set {

namespace fs = std::filesystem;
using protected_attributes::AttributeCatalog;
using protected_attributes::ProtectedAttributes;
using protected_attributes::ProtectedStore;
using support::day;

inline const std::string kSalt = "a salt of sixteen bytes or more";
inline constexpr int64_t kLabelDay = 41, kScoreDay = 59;  // maturities of decisions on day 0

inline fs::path fresh_folder() {
    static int counter = 0;
    const auto name = fmt::format("training_set_{}_{}", ::getpid(), counter++);
    const fs::path path = fs::path(testing::TempDir()) / name;
    fs::remove_all(path);
    return path;
}

inline dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create(
               {{"income", dataset::FeatureKind::kNumeric, {}},
                {"job", dataset::FeatureKind::kCategorical, {"nurse", "cook"}}})
        .value();
}

/// The first names after `start` whose persons stand on the side wanted.
inline std::vector<std::string> names_on(bool vault, size_t count) {
    std::vector<std::string> names;
    for (int i = 0; names.size() < count; ++i) {
        const auto name = fmt::format("{}", i);
        if (in_vault(kSalt, domain::PersonId("p-" + name)) == vault) names.push_back(name);
    }
    return names;
}

class TrainingSetTest : public testing::Test {
  protected:
    TrainingSetTest() : product(support::two_measure_product()) {
        log.create("decisions", 1);
        log.create("outcomes", 1);
        auto catalog = AttributeCatalog::create(
            {{"sex", {"female", "male"}}, {"age", {"young", "old"}}}, true);
        store = std::move(*ProtectedStore::open(fresh_folder(), *catalog));
    }
    void open() {
        joiner = std::move(*joiner::OutcomeJoiner::open(fresh_folder(), {.product = product}, log));
    }
    TrainingSetBuilder builder(LateAttributes late = LateAttributes::kMissing) {
        if (!joiner) open();
        while (joiner->poll(100)->records > 0) continue;
        return TrainingSetBuilder::create(*joiner, product, schema(), *store, kSalt, late).value();
    }
    void decide(const std::string& name, bool approved = true, double p_approve = 0.25,
                std::vector<domain::Feature> features = {{"income", 10.0},
                                                         {"job", std::string("cook")}}) {
        auto decision = support::make_decision(name, day(0), approved);
        decision.application.features = std::move(features);
        decision.p_approve = decision.p_exploit = p_approve;
        decision.draw = approved ? p_approve / 2 : (1 + p_approve) / 2;
        decision.propensity = approved ? p_approve : 1 - p_approve;
        const auto record = support::to_record(decision);
        ASSERT_TRUE(log.append("decisions", std::span(&record, 1)));
    }
    /// Logs an application of the person; windows begin at day 0.
    void apply(const std::string& name, const domain::PersonId& person, int64_t decided,
               int64_t event, std::optional<int> cool_off_days = 30) {
        auto decision = support::make_decision(name, day(event));
        decision.application.person = person;
        decision.application.features = {{"income", 10.0}, {"job", std::string("cook")}};
        decision.decided_at = day(decided);
        if (cool_off_days) {
            decision.draw_window = {"loan", *cool_off_days,
                                    domain::window_number(decision.decided_at, *cool_off_days, {})};
        }
        const auto record = support::to_record(decision);
        ASSERT_TRUE(log.append("decisions", std::span(&record, 1)));
    }
    void report(const std::string& name, double value, std::string measure = "repaid",
                uint32_t revision = 0, int64_t when = 30) {
        const auto outcome =
            support::make_outcome(name, std::move(measure), revision, value, day(when));
        const auto record = support::to_record(outcome);
        ASSERT_TRUE(log.append("outcomes", std::span(&record, 1)));
    }
    void know(const std::string& name, std::map<std::string, std::string> attributes,
              base::TimePoint at = day(0)) {
        const ProtectedAttributes person{domain::PersonId("p-" + name), at, std::move(attributes)};
        ASSERT_TRUE(store->put(std::span(&person, 1), at));
    }

    domain::Product product;
    support::MemoryLog log;
    std::unique_ptr<ProtectedStore> store;
    std::unique_ptr<joiner::OutcomeJoiner> joiner;
};

}  // namespace rampart::training_set
