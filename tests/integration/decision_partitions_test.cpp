#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "integration/decision_service_fixture.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/http/client.hpp"
#include "rampart/http/server.hpp"
#include "rampart/streaming/partition_list.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/override_json.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/decision_service/routes.hpp"

/// Several nodes over one log: which node owns a partition, and that no other node decides for it.
namespace rampart::serving {
namespace {

using namespace tests;  // NOLINT
using streaming::Offset;
using streaming::PartitionId;

/// A writer that can fail.
class BentWriter final : public streaming::Writer {
  public:
    explicit BentWriter(streaming::Writer& writer) : writer_(writer) {}
    base::Result<std::vector<streaming::Position>> append(
        std::string_view topic, std::span<const streaming::Record> records) override {
        if (const auto call = before) call();  // a copy, because it may put another in its place
        RAMPART_RETURN_IF_ERROR(check(records));
        auto positions = writer_.append(topic, records);
        if (const auto call = after) call();
        if (bend && positions) bend(*positions);
        return positions;
    }
    base::Result<std::vector<streaming::Position>> append_to(
        std::string_view topic, PartitionId partition,
        std::span<const streaming::Record> records) override {
        RAMPART_RETURN_IF_ERROR(check(records));
        return writer_.append_to(topic, partition, records);
    }
    std::function<void()> before, after;
    std::function<bool(const streaming::Record&)> refuse;
    std::function<void(std::vector<streaming::Position>&)> bend;

  private:
    base::Status check(std::span<const streaming::Record> records) const {
        for (const auto& record : records) {
            if (refuse && refuse(record))
                return base::Error{base::ErrorCode::kOutOfRange, "record_too_large", "too large"};
        }
        return base::ok();
    }
    streaming::Writer& writer_;
};

/// A reader that cannot reach some partitions.
class BentReader final : public streaming::Reader {
  public:
    explicit BentReader(const streaming::Reader& reader) : reader_(reader) {}
    base::Result<int32_t> partitions(std::string_view topic) const override {
        return reader_.partitions(topic);
    }
    base::Result<std::string> identity(std::string_view topic) const override {
        return reader_.identity(topic);
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view topic, PartitionId id,
                                                            Offset from,
                                                            size_t limit) const override {
        if (out_of_reach == id)
            return base::Error{base::ErrorCode::kUnavailable, "broker_down", "no answer"};
        return reader_.read(topic, id, from, limit);
    }
    base::Result<Offset> begin_offset(std::string_view topic, PartitionId id) const override {
        return reader_.begin_offset(topic, id);
    }
    base::Result<Offset> end_offset(std::string_view topic, PartitionId id) const override {
        return reader_.end_offset(topic, id);
    }
    std::optional<PartitionId> out_of_reach;

  private:
    const streaming::Reader& reader_;
};

class DecisionPartitions : public DecisionServiceTest {
  protected:
    struct Node {
        explicit Node(streaming_local::LocalLog& log) : writer(log), reader(log) {}
        BentWriter writer;
        BentReader reader;
        runtime::Metrics metrics;
        runtime::Health health;
        std::vector<PartitionId> given_up;
        std::unique_ptr<DecisionService> service;
        DecisionService* operator->() { return service.get(); }
    };

