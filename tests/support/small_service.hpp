#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "rampart/base/digest.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/serving/decision_service.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"
#include "support/set_clock.hpp"

namespace rampart::support {

/// A policy on "income" with P(approve) = `probability` for all applications.
inline std::shared_ptr<const model::LoadedPolicy> constant_policy(double probability) {
    const model::BootstrapLink link{"income", {{0, probability}}, probability};
    const auto schema =
        dataset::FeatureSchema::create({{"income", dataset::FeatureKind::kNumeric, {}}}).value();
    auto policy = model::Policy::create(schema, {link}, {}, {}).value();
    const auto id = model::policy_id_of(model::encode_model_file(policy));
    return std::make_shared<const model::LoadedPolicy>(model::LoadedPolicy{std::move(policy), id});
}

inline domain::Application make_application(int number, base::TimePoint time) {
    return {domain::ApplicationId("a-" + std::to_string(number)),
            domain::PersonId("p-" + std::to_string(number)),
            time,
            {{"income", 1.0}}};
}

/// A decision service and its consumer over a log in memory, in a folder of their own. The clock
/// stands at day 100.
class SmallService {
  public:
    explicit SmallService(MemoryLog& log)
        : folder_(std::filesystem::path(testing::TempDir()) /
                  ("small_service" + base::to_hex(base::random_bytes(8)))) {
        for (const char* topic : {"decisions", "outcomes", "applications", "quarantine"}) {
            if (!log.topics.contains(topic)) log.create(topic, 1);
        }
        serving::DecisionServiceOptions options;
        options.log.folder = folder_;
        options.log.exploration_per_day = 1000;
        options.product = two_measure_product();
        options.draw_key = {"key", "secret"};
        options.arm_key = {"arm-key", "arm secret"};
        options.before_append = [this, &log](std::span<const domain::PersonId> people) {
            const auto records = log.end_offset("decisions", streaming::PartitionId(0)).value();
            for (const auto& person : people) announced.emplace_back(person, records);
        };
        service =
            serving::DecisionService::open(std::move(options), {log, log, clock, metrics, health})
                .value();
        consumer =
            serving::ApplicationConsumer::create({}, {log, log, *service, metrics, health}).value();
    }
    ~SmallService() {
        consumer.reset();
        service.reset();
        std::filesystem::remove_all(folder_);
    }
    SmallService(const SmallService&) = delete;
    SmallService& operator=(const SmallService&) = delete;

    void approve_all() { ASSERT_TRUE(service->set_policy(constant_policy(1), false)); }
    domain::Decision decide(const domain::Application& application) {
        return service->decide({&application, 1}).value().front();
    }

    SetClock clock{day(100)};
    runtime::Metrics metrics;
    runtime::Health health;
    // to before_append, with the end of the log then
    std::vector<std::pair<domain::PersonId, streaming::Offset>> announced;
    std::unique_ptr<serving::DecisionService> service;
    std::unique_ptr<serving::ApplicationConsumer> consumer;

  private:
    std::filesystem::path folder_;
};

}  // namespace rampart::support
