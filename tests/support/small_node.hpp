#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

namespace rampart::support {

/// Joiner, registry and training set builder over a log in memory, in a folder of their own.
class SmallNode {
  public:
    explicit SmallNode(domain::Product of = two_measure_product()) : product(std::move(of)) {
        static int counter = 0;
        folder_ = std::filesystem::path(testing::TempDir()) /
                  fmt::format("small_node_{}_{}", ::getpid(), counter++);
        std::filesystem::remove_all(folder_);
        log.create("decisions", 1);
        log.create("outcomes", 1);
        auto catalog =
            protected_attributes::AttributeCatalog::create({{"sex", {"female", "male"}}}, true);
        attributes =
            protected_attributes::ProtectedStore::open(folder_ / "attributes", *catalog).value();
        joiner = joiner::OutcomeJoiner::open(folder_ / "joins", {.product = product}, log).value();
        builder = std::make_unique<training_set::TrainingSetBuilder>(
            training_set::TrainingSetBuilder::create(*joiner, product, schema(), *attributes,
                                                     "a salt of sixteen bytes or more")
                .value());
        registry = registry::ModelRegistry::open(folder_ / "models").value();
    }
    ~SmallNode() {
        registry.reset();
        joiner.reset();
        attributes.reset();
        std::filesystem::remove_all(folder_);
    }
    SmallNode(const SmallNode&) = delete;
    SmallNode& operator=(const SmallNode&) = delete;

    static dataset::FeatureSchema schema() {
        return dataset::FeatureSchema::create({{"income", dataset::FeatureKind::kNumeric, {}}})
            .value();
    }
    /// Makes a bootstrap policy the champion.
    domain::PolicyId bootstrap(base::TimePoint at) {
        const model::BootstrapLink link{"income", {{0, 0.3}, {10, 0.8}}, 0.5};
        const auto policy = model::Policy::create(schema(), {link}, {}, {}).value();
        const auto id =
            registry->register_model(model::encode_model_file(policy), at, "test").value();
        EXPECT_TRUE(registry->bootstrap_champion(id, at, "test"));
        return id;
    }
    const std::filesystem::path& folder() const { return folder_; }

    domain::Product product;
    MemoryLog log;
    std::unique_ptr<protected_attributes::ProtectedStore> attributes;
    std::unique_ptr<joiner::OutcomeJoiner> joiner;
    std::unique_ptr<training_set::TrainingSetBuilder> builder;
    std::unique_ptr<registry::ModelRegistry> registry;

  private:
    std::filesystem::path folder_;
};

}  // namespace rampart::support