    /// A node that claims its partitions under this epoch, without looking at fences.
    std::unique_ptr<Node> node(const std::string& name, std::vector<PartitionId> owned,
                               uint64_t epoch) {
        auto made = std::make_unique<Node>(*log_);
        const auto status = open_node(*made, name, std::move(owned), epoch);
        EXPECT_TRUE(status) << status.error().message;
        return made;
    }
    base::Status open_node(Node& made, const std::string& name, std::vector<PartitionId> owned,
                           uint64_t epoch) {
        auto options = options_;
        options.log.folder = folder_ / name;
        options.log.node = name;
        options.log.owned = std::move(owned);
        options.log.claim = [epoch](const Epochs& fences) -> base::Result<Epochs> {
            Epochs epochs;
            for (const auto& [p, fence] : fences) epochs[p] = epoch;
            return epochs;
        };
        options.log.on_given_up = [&made](PartitionId p) { made.given_up.push_back(p); };
        RAMPART_TRY(made.service, DecisionService::open(options, {made.reader, made.writer, clock_,
                                                                  made.metrics, made.health}));
        return made.service->set_policy(constant(0.5), false);
    }
    /// Returns the n-th application that belongs to the partition.
    Application application_in(int32_t partition, int n = 0) {
        for (int i = 0;; ++i) {
            const auto one = application(i);
            if (service_->partition_of(one.id) == PartitionId(partition) && n-- == 0) return one;
        }
    }
    static std::string reason(DecisionService& service, const Application& one) {
        const auto decided = service.decide({&one, 1});
        return decided ? "" : decided.error().reason;
    }
    static Decision decide_at(Node& node, const Application& one) {
        auto decided = node->decide({&one, 1});
        EXPECT_TRUE(decided) << decided.error().message;
        return decided->front();
    }
    size_t records_in(int32_t partition) {
        return log_->read("decisions", PartitionId(partition), Offset(0), 1000)->size();
    }
};

TEST_F(DecisionPartitions, AStoppedProcessAcknowledgesNothingAndItsRecordsDoNotCount) {
    const auto a = node("a", {}, 1);
    const auto before = decide_at(*a, application_in(1));
    const auto b = node("b", {}, 2);
    EXPECT_EQ((*b)->find(before.id).value(), before);

    const auto one = application_in(1, 1);
    const size_t records = records_in(1);
    EXPECT_EQ(reason(*a->service, one), "fenced");
    EXPECT_EQ(records_in(1), records + 1);  // it was able to append
    EXPECT_EQ(a->given_up, std::vector{PartitionId(1)});
    EXPECT_EQ(reason(*a->service, one), "not_owner");
    EXPECT_EQ(records_in(1), records + 1);  // and does not append any more
    const auto report = a->health.report(runtime::Probe::kReady);
    EXPECT_TRUE(report.ok());  // it may still decide for its other partitions, 0 and 2
    ASSERT_FALSE(report.checks[1].status);
    const auto message = report.checks[1].status.error().message;
    EXPECT_TRUE(message.starts_with("1 of 3 partitions stand still")) << message;
    EXPECT_NE(message.find("taken over by the node 'b'"), std::string::npos) << message;

    EXPECT_EQ((*b)->find(domain::decision_id_of(one.id)).error().reason, "unknown_decision");
    const auto decided = decide_at(*b, one);
    EXPECT_EQ((*b)->find(decided.id).value(), decided);
    // decisions that it acknowledged before stay valid, at every node
    EXPECT_EQ(decide_at(*a, application_in(1)), before);
    EXPECT_EQ(decide_at(*b, application_in(1)), before);
}

TEST_F(DecisionPartitions, WithoutReadingTheLogBackAStoppedProcessWouldAcknowledge) {
    const auto a = node("a", {}, 1);
    ASSERT_TRUE((*a)->partitions()[1].status);
    const auto b = node("b", {}, 2);
    // the same, but it believes that its record follows the last one that it knows
    a->writer.bend = [](auto& positions) { positions[0].offset = Offset(1); };
    const auto one = application_in(1);
    EXPECT_EQ(reason(*a->service, one), "");
    EXPECT_EQ((*b)->find(domain::decision_id_of(one.id)).error().reason, "unknown_decision");
}

TEST_F(DecisionPartitions, WhatCameBeforeTheFenceCountsAndIsAcknowledged) {
    const auto a = node("a", {}, 1);
    std::unique_ptr<Node> b;
    a->writer.after = [&] {
        if (!b) b = node("b", {}, 2);
    };
    const auto decided = decide_at(*a, application_in(0));
    EXPECT_EQ((*b)->find(decided.id).value(), decided);
    // by now it has read the fence
    const auto again = decide_at(*a, application_in(0));
    EXPECT_EQ(again, decided);
    EXPECT_NE(reason(*a->service, application_in(0, 1)), "");
    EXPECT_EQ((*b)->find(domain::decision_id_of(application_in(0, 1).id)).error().reason,
              "unknown_decision");
}

TEST_F(DecisionPartitions, OfTheSameApplicationTheDecisionThatCountsIsAnswered) {
    const auto one = application_in(2);
    // another process with the same right writes first, as the earlier run of this node may have
    Decision first;
    const auto other = node("other", {}, 2);
    first = decide_at(*other, one);
    const auto b = node("b", {}, 3);
    EXPECT_EQ(decide_at(*b, one), first);
    const auto two = application_in(2, 1);
    b->writer.before = [&] {
        b->writer.before = nullptr;
        auto decision = first;
        decision.application = two;
        decision.id = domain::decision_id_of(two.id);
        const auto record = wire::to_record(decision, 3);
        ASSERT_TRUE(log_->append("decisions", {&record, 1}));
        first = decision;
    };
    ASSERT_TRUE((*b)->set_policy(constant(0.25), false));
    EXPECT_EQ(decide_at(*b, two), first);
    EXPECT_EQ(decide_at(*b, two), first);
}

TEST_F(DecisionPartitions, ANodeDecidesForItsOwnPartitionsAndNamesTheOwnerOfTheRest) {
    options_.log.owner_of = [](PartitionId p) {
        return p == PartitionId(1) ? std::optional(decision_log::Owner{"node-b"}) : std::nullopt;
    };
    const auto a = node("a", {PartitionId(0)}, 1);
    decide_at(*a, application_in(0));
    auto one = application_in(1);
    auto error = (*a)->decide({&one, 1}).error();
    EXPECT_EQ(error.code, base::ErrorCode::kFailedPrecondition);
    EXPECT_EQ(error.reason, "not_owner");
    EXPECT_NE(error.message.find("partition 1 of 3"), std::string::npos) << error.message;
    EXPECT_NE(error.message.find("the node 'node-b'"), std::string::npos) << error.message;
    one = application_in(2);
    EXPECT_NE((*a)->decide({&one, 1}).error().message.find("another node"), std::string::npos);
    EXPECT_EQ((*a)->find(domain::decision_id_of(one.id)).error().reason, "not_owner");
    // a batch is complete
    const std::vector mixed{application_in(0, 1), application_in(1)};
    EXPECT_TRUE((*a)->decide(mixed).error().message.starts_with("applications[1]: "));
    EXPECT_EQ(records_in(0), 2u);  // the fence and the first decision
    EXPECT_EQ((*a)->partitions().size(), 1u);
    EXPECT_EQ((*a)->index_of(PartitionId(1)), nullptr);
    ASSERT_NE((*a)->index_of(PartitionId(0)), nullptr);
    (*a)->give_up(PartitionId(0), "node-c");
    EXPECT_EQ((*a)->index_of(PartitionId(0)), nullptr);
    EXPECT_EQ(reason(*a->service, application_in(0, 1)), "not_owner");
    EXPECT_TRUE(a->given_up.empty());  // set by a call, not found in the log
}

TEST_F(DecisionPartitions, OverHttpAnotherNodesPartitionIsAMisdirectedRequest) {
    const std::string address = "https://b.example:8443";
    options_.log.owner_of = [&](PartitionId p) {
        return p == PartitionId(1)   ? std::optional(decision_log::Owner{"b", address})
               : p == PartitionId(2) ? std::optional(decision_log::Owner{"c"})
                                     : std::nullopt;
    };
    const auto a = node("a", {PartitionId(0)}, 1);
    http::Router router(access::one_token("token"));
    const auto defer = [](const auto&, size_t, const auto& failed) {
        return failed(base::make_error(decision_log::Reason::kNotOwner, "found out later"));
    };
    decision_service::DecisionRoutes(*a->service, defer).add_to(router);
    decision_service::StatusRoutes(a->health, a->metrics).add_to(router);
    const auto server = http::Server::start({}, [&](http::Request request) {
                            return router.handle(std::move(request));
                        }).value();
    http::ClientOptions client_options;
    client_options.token = "token";
    auto client = http::Client::create(server->endpoint(), client_options).value();
    const auto elsewhere = application_in(1);
    const auto id = domain::decision_id_of(elsewhere.id);
    const auto refused = client.post("/v1/decisions", wire::to_json(elsewhere)).value();
    EXPECT_EQ(refused.status, 421);
    EXPECT_NE(refused.body.find("not_owner"), std::string::npos);
    const std::string member = fmt::format(R"(,"owner":"{}",)", address);
    const auto names = [&](const base::Result<http::Response>& answer) {
        EXPECT_EQ(answer->status, 421);
        const bool named = answer->header(decision_service::kOwnerHeader) == address;
        EXPECT_EQ(answer->body.find(member) != std::string::npos, named) << answer->body;
        return named;
    };
    EXPECT_TRUE(names(refused));
    EXPECT_TRUE(names(client.get("/v1/decisions/" + id.value())));
    const auto post = [&](const std::vector<domain::Application>& batch) {
        return client.post("/v1/decisions", wire::to_json(std::span(batch)));
    };
    EXPECT_TRUE(names(post({application_in(0), elsewhere, application_in(2)})));
    EXPECT_FALSE(names(post({application_in(0), application_in(2), elsewhere})))
        << "the first one's owner does not say";
    EXPECT_FALSE(names(client.post("/v1/decisions", wire::to_json(application_in(2)))));
    EXPECT_EQ(client.get("/v1/decisions/" + id.value())->status, 421);
    const std::vector<domain::Outcome> outcomes{{id, "repaid", 0, 1, time("2005-10-01")}};
    EXPECT_TRUE(names(client.post("/v1/outcomes", wire::to_json(std::span(outcomes)))));
    const std::vector<domain::Override> overrides{
        {id, 0, domain::Action::kDecline, "desk", "income", time("2005-10-01")}};
    EXPECT_TRUE(names(client.post("/v1/overrides", wire::to_json(std::span(overrides)))));
    const std::vector deferred(decision_service::DecisionRoutes::kMostOverridesAtOnce + 1,
                               overrides.front());
    EXPECT_TRUE(names(client.post("/v1/overrides", wire::to_json(std::span(deferred)))));
    EXPECT_EQ(client.post("/v1/decisions", wire::to_json(application_in(0)))->status, 200);
    const auto b = node("b", {PartitionId(0)}, 2);
    EXPECT_EQ(client.post("/v1/decisions", wire::to_json(application_in(0, 1)))->status, 421);
    EXPECT_EQ(client.get("/readyz")->status, 503);  // it owned no other partition
}

TEST_F(DecisionPartitions, EveryRecordCarriesTheEpochOfItsWriterBehindItsFence) {
    const auto a = node("a", {PartitionId(2)}, 7);
    decide_at(*a, application_in(2));
    const auto records = log_->read("decisions", PartitionId(2), Offset(0), 10).value();
    ASSERT_EQ(records.size(), 2u);
    const auto fence = wire::writer_mark(records[0].record).value();
    EXPECT_TRUE(fence.fence);
    EXPECT_EQ(fence.epoch, 7u);
    const auto mark = wire::writer_mark(records[1].record).value();
    EXPECT_FALSE(mark.fence);
    EXPECT_EQ(mark.epoch, 7u);
    EXPECT_EQ((*a)->partitions()[0].fence, (decision_log::Fence{7, "a"}));
    EXPECT_EQ((*a)->partitions()[0].epoch, 7u);
}

TEST_F(DecisionPartitions, AnEpochHasToBeAboveTheFencesThatTheClaimIsTold) {
    node("a", {}, 5);
    Node b(*log_);
    EXPECT_EQ(open_node(b, "b", {}, 5).error().reason, "fenced");
    auto options = options_;
    options.log.folder = folder_ / "c";
    Epochs told;
    options.log.claim = [&](const Epochs& fences) -> base::Result<Epochs> {
        told = fences;
        return base::Error{base::ErrorCode::kFailedPrecondition, "partition_owned", "by a"};
    };
    runtime::Health health;
    EXPECT_EQ(
        DecisionService::open(options, {*log_, *log_, clock_, metrics_, health}).error().reason,
        "partition_owned");
    EXPECT_EQ(told, (Epochs{{PartitionId(0), 5}, {PartitionId(1), 5}, {PartitionId(2), 5}}));
    // a process without a lease must not write to that log
    options.log.claim = nullptr;
    EXPECT_EQ(
        DecisionService::open(options, {*log_, *log_, clock_, metrics_, health}).error().reason,
        "fenced");
}

TEST_F(DecisionPartitions, OnePartitionOutOfReachKeepsNoOtherFromDeciding) {
    const auto a = node("a", {}, 1);
    a->reader.out_of_reach = PartitionId(1);
    // it cannot be read back, so it is not acknowledged
    a->writer.bend = [](auto& positions) {
        for (auto& position : positions) position.offset = Offset(position.offset.value() + 1);
    };
    EXPECT_EQ(reason(*a->service, application_in(1)), "broker_down");
    a->writer.bend = nullptr;
    EXPECT_EQ(reason(*a->service, application_in(0)), "");
    EXPECT_EQ(reason(*a->service, application_in(1)), "broker_down");
    EXPECT_TRUE(a->health.report(runtime::Probe::kReady).degraded());
    EXPECT_EQ((*a)->find(domain::decision_id_of(application_in(1).id)).error().reason,
              "broker_down");
    (*a)->maintain();
    EXPECT_TRUE(a->health.report(runtime::Probe::kReady).degraded());
    a->reader.out_of_reach.reset();
    (*a)->maintain();
    EXPECT_FALSE(a->health.report(runtime::Probe::kReady).degraded());
    EXPECT_EQ(decide_at(*a, application_in(1)).p_approve, 0.5);
    EXPECT_EQ(records_in(1), 2u);  // the fence, and the earlier record
}

TEST_F(DecisionPartitions, ARecordInAnotherPartitionIsNotAcknowledged) {
    const auto a = node("a", {}, 1);
    a->writer.bend = [](auto& positions) { positions[0].partition = PartitionId(2); };
    EXPECT_EQ(reason(*a->service, application_in(1)), "partitions_changed");
    EXPECT_EQ(reason(*a->service, application_in(1)), "partition_stopped");
}

TEST_F(DecisionPartitions, AfterAGapAPartitionWaitsUntilItIsAccepted) {
    node("a", {}, 1);
    ASSERT_TRUE(log_->delete_topic("decisions"));
    ASSERT_TRUE(log_->create_topic("decisions", {3, streaming_local::Fsync::kNever, {}}));
    const auto a = node("a", {}, 2);
    EXPECT_EQ(reason(*a->service, application_in(1)), "partition_stopped");
    EXPECT_EQ((*a)->accept_gap(PartitionId(1)).error().reason, "topic_recreated");
    const auto gaps = (*a)->accept_gap(PartitionId(-1)).value();
    ASSERT_EQ(gaps.size(), 3u);
    EXPECT_EQ(gaps[1].why.reason, "topic_recreated");
    EXPECT_EQ(gaps[1].holder, PartitionId(1));
    decide_at(*a, application_in(1));
    EXPECT_EQ((*a)->partitions()[1].epoch, 2u);
    EXPECT_EQ((*a)->partitions()[1].fence, (decision_log::Fence{2, "a"}));
    EXPECT_TRUE((*a)->accept_gap(PartitionId(1))->empty());
    EXPECT_TRUE((*a)->accept_gap(PartitionId(-1))->empty());
    EXPECT_EQ((*a)->accept_gap(PartitionId(7)).error().reason, "not_owner");
}

TEST_F(DecisionPartitions, PartitionsThatWereAddedToTheTopicStayEmptyOnceTheyAreAccepted) {
    const auto fewer = [&](const std::string& name) {
        auto made = std::make_unique<Node>(*log_);
        options_.log.partitions = 2;
        const auto status = open_node(*made, name, {}, 1);
        EXPECT_TRUE(status) << status.error().message;
        return made;
    };
    const auto a = fewer("a");
    const auto one = application(1);
    EXPECT_EQ(reason(*a->service, one), "partition_stopped");
    ASSERT_EQ((*a)->accept_gap(PartitionId(-1))->size(), 2u);
    for (int i = 0; i < 20; ++i) {
        const auto decided = decide_at(*a, application(i));
        EXPECT_EQ((*a)->find(decided.id).value(), decided);
    }
    EXPECT_EQ(records_in(2), 0u);
}

TEST_F(DecisionPartitions, ANodeIsReadyWhileItDecidesForOnePartitionAndNotWhenForNone) {
    const auto a = node("a", {}, 1);
    const auto report = [&] { return a->health.report(runtime::Probe::kReady); };
    EXPECT_TRUE(report().ok());
    EXPECT_FALSE(report().degraded());
    for (const int32_t lost : {0, 1}) {
        (*a)->give_up(PartitionId(lost), "b");
        EXPECT_TRUE(report().ok()) << lost;
        EXPECT_TRUE(report().degraded()) << lost;
    }
    EXPECT_EQ(reason(*a->service, application_in(2)), "");
    (*a)->give_up(PartitionId(2), "b");
    EXPECT_FALSE(report().ok());
    EXPECT_TRUE(report().checks[0].required);
    EXPECT_TRUE(report().checks[0].status.error().message.starts_with("3 of 3 partitions"));
}

TEST_F(DecisionPartitions, ARecordThatTheLogRefusesKeepsNoOtherOut) {
    const auto a = node("a", {}, 1);
    const auto poison = application(1);
    const auto poison_id = domain::decision_id_of(poison.id).value();
    a->writer.refuse = [&](const streaming::Record& record) { return record.key == poison_id; };
    const std::vector batch{application(0), poison, application(2)};
    const auto results = (*a)->decide_each(batch).value();
    EXPECT_TRUE(results[0]);
    EXPECT_EQ(results[1].error().reason, "record_too_large");
    EXPECT_TRUE(results[2]);
    EXPECT_EQ(reason(*a->service, poison), "record_too_large");
    EXPECT_TRUE(a->health.report(runtime::Probe::kReady).ok());
}

TEST_F(DecisionPartitions, TheBudgetOfExplorationDoesNotDependOnWhoOwnsWhat) {
    options_.log.exploration_per_day = 7;
    const auto explored_by = [&](const std::vector<std::vector<PartitionId>>& sets) {
        for (const char* topic : {"decisions"}) {
            EXPECT_TRUE(log_->delete_topic(topic));
            EXPECT_TRUE(log_->create_topic(topic, {3, streaming_local::Fsync::kNever, {}}));
        }
        std::set<std::string> ids;
        int made = 0;
        for (const auto& owned : sets) {
            const auto name = fmt::format("n{}of{}", made++, sets.size());
            const auto one = node(name, owned, 1);
            EXPECT_TRUE((*one)->set_policy(load(exploring_link()), true));
            for (int i = 0; i < 100; ++i) {
                const auto each = application(i);
                const auto decided = (*one)->decide({&each, 1});
                if (decided && decided->front().explored) ids.insert(decided->front().id.value());
            }
        }
        return ids;
    };
    const auto together = explored_by({{}});
    EXPECT_EQ(together.size(), 7u);
    EXPECT_EQ(explored_by({{PartitionId(1)}, {PartitionId(0), PartitionId(2)}}), together);
}

TEST_F(DecisionPartitions, EachApplicationHasAResultOfItsOwn) {
    const auto a = node("a", {PartitionId(0)}, 1);
    auto unknown = application_in(0, 1);
    unknown.features[0].name = "income";
    const std::vector batch{application_in(0), unknown, application_in(1), application_in(0, 2),
                            application_in(0)};
    const auto results = (*a)->decide_each(batch).value();
    ASSERT_EQ(results.size(), 5u);
    EXPECT_TRUE(results[0]);
    EXPECT_EQ(results[1].error().reason, "unknown_feature");
    EXPECT_EQ(results[2].error().reason, "not_owner");
    EXPECT_TRUE(results[3]);
    EXPECT_EQ(results[4].value(), results[0].value());
    EXPECT_EQ(records_in(0), 3u);
    EXPECT_EQ((*a)->decide_each({}).error().reason, "bad_batch");
}

TEST_F(DecisionPartitions, MoreThanMayWaitIsRefusedAsOverload) {
    options_.max_waiting_applications = 2;
    const auto a = node("a", {}, 1);
    std::promise<void> writing, go_on;
    auto released = go_on.get_future().share();
    std::atomic<bool> first{true};
    a->writer.before = [&] {
        if (!first.exchange(false)) return;
        writing.set_value();
        released.wait();
    };
    std::thread slow([&] { decide_at(*a, application(1)); });
    writing.get_future().wait();
    const std::vector two{application(2), application(3)};
    EXPECT_EQ((*a)->decide(two).error().reason, "overloaded");
    go_on.set_value();
    slow.join();
    EXPECT_TRUE((*a)->decide(two));
    EXPECT_NE(a->metrics.prometheus_text().find("rampart_overload_refusals_total 1\n"),
              std::string::npos);
}

TEST_F(DecisionPartitions, TheSetOfPartitionsHasToMakeSense) {
    const auto reason_of = [&](int32_t partitions, std::vector<PartitionId> owned) {
        auto options = options_;
        options.log.folder = folder_ / "x";
        options.log.partitions = partitions;
        options.log.owned = std::move(owned);
        runtime::Health health;
        const auto opened =
            DecisionService::open(options, {*log_, *log_, clock_, metrics_, health});
        return opened ? "" : opened.error().reason;
    };
    EXPECT_EQ(reason_of(3, {PartitionId(0), PartitionId(2)}), "");
    EXPECT_EQ(reason_of(3, {PartitionId(3)}), "bad_partitions");
    EXPECT_EQ(reason_of(3, {PartitionId(-2)}), "bad_partitions");
    EXPECT_EQ(reason_of(3, {PartitionId(0), PartitionId(-1)}), "bad_partitions");
    EXPECT_EQ(reason_of(3, streaming::no_partitions()), "") << "a node that decides nothing";
    EXPECT_EQ(reason_of(3, {PartitionId(1), PartitionId(1)}), "bad_partitions");
    EXPECT_EQ(reason_of(4, {}), "partitions_changed");
}

}  // namespace
}  // namespace rampart::serving
