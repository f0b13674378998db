#include "rampart/data_retention/erasure.hpp"

#include <gtest/gtest.h>

#include <future>

#include "rampart/wire/record_codec.hpp"
#include "support/small_stores.hpp"

// On a sealed log, with crashes and other nodes: tests/integration/erasure*_test, two_nodes_test.
namespace rampart::data_retention {
namespace {

using support::day;

/// A log that cannot be read.
class Unreadable final : public streaming::Reader {
  public:
    explicit Unreadable(const streaming::Reader& log) : log_(log) {}
    base::Result<int32_t> partitions(std::string_view topic) const override {
        return log_.partitions(topic);
    }
    base::Result<std::string> identity(std::string_view topic) const override {
        return log_.identity(topic);
    }
    base::Result<std::vector<streaming::StoredRecord>> read(std::string_view,
                                                            streaming::PartitionId,
                                                            streaming::Offset,
                                                            size_t) const override {
        return base::Error{base::ErrorCode::kUnavailable, "not_read", "not read"};
    }
    base::Result<streaming::Offset> begin_offset(std::string_view topic,
                                                 streaming::PartitionId p) const override {
        return log_.begin_offset(topic, p);
    }
    base::Result<streaming::Offset> end_offset(std::string_view topic,
                                               streaming::PartitionId p) const override {
        return log_.end_offset(topic, p);
    }

  private:
    const streaming::Reader& log_;
};

class ErasureRules : public testing::Test {
  protected:
    ErasureDeps deps() {
        return {log,
                retention_months,
                {"0/joins.damaged-1"},
                *as_it_lies_,
                *stores_.joiner,
                *stores_.service.service,
                *stores_.service.consumer,
                *stores_.attributes,
                nullptr,
                *stores_.keys,
                *stores_.holds,
                *stores_.registry,
                reading_,
                counting_,
                [this] {
                    EXPECT_FALSE(others_may_read());
                    return stores_.catch_up();
                },
                [this] {
                    EXPECT_TRUE(others_may_read()) << "the joiner waits for a reader";
                    return ++waits_ < 3;
                }};
    }
    bool others_may_read() {
        return std::async(
                   std::launch::async,
                   [this] { return std::unique_lock(reading_, std::try_to_lock).owns_lock(); })
            .get();
    }
    base::Result<ErasureReport> erase(const std::string& person, bool dry_run = false,
                                      const std::string& reason = "asked for it") {
        return erase_person(deps(),
                            {domain::PersonId(person), "officer", reason, day(100), dry_run});
    }
    /// Decides as stores_.decide() does, in a record that the joiner reads as a sealed one.
    void decide_sealed(int number) {
        stores_.service.approve_all();
        stores_.service.decide(support::make_application(number, day(100)));
        stores_.log.topics["decisions"].partitions[0].back().seal = streaming::Seal::kOpened;
        EXPECT_TRUE(stores_.catch_up());
    }
    std::string refusal(const std::string& person, bool dry_run = false,
                        const std::string& reason = "asked for it") {
        const auto report = erase(person, dry_run, reason);
        return report ? "" : report.error().reason;
    }
    bool remains(const ErasureReport& report, const std::string& part) {
        for (const auto& sentence : report.remains) {
            if (sentence.find(part) != std::string::npos) return true;
        }
        return false;
    }

