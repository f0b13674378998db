#include "rampart/data_retention/person_record.hpp"

#include <gtest/gtest.h>

#include "rampart/base/digest.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/explained_policy.hpp"
#include "support/small_stores.hpp"
#include "unit/registry/gate_run.hpp"

// Through the program, on sealed and encrypted stores: tests/integration/person_export_test.
namespace rampart::data_retention {
namespace {

using support::day;

class PersonRecords : public testing::Test {
  protected:
    ErasureDeps erasure() {
        return {{"decisions", 1, false, {streaming::PartitionId(0)}, false},
                0,
                {},
                stores_.log,
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
                [this] { return stores_.catch_up(); },
                [] { return true; }};
    }
    base::Result<PersonRecord> record_of(const std::string& person) {
        const auto with = erasure();
        const RecordDeps deps{with,
                              stores_.log,
                              wire::Topics::with_prefix(""),
                              [this](const auto& names) -> base::Result<std::vector<HeldJob>> {
                                  names_ = names;
                                  return jobs_;
                              },
                              left_over_,
                              trains_,
                              [this] { return allowed_; },
                              evidence_key_};
        return export_person(deps, {domain::PersonId(person), "officer", "request 9", day(100)});
    }
    std::string refusal(const std::string& person) {
        const auto record = record_of(person);
        return record ? "" : record.error().reason;
    }
    void append(const std::string& topic, const streaming::Record& record) {
        ASSERT_TRUE(stores_.log.append(topic, {&record, 1}));
    }
    void report(const domain::DecisionId& id, uint32_t revision = 0) {
        append("outcomes", wire::to_record(domain::Outcome{id, "repaid", revision, 1, day(50)}));
    }

