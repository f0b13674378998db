#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming_local/local_log.hpp"
#include "rampart/wire/event_codec.hpp"

/// A decision service over an embedded log with three partitions, for tests.
namespace rampart::serving::tests {

namespace fs = std::filesystem;
using decision_log::DecisionIndex;
using decision_log::Epochs;
using decision_log::Fence;
using domain::Application;
using domain::Decision;

inline base::TimePoint time(const std::string& text) { return base::parse_iso8601(text).value(); }

inline domain::Product sample_product() {
    domain::Product product;
    product.name = "card";
    product.label = {"repaid", 0, 1, 6, base::Duration::days(31)};
    product.impact = {"points", -150, 75, std::nullopt, 75, -150, 0};
    return product;
}

inline dataset::FeatureSchema sample_schema() {
    return dataset::FeatureSchema::create({{"age", dataset::FeatureKind::kNumeric, {}}}).value();
}

inline std::shared_ptr<const model::LoadedPolicy> load(model::Link link,
                                                       std::vector<std::string> groups = {}) {
    auto policy = model::Policy::create(sample_schema(), {std::move(link)}, std::move(groups), {});
    EXPECT_TRUE(policy) << policy.error().message;
    const auto id = model::policy_id_of(model::encode_model_file(*policy));
    return std::make_shared<const model::LoadedPolicy>(model::LoadedPolicy{*std::move(policy), id});
}

/// A policy with P(approve) = `probability` for all applications.
inline std::shared_ptr<const model::LoadedPolicy> constant(double probability) {
    return load(model::BootstrapLink{"age", {{0, probability}}, probability});
}

/// Approves only by exploration, with probability 0.4.
inline model::LearnedLink exploring_link() {
    model::LearnedLink link;
    model::Tree leaf;
    leaf.nodes.resize(1);
    link.ensemble.trees = {leaf};
    link.ramp.thresholds = {0.9};
    link.exploration = {model::ExplorationMode::kOneSided, 0.4};
    return link;
}

inline Application application(int number, const std::string& day = "2005-04-01", double age = 40) {
    return {domain::ApplicationId(fmt::format("a-{}", number)),
            domain::PersonId(fmt::format("p-{}", number)),
            time(day),
            {{"age", age}}};
}

inline std::vector<Application> applications(int from, int to,
                                             const std::string& day = "2005-04-01") {
    std::vector<Application> all;
    for (int i = from; i < to; ++i) all.push_back(application(i, day));
    return all;
}

/// Appends to a log, and fails on demand: before or after the records are stored.
class FailingWriter final : public streaming::Writer {
  public:
    explicit FailingWriter(streaming::Writer& writer) : writer_(writer) {}
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override {
        ++appends;
        if (fail_before)
            return base::Error{base::ErrorCode::kResourceExhausted, "disk_full", "no room"};
        auto positions = writer_.append(topic, records);
        if (fail_after) return base::Error{base::ErrorCode::kUnavailable, "timeout", "no answer"};
        return positions;
    }
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, streaming::PartitionId partition,
        std::span<const streaming::Record> records) override {
        return writer_.append_to(topic, partition, records);
    }
    std::atomic<bool> fail_before{false}, fail_after{false};
    std::atomic<int> appends{0};

  private:
    streaming::Writer& writer_;
};

class DecisionServiceTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) /
                  ("decision_service" + base::to_hex(base::random_bytes(8)));
        fs::create_directories(folder_);
        log_ = streaming_local::LocalLog::open(folder_ / "log").value();
        for (const char* topic : {"decisions", "outcomes"}) {
            ASSERT_TRUE(log_->create_topic(topic, {3, streaming_local::Fsync::kNever, {}}));
        }
        writer_ = std::make_unique<FailingWriter>(*log_);
        options_.product = sample_product();
        options_.draw_key = {"key", "secret"};
        options_.log.folder = folder_ / "partitions";
        options_.log.partitions = 3;
        open();
    }
    void TearDown() override {
        service_.reset();
        log_.reset();
        fs::remove_all(folder_);
    }

    /// Opens it, as after a restart.
    void open() {
        service_.reset();
        health_ = std::make_unique<runtime::Health>();
        auto service =
            DecisionService::open(options_, {*log_, *writer_, clock_, metrics_, *health_});
        ASSERT_TRUE(service) << service.error().message;
        service_ = *std::move(service);
    }
    void set_policy(std::shared_ptr<const model::LoadedPolicy> policy, bool certified = false) {
        const auto status = service_->set_policy(std::move(policy), certified);
        ASSERT_TRUE(status) << status.error().message;
    }
    Decision decide(const Application& one) {
        auto decisions = service_->decide({&one, 1});
        EXPECT_TRUE(decisions) << decisions.error().message;
        return decisions->front();
    }
    base::Error decide_error(const std::vector<Application>& batch) {
        const auto decisions = service_->decide(batch);
        EXPECT_FALSE(decisions);
        return decisions ? base::Error{} : decisions.error();
    }
    std::vector<Decision> logged() {
        std::vector<Decision> all;
        for (int32_t p = 0; p < 3; ++p) {
            const auto records =
                log_->read("decisions", streaming::PartitionId(p), streaming::Offset(0), 100'000);
            for (const auto& record : records.value()) {
                EXPECT_EQ(record.record.headers.at(0).value, "rampart.v1.Decision/1");
                all.push_back(wire::decode_decision(record.record.value).value());
                EXPECT_EQ(record.record.key, all.back().id.value());
                EXPECT_EQ(record.record.timestamp, all.back().application.event_time);
            }
        }
        return all;
    }
    static int explored(const std::vector<Decision>& decisions) {
        int n = 0;
        for (const auto& decision : decisions) n += decision.explored;
        return n;
    }

    fs::path folder_;
    runtime::ManualClock clock_{time("2005-04-02")};
    runtime::Metrics metrics_;
    std::unique_ptr<runtime::Health> health_;
    std::unique_ptr<streaming_local::LocalLog> log_;
    std::unique_ptr<FailingWriter> writer_;
    DecisionServiceOptions options_;
    std::unique_ptr<DecisionService> service_;
};

}  // namespace rampart::serving::tests