    support::SmallStores stores_;
    const streaming::Reader* as_it_lies_ = &stores_.log;
    std::mutex reading_;
    std::shared_mutex counting_;
    int waits_ = 0;
    HeldLog log{"decisions", 1, false, {streaming::PartitionId(0)}, false};
    int retention_months = 0;
};

TEST_F(ErasureRules, TakesEverythingOfThePersonAndNothingOfOthers) {
    const auto annas = stores_.decide(1), berts = stores_.decide(2);
    const protected_attributes::ProtectedAttributes attributes{
        annas.application.person, day(100), {{"sex", "female"}}};
    ASSERT_TRUE(stores_.attributes->put({&attributes, 1}, {}));
    auto quarantined = wire::to_record(support::make_application(1, day(1)));
    ASSERT_TRUE(stores_.log.append("applications", {&quarantined, 1}));
    ASSERT_TRUE(stores_.service.consumer->poll());
    ASSERT_EQ(stores_.service.consumer->list_quarantined(9)->size(), 1u);

    const auto report = erase("p-1").value();
    ASSERT_EQ(report.decisions.size(), 1u);
    EXPECT_EQ(report.decisions[0].decision, annas.id);
    EXPECT_TRUE(report.attributes);
    EXPECT_EQ(report.quarantined, 1u);
    EXPECT_EQ(report.in_clear, 1u);
    EXPECT_TRUE(remains(report, "partitions/0/joins.damaged-1"));
    EXPECT_TRUE(remains(report, "1 of the decisions lie there in the clear"));
    EXPECT_FALSE(remains(report, "topics applications"));

    EXPECT_EQ(stores_.service.service->find(annas.id).error().reason, "erased");
    EXPECT_FALSE(stores_.joiner->find_decision(annas.id).value());
    EXPECT_FALSE(stores_.attributes->get(annas.application.person).value());
    EXPECT_TRUE(stores_.service.consumer->list_quarantined(9)->empty());
    EXPECT_EQ(stores_.service.service->find(berts.id).value(), berts);
    EXPECT_TRUE(stores_.joiner->find_decision(berts.id).value());
    EXPECT_EQ(stores_.audited().action, "erased");
    EXPECT_EQ(stores_.audited().details.at("decisions"), "1");
    EXPECT_EQ(refusal("p-1"), "unknown_person");
    EXPECT_EQ(stores_.audited().action, "erase_refused");
}

TEST_F(ErasureRules, TheLogIsReadForWhatLiesInTheClearOnlyWhereItHasBothKinds) {
    log.shared = true;
    const Unreadable unreadable(stores_.log);
    as_it_lies_ = &unreadable;
    stores_.decide(1);
    EXPECT_EQ(erase("p-1").value().in_clear, 1u) << "nothing is sealed";
    stores_.decide(2);
    decide_sealed(3);
    EXPECT_EQ(refusal("p-2"), "not_read");
    as_it_lies_ = &stores_.log;
    stores_.decide(4);
    EXPECT_EQ(erase("p-4").value().in_clear, 1u);
}

TEST_F(ErasureRules, OfASealedLogNothingLiesInTheClear) {
    log.shared = true;
    const Unreadable unreadable(stores_.log);
    as_it_lies_ = &unreadable;
    decide_sealed(1);
    EXPECT_EQ(erase("p-1").value().in_clear, 0u);
}

/// All that a report says.
std::string text_of(const ErasureReport& report) {
    std::string text = fmt::format("{} {} {} {}", report.quarantined, report.attributes,
                                   report.keys, report.in_clear);
    for (const auto& one : report.decisions)
        text += fmt::format("|{} {}", one.decision, base::to_iso8601(one.decided_at));
    for (const auto& sentence : report.remains) text += "|" + sentence;
    return text;
}

TEST_F(ErasureRules, InterruptedAnywhereARequestComesToTheSameReport) {
    constexpr int kUninterrupted = 2;
    for (int cut = kUninterrupted; cut >= 0; --cut) {
        const auto decision = stores_.decide(1 + cut);
        const auto& person = decision.application.person;
        const protected_attributes::ProtectedAttributes attributes{
            person, day(100), {{"sex", "female"}}};
        ASSERT_TRUE(stores_.attributes->put({&attributes, 1}, {}));
        ASSERT_TRUE(stores_.keys->prepare({&person, 1}));
        auto quarantined = wire::to_record(support::make_application(1 + cut, day(1)));
        ASSERT_TRUE(stores_.log.append("applications", {&quarantined, 1}));
        ASSERT_TRUE(stores_.service.consumer->poll());
        ErasureRequest request{person, "officer", "asked for it", day(100)};
        auto with = deps();
        int kept = 0;
        with.keep = [&](const ErasureReport& found) -> base::Status {
            if (kept++ == cut) return base::Error{base::ErrorCode::kUnavailable, "cut", "cut"};
            request.before = found;
            return base::ok();
        };
        auto report = erase_person(with, request);
        EXPECT_EQ(report.has_value(), cut == kUninterrupted);
        if (cut == 0) {
            EXPECT_TRUE(stores_.service.service->find(decision.id)) << "nothing is gone yet";
        }
        if (cut == 1) {
            EXPECT_FALSE(stores_.service.service->find(decision.id)) << "all but the entry is gone";
        }
        const auto expected =
            text_of({{{person, decision.id, decision.application.id, {}, decision.decided_at}},
                     1,
                     true,
                     1,
                     1,
                     report ? report->remains : std::vector<std::string>()});
        report = erase_person(deps(), request);
        ASSERT_TRUE(report) << report.error().message;
        EXPECT_TRUE(text_of(*report).starts_with(expected)) << expected << "\n" << text_of(*report);
        EXPECT_TRUE(remains(*report, "1 of the decisions lie there in the clear"));
        EXPECT_FALSE(stores_.service.service->find(decision.id));
        EXPECT_FALSE(stores_.holds->pending(stores_.keys->tag_of(person)).value());
    }
}

TEST_F(ErasureRules, NoErrorNamesThePerson) {
    const auto refused = erase("kx7QvW2mZp9RtYb4");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "unknown_person");
    EXPECT_EQ(refused.error().message.find("kx7QvW2mZp9RtYb4"), std::string::npos);
}

TEST_F(ErasureRules, FindsThePersonsRecordsHoweverManyLieInQuarantine) {
    const auto annas = stores_.decide(1);
    std::vector<streaming::Record> outcomes, applications;
    const auto garbage = [](std::string key) {
        return streaming::Record{std::move(key), "\xff not a message", day(1), {}};
    };
    for (int i = 0; i < 2500; ++i) {
        outcomes.push_back(garbage(annas.id.value()));
        applications.push_back(garbage(annas.application.id.value()));
        if (i % 100 != 0) continue;
        outcomes.push_back(garbage("another's"));
        applications.push_back(garbage("another's"));
    }
    ASSERT_TRUE(stores_.log.append("outcomes", outcomes));
    ASSERT_TRUE(stores_.log.append("applications", applications));
    ASSERT_TRUE(stores_.catch_up());
    while (stores_.service.consumer->poll().value() > 0) continue;
    ASSERT_EQ(stores_.joiner->list_quarantined(9999)->size(), 2525u);
    ASSERT_EQ(stores_.service.consumer->list_quarantined(9999)->size(), 2525u);

    EXPECT_EQ(erase("p-1", true)->quarantined, 5000u);
    EXPECT_EQ(erase("p-1")->quarantined, 5000u);
    for (const auto& left : {stores_.joiner->list_quarantined(9999).value(),
                             stores_.service.consumer->list_quarantined(9999).value()}) {
        EXPECT_EQ(left.size(), 25u);
        for (const auto& one : left) EXPECT_EQ(one.record.key, "another's");
    }
    EXPECT_EQ(stores_.joiner->counts().dropped, 2500u);
}

TEST_F(ErasureRules, ADryRunSaysWhatThereIsAndChangesNothing) {
    const auto annas = stores_.decide(1);
    const auto entries = stores_.registry->audit_entries()->size();
    EXPECT_EQ(erase("p-1", true)->decisions.size(), 1u);
    EXPECT_EQ(refusal("p-2", true), "unknown_person");
    EXPECT_EQ(stores_.service.service->find(annas.id).value(), annas);
    EXPECT_EQ(stores_.registry->audit_entries()->size(), entries);
}

TEST_F(ErasureRules, AHoldForbidsItUntilItIsLifted) {
    const auto annas = stores_.decide(1);
    const auto tag = stores_.keys->tag_of(annas.application.person);
    ASSERT_TRUE(stores_.holds->add({tag, "court-7", "a claim", "counsel", day(90), {}}));
    const auto refused = erase("p-1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "on_hold");
    EXPECT_NE(refused.error().message.find("court-7"), std::string::npos);
    EXPECT_EQ(stores_.audited().action, "erase_refused");
    EXPECT_EQ(stores_.audited().details.at("why"), "on_hold");
    ASSERT_TRUE(stores_.holds->remove(tag, "court-7"));
    EXPECT_EQ(refusal("p-1"), "");
}

TEST_F(ErasureRules, DecisionsAreKeptForTheMonthsOfRetention) {
    stores_.decide(1);
    retention_months = 1;
    const auto refused = erase("p-1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "retention");
    EXPECT_NE(refused.error().message.find("1970-05-11"), std::string::npos)
        << refused.error().message;
}

TEST_F(ErasureRules, WhatWasBegunIsFinishedWhateverForbidsItByThen) {
    const auto annas = stores_.decide(1);
    const auto tag = stores_.keys->tag_of(annas.application.person);
    ASSERT_TRUE(stores_.holds->begin({tag, day(99), {{.id = annas.id.value()}}}));
    ASSERT_TRUE(stores_.holds->add({tag, "court-7", "a claim", "counsel", day(100), {}}));
    EXPECT_EQ(refusal("p-1"), "");
    EXPECT_FALSE(stores_.holds->pending(tag).value());
}

TEST_F(ErasureRules, NoOneWaitsForAReaderThatKeepsOldBytesButTheErasureItself) {
    const auto annas = stores_.decide(1);
    const auto look = [&](const domain::Decision&) -> base::Status {
        EXPECT_EQ(refusal("p-1"), "snapshot_held");
        EXPECT_EQ(waits_, 3);
        EXPECT_FALSE(stores_.joiner->find_decision(annas.id).value()) << "it is forgotten already";
        return base::ok();
    };
    ASSERT_TRUE(stores_.joiner->decisions(day(0), day(1000), look));
    EXPECT_EQ(waits_, 3) << "there was nothing to read";
    const auto tag = stores_.keys->tag_of(annas.application.person);
    EXPECT_TRUE(stores_.holds->pending(tag).value());
    const auto report = erase("p-1");
    ASSERT_TRUE(report) << report.error().message;
    const std::vector<joiner::PersonDecision> noted{
        {annas.application.person, annas.id, annas.application.id, annas.application.event_time,
         annas.decided_at}};
    EXPECT_EQ(report->decisions, noted) << "the joined state has it no more";
    EXPECT_FALSE(stores_.holds->pending(tag).value());
    EXPECT_EQ(stores_.service.service->find(annas.id).error().reason, "erased");
}

TEST_F(ErasureRules, WhatWasForgottenBeforeACrashStillFindsItsRecordsInQuarantine) {
    const streaming::Record unreadable{"a-7", "\xff not a message", day(1), {}};
    ASSERT_TRUE(stores_.log.append("applications", {&unreadable, 1}));
    ASSERT_TRUE(stores_.service.consumer->poll());
    ASSERT_EQ(stores_.service.consumer->list_quarantined(9)->size(), 1u);
    const auto tag = stores_.keys->tag_of(domain::PersonId("p-1"));
    ASSERT_TRUE(stores_.holds->begin({tag, day(99), {{"d-7", {{"a-7", day(1), day(1)}}}}}));
    EXPECT_EQ(erase("p-1")->quarantined, 1u);
    EXPECT_TRUE(stores_.service.consumer->list_quarantined(9)->empty());
}

TEST_F(ErasureRules, WantsAPersonAndAReason) {
    EXPECT_EQ(refusal(""), "bad_id");
    EXPECT_EQ(refusal("p-1", false, ""), "reason_missing");
}

TEST_F(ErasureRules, OfASharedLogItNamesWhatOthersHold) {
    const protected_attributes::ProtectedAttributes attributes{
        domain::PersonId("p-1"), day(100), {{"sex", "female"}}};
    ASSERT_TRUE(stores_.attributes->put({&attributes, 1}, {}));
    log.shared = true;
    log.partitions = 3;
    log.other_nodes = true;
    const auto report = erase("p-1", true);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_TRUE(remains(*report, "partitions 1, 2: held by other nodes"));
    EXPECT_TRUE(remains(*report, "other nodes' files"));
    EXPECT_TRUE(remains(*report, "the topic person-keys"));
    EXPECT_TRUE(remains(*report, "ask the node that trains")) << "attributes are not this node's";
}

}  // namespace
}  // namespace rampart::data_retention