    support::SmallStores stores_;
    std::mutex reading_;
    std::shared_mutex counting_;
    NamesOfPerson names_;
    std::vector<HeldJob> jobs_;
    std::vector<std::string> left_over_;
    bool trains_ = true;
    base::Status allowed_;
    std::string evidence_key_ = "a key of the tests";  // run_gate's
};

TEST_F(PersonRecords, HaveWhatEachPlaceHoldsOfThePersonAndNothingOfOthers) {
    const auto annas = stores_.decide(1), berts = stores_.decide(2);
    report(annas.id);
    report(berts.id);
    for (const auto& decision : {annas, berts}) {
        const protected_attributes::ProtectedAttributes attributes{
            decision.application.person, day(100), {{"sex", "female"}}};
        ASSERT_TRUE(stores_.attributes->put({&attributes, 1}, day(100)));
        ASSERT_TRUE(stores_.keys->prepare({&decision.application.person, 1}));
        ASSERT_TRUE(stores_.holds->add({stores_.keys->tag_of(decision.application.person),
                                        "court",
                                        "claim",
                                        "legal",
                                        day(100),
                                        {}}));
    }
    jobs_.push_back({"job", "erasure", "waiting", day(100), "{}"});
    const auto record = record_of("p-1").value();
    ASSERT_EQ(record.decisions.size(), 1u);
    const auto& held = record.decisions.at(annas.id.value());
    EXPECT_EQ(held.joined, annas);
    EXPECT_EQ(held.indexed, annas);
    EXPECT_EQ(held.state.reports.size(), 1u);
    EXPECT_EQ(record.log.size(), 2u) << "a decision and an outcome";
    EXPECT_TRUE(record.attributes);
    EXPECT_EQ(record.attribute_versions.size(), 1u);
    EXPECT_EQ(record.keys, 1u);
    EXPECT_EQ(record.holds.size(), 1u);
    EXPECT_EQ(record.jobs.size(), 1u);
    EXPECT_TRUE(names_.has(annas.id.value()) && names_.has("a-1"));
    EXPECT_FALSE(names_.has(berts.id.value()) || names_.has("a-2"));
    ASSERT_EQ(record.audit.size(), 1u);
    EXPECT_EQ(record.audit[0].action, "person_export");
    EXPECT_EQ(record.audit[0].details.at("person"), base::to_hex(record.tag.value()));
    EXPECT_EQ(stores_.audited(), record.audit[0]);
    EXPECT_FALSE(record.empty());
    EXPECT_FALSE(record.erased_at());
}

TEST_F(PersonRecords, WhatWaitsOrWasRejectedIsFoundByThePersonInIt) {
    stores_.decide(1);
    auto unknown = wire::to_record(support::make_application(3, day(100)));
    unknown.headers = {{"schema", "rampart.v9.Application/1"}};
    append("applications", unknown);
    report(domain::decision_id_of(domain::ApplicationId("a-3")), 7);
    ASSERT_TRUE(stores_.service.consumer->poll());
    const auto record = record_of("p-3").value();
    EXPECT_EQ(record.quarantine.size(), 1u);
    EXPECT_EQ(record.log.size(), 3u) << "as it came, as it was rejected, and its outcome";
    ASSERT_EQ(record.decisions.size(), 1u);
    const auto& unmatched = record.decisions.begin()->second;
    EXPECT_FALSE(unmatched.joined);
    ASSERT_EQ(unmatched.state.reports.size(), 1u);
    EXPECT_EQ(unmatched.state.reports[0].revision, 7u);
}

TEST_F(PersonRecords, WhoNamesAnothersApplicationGetsOnlyWhatTheySent) {
    const auto annas = stores_.decide(1);
    report(annas.id);
    auto foreign = support::make_application(1, day(1));
    foreign.person = domain::PersonId("p-9");
    append("applications", wire::to_record(foreign));
    ASSERT_TRUE(stores_.service.consumer->poll());
    const auto theirs = record_of("p-9").value();
    EXPECT_TRUE(theirs.decisions.empty());
    EXPECT_EQ(theirs.quarantine.size(), 1u);
    for (const auto& one : theirs.log) EXPECT_NE(one.topic, "outcomes");
    const auto mine = record_of("p-1").value();
    EXPECT_EQ(mine.quarantine.size(), 0u);
    EXPECT_EQ(mine.of_others, 3u) << "in the log, in its quarantine, in that of the index";
    EXPECT_EQ(mine.log.size(), 2u);
}

TEST_F(PersonRecords, WhatNodesHaveThatDecideOtherPartitionsIsSaid) {
    stores_.decide(1);
    const auto elsewhere = [&] {
        const auto record = record_of("p-1");
        EXPECT_TRUE(record) << record.error().message;
        std::string all;
        if (record)
            for (const auto& sentence : record->elsewhere) all += sentence + '\n';
        return all.find("partitions that other nodes decide: explanations") != std::string::npos;
    };
    EXPECT_FALSE(elsewhere()) << "this node decides all";
    stores_.service.service->give_up(streaming::PartitionId(0), "other");
    EXPECT_TRUE(elsewhere());
}

TEST_F(PersonRecords, AnEntryOfTheAuditLogIsOfWhomItNamesAndNotOfWhoHasANumberForAnId) {
    const auto annas = stores_.decide(1);
    auto waits = support::make_application(1, day(100));
    waits.id = domain::ApplicationId("3");
    append("applications", wire::to_record(waits));
    const auto record = [&](const char* action, std::map<std::string, std::string> details) {
        ASSERT_TRUE(stores_.registry->record_operation(day(100), "officer", action, details));
    };
    const auto tag = [&](const char* person) {
        return base::to_hex(stores_.keys->tag_of(domain::PersonId(person)).value());
    };
    record("erase", {{"person", tag("p-2")}, {"decisions", "3"}, {"reason", "bert asked"}});
    record("quarantine_drop", {{"topic", "t"}, {"offset", "3"}, {"reason", tag("p-1")}});
    record("override", {{"decision", annas.id.value()}, {"revision", "0"}});
    record("hold_add", {{"person", tag("p-1")}, {"matter", "m"}});
    std::vector<std::string> actions;
    for (const auto& entry : record_of("p-1").value().audit) actions.push_back(entry.action);
    EXPECT_TRUE(names_.applications.contains("3"));
    EXPECT_EQ(actions, (std::vector<std::string>{"override", "hold_add", "person_export"}));
}

TEST_F(PersonRecords, ARejectedRecordOfWhichNothingCanBeReadIsCounted) {
    stores_.decide(1);
    append("applications", {"any", "no message", day(1), {}});
    ASSERT_TRUE(stores_.service.consumer->poll());
    left_over_ = {"partitions/0/joins.damaged-1"};
    const auto record = record_of("p-1").value();
    EXPECT_EQ(record.unattributed, 1u);
    std::string elsewhere;
    for (const auto& sentence : record.elsewhere) elsewhere += sentence + '\n';
    EXPECT_NE(elsewhere.find("1 records that cannot be read"), std::string::npos);
    EXPECT_NE(elsewhere.find("joins.damaged-1"), std::string::npos);
}

TEST_F(PersonRecords, OfAnErasedPersonTheAuditLogIsLeftAndOfAStrangerNothing) {
    const auto annas = stores_.decide(1);
    report(annas.id);
    ASSERT_TRUE(erase_person(erasure(), {annas.application.person, "officer", "asked", day(100)}));
    stores_.log.topics["decisions"].partitions[0].front().record.value.clear();  // it was sealed
    const auto record = record_of("p-1").value();
    EXPECT_TRUE(record.empty());
    EXPECT_TRUE(record.erased_at());
    EXPECT_EQ(refusal("p-2"), "unknown_person");
    EXPECT_EQ(stores_.audited().details.at("person"), base::to_hex(record.tag.value()));
    EXPECT_EQ(refusal("p 2"), "bad_id");
}

TEST_F(PersonRecords, DamageIsNamedAndNothingIsGiven) {
    report(stores_.decide(1).id);
    ASSERT_TRUE(stores_.catch_up());
    auto& outcomes = stores_.log.topics["outcomes"];
    outcomes.failure = {base::ErrorCode::kDataLoss, "broken", "broken"};
    EXPECT_EQ(record_of("p-1").error().message, "log: broken");
    outcomes.failure = {};
    auto sealed = stores_.log.topics["decisions"].partitions[0].front();
    sealed.record.key = "d-unknown";
    sealed.record.value = "\x01 what cannot be opened";
    sealed.record.headers = {{"schema", std::string(wire::kSealedDecisionSchema)}};
    append("decisions", sealed.record);
    const auto refused = record_of("p-1");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().reason, "sealed_record_damaged");
    EXPECT_NE(refused.error().message.find("log: the record at offset 1"), std::string::npos)
        << refused.error().message;
    const auto entries = stores_.registry->audit_entries().value();
    for (const auto& entry : entries) EXPECT_NE(entry.action, "person_export");
}

TEST_F(PersonRecords, AHeaderThatSaysSealedStopsNoExportWhereTheLogSealsNothing) {
    stores_.decide(1);
    for (const char* topic : {"applications", "outcomes"}) {
        append(topic, {"any", "no message", day(1), {{"schema", "x+sealed/1"}}});
        append(topic, {"a-1", "no message", day(1), {{"schema", "x+sealed/1"}}});
    }
    const auto before = record_of("p-1");
    ASSERT_TRUE(before) << before.error().message;
    EXPECT_EQ(before->unattributed, 2u) << "also before the consumer rejects what waits";
    ASSERT_TRUE(stores_.service.consumer->poll());
    const auto record = record_of("p-1").value();
    EXPECT_EQ(record.unattributed, 2u) << "in the log, and the same in quarantine";
    EXPECT_EQ(record.quarantine.size(), 2u) << "those under the person's id";
    EXPECT_EQ(record_of("p-2").error().reason, "unknown_person");
}

TEST_F(PersonRecords, ProtectedAttributesAreOfThePersonInThemAndByTheKeyOnlyWhereThatIsUnknown) {
    stores_.decide(1);
    stores_.decide(2);
    const auto stated = [](const char* person, const char* sex) {
        return protected_attributes::encode({domain::PersonId(person), day(1), {{"sex", sex}}});
    };
    const std::string topic = "protected-attributes";
    stores_.log.create(topic, 1);
    append(topic, {"p-1", stated("p-2", "male"), day(1), {}});
    append(topic, {"p-1", stated("p-1", "female"), day(1), {}});
    append(topic, {"p-1", "\xff", day(1), {}});
    append(topic, {"p-1", "", day(2), {}});
    append(topic, {"any", stated("p-1", "male"), day(1), {}});
    const auto offsets = [](const PersonRecord& record) {
        std::vector<int64_t> found;
        for (const auto& one : record.log)
            if (one.place == PersonPlace::kAttributesTopic)
                found.push_back(one.stored.offset.value());
        return found;
    };
    const auto annas = record_of("p-1").value();
    EXPECT_EQ(offsets(annas), (std::vector<int64_t>{1, 2, 3, 4}));
    EXPECT_EQ(annas.of_others, 1u);
    const auto berts = record_of("p-2").value();
    EXPECT_EQ(offsets(berts), (std::vector<int64_t>{0}));
    EXPECT_EQ(berts.of_others, 0u);
}

TEST_F(PersonRecords, WhoIsInTheVaultIsKnownOnlyWhereTheTrainingSetsAreDivided) {
    std::set<std::string> sides;
    for (int i = 1; i <= 20; ++i) {
        const auto id = stores_.decide(i).application.person;
        const auto record = record_of(id.value()).value();
        EXPECT_EQ(record.in_vault, training_set::in_vault("", id)) << i;
        EXPECT_EQ(record.audit.back().details.at("vault"), *record.in_vault ? "yes" : "no") << i;
        sides.insert(record.audit.back().details.at("vault"));
    }
    EXPECT_EQ(sides.size(), 2u);
    trains_ = false;
    const auto record = record_of("p-1").value();
    EXPECT_FALSE(record.in_vault);
    EXPECT_EQ(record.audit.back().details.at("vault"), "unknown");
}

TEST_F(PersonRecords, OutcomesOfTheVaultAreShownOnlyWhereTheyMayBeAndARefusalIsNoEntry) {
    int in_vault = 1;
    while (!training_set::in_vault("", domain::PersonId(fmt::format("p-{}", in_vault)))) ++in_vault;
    int other = 1;
    while (training_set::in_vault("", domain::PersonId(fmt::format("p-{}", other)))) ++other;
    const auto decision = stores_.decide(in_vault);
    stores_.decide(other);
    allowed_ = base::Error{base::ErrorCode::kPermissionDenied, "audit_required", "no auditor"};
    const auto before = stores_.registry->audit_head();
    EXPECT_EQ(refusal(decision.application.person.value()), "audit_required");
    EXPECT_EQ(stores_.registry->audit_head(), before);
    const auto others = fmt::format("p-{}", other);
    EXPECT_EQ(refusal(others), "");
    trains_ = false;
    EXPECT_EQ(refusal(others), "audit_required") << "they may be in the vault";
    allowed_ = {};
    EXPECT_EQ(refusal(others), "");
    EXPECT_EQ(refusal(decision.application.person.value()), "");
    trains_ = true;
    allowed_ = base::Error{base::ErrorCode::kPermissionDenied, "audit_required", "no auditor"};
    ASSERT_TRUE(erase_person(erasure(), {decision.application.person, "o", "asked", day(100)}));
    stores_.log.topics["decisions"].partitions[0].front().record.value.clear();  // it was sealed
    EXPECT_EQ(refusal(decision.application.person.value()), "") << "there is no outcome to see";
}

TEST_F(PersonRecords, TheirRecordsInEvidenceAreFoundByThePseudonym) {
    namespace gate = registry::testing;
    auto& registry = *stores_.registry;
    const auto key = base::SigningKey::generate();
    const auto schema =
        dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}}).value();
    const model::BootstrapLink rule{"score", {{0, 0.2}, {1, 0.8}}, 0.5};
    const auto first = gate::must(registry.register_model(
        model::encode_model_file(model::Policy::create(schema, {rule}, {}, {}).value()), day(1),
        "anna"));
    const auto second = gate::must(registry.register_model(
        model::encode_model_file(support::explained_policy(schema, {support::scored_link(0.1)})),
        day(1), "anna"));
    const auto run = gate::run_gate(second.value(), first.value(), key, {}, 0.75, 0.25, 1);
    ASSERT_TRUE(registry.append_ledger_entries(0, run.ledger, day(3), "gate"));
    const auto certificate = gate::must(registry.store_certificate(
        {run.files.certificate, run.files.evidence, key.public_key()}, day(3), "gate"));
    std::set<std::string> lines;
    // records of the run's vault, each with its group
    for (const auto& [person, groups] :
         std::map<std::string, std::string>{{"vp5", "[1]"}, {"vp6", "[0]"}, {"vp2399", "[1]"}}) {
        const auto record = record_of(person).value();
        ASSERT_EQ(record.evidence.size(), 1u) << person;
        EXPECT_EQ(record.evidence[0].certificate, certificate);
        ASSERT_EQ(record.evidence[0].records.size(), 1u) << person;
        const auto& line = record.evidence[0].records[0];
        EXPECT_NE(run.files.evidence.find(line + '\n'), std::string::npos) << line;
        EXPECT_NE(line.find("\"groups\":" + groups), std::string::npos) << line;
        EXPECT_FALSE(record.empty());
        lines.insert(line);
    }
    EXPECT_EQ(lines.size(), 3u);
    EXPECT_EQ(refusal("vp2400"), "unknown_person");
    evidence_key_ = "another key";
    EXPECT_EQ(refusal("vp7"), "unknown_person");
}

TEST_F(PersonRecords, AnApplicationThatWaitsSaysWhoseItIs) {
    append("applications", wire::to_record(support::make_application(5, day(100))));
    const auto with = erasure();
    const RecordDeps deps{with,
                          stores_.log,
                          wire::Topics::with_prefix(""),
                          [](const auto&) { return std::vector<HeldJob>(); },
                          {}};
    EXPECT_EQ(person_waiting(deps, domain::ApplicationId("a-5")).value(), domain::PersonId("p-5"));
    EXPECT_FALSE(person_waiting(deps, domain::ApplicationId("a-6")).value());
    auto other = support::make_application(5, day(100));
    other.person = domain::PersonId("p-6");
    append("applications", wire::to_record(other));
    EXPECT_FALSE(person_waiting(deps, domain::ApplicationId("a-5")).value()) << "two are named";
}

}  // namespace
}  // namespace rampart::data_retention
