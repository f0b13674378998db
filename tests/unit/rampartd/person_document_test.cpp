#include "services/rampartd/person_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "rampart/base/digest.hpp"
#include "rampart/wire/record_codec.hpp"
#include "support/explained_policy.hpp"
#include "support/small_stores.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::rampartd {
namespace {

namespace json = boost::json;
using data_retention::HeldDecision;
using data_retention::PersonPlace;
using data_retention::PersonRecord;
using data_retention::RecordKind;
using support::day;
using testing::HasSubstr;

PersonRecord empty_record() {
    PersonRecord record;
    record.person = domain::PersonId("p-1");
    record.tag = privacy::PersonTag(std::string(16, 't'));
    record.at = day(100);
    return record;
}

TEST(PersonDocument, OfNothingHasEveryMemberAndSaysSo) {
    const auto document = json::parse(to_json(empty_record(), {})).as_object();
    EXPECT_EQ(document.at("nothing_held"), true);
    EXPECT_EQ(document.at("person_id"), "p-1");
    EXPECT_TRUE(document.at("erased_at").is_null());
    for (const char* member : {"decisions", "log", "quarantine", "legal_holds", "jobs", "evidence",
                               "audit", "policies", "elsewhere"})
        EXPECT_TRUE(document.at(member).as_array().empty()) << member;
}

TEST(PersonDocument, HasADecisionWithWhatBecameOfIt) {
    auto record = empty_record();
    HeldDecision held;
    held.joined = held.indexed = support::make_decision("1", day(1));
    held.indexed->request_id = "differs";
    held.state.reports.push_back({"repaid", 3, 0.1, day(2), false, day(3)});
    held.state.reports.push_back({"score", 0, 0, day(2), true, day(3)});
    held.state.versions.push_back({"repaid", 1, 0.1, 3, day(41), day(42)});
    held.state.taken.push_back(
        {2, domain::Action::kApprove, "underwriter", "code", day(4), day(5)});
    held.explanation = R"({"text":"why"})";
    record.decisions["d-1"] = held;
    const auto document = json::parse(to_json(record, {}));
    const auto& one = document.at("decisions").at(0);
    EXPECT_EQ(one.at("arrived"), true);
    EXPECT_EQ(one.at("decision").at("application").at("person_id"), "p-1");
    EXPECT_EQ(one.at("decision_in_index").at("request_id"), "differs");
    EXPECT_EQ(one.at("outcomes").at(0).at("value").as_double(), 0.1);
    EXPECT_EQ(one.at("outcomes").at(1).at("censored"), true);
    EXPECT_EQ(one.at("joined").at(0).at("version"), 1);
    EXPECT_EQ(one.at("overrides").at(0).at("actor"), "underwriter");
    EXPECT_EQ(one.at("explanation").at("text"), "why");
}

TEST(PersonDocument, ARecordIsShownByItsKindAndWhatCannotBeReadAsItsBytes) {
    auto record = empty_record();
    const auto add = [&](RecordKind kind, const streaming::Record& value) {
        record.log.push_back({PersonPlace::kLog,
                              kind,
                              "topic",
                              {streaming::PartitionId(1), streaming::Offset(2), value}});
    };
    const auto decision = support::make_decision("1", day(1));
    add(RecordKind::kApplication, wire::to_record(decision.application));
    add(RecordKind::kDecision, wire::to_record(decision, 4));
    add(RecordKind::kOutcome,
        wire::to_record(domain::Outcome{decision.id, "repaid", 0, 1, day(2)}));
    add(RecordKind::kOutcome, wire::to_record(domain::Override{
                                  decision.id, 0, domain::Action::kApprove, "u", "r", day(2)}));
    add(RecordKind::kDecision, wire::to_record(domain::Erasure{decision.id, day(3)}));
    add(RecordKind::kApplication, {"k", "\xff\"text", day(1), {{"name", "value"}}});
    const auto log = json::parse(to_json(record, {})).at("log").as_array();
    EXPECT_EQ(log[0].at("application").at("application_id"), "a-1");
    EXPECT_EQ(log[1].at("decision").at("decision_id"), "d-1");
    EXPECT_EQ(log[1].at("headers").at("epoch"), "4");
    EXPECT_EQ(log[2].at("outcome").at("measure"), "repaid");
    EXPECT_EQ(log[3].at("override").at("actor"), "u");
    EXPECT_EQ(log[4].at("erasure"), true);
    EXPECT_EQ(log[5].at("value_hex"), "ff2274657874");
    EXPECT_THAT(json::value_to<std::string>(log[5].at("value_text")), HasSubstr("\"text"));
    EXPECT_EQ(log[5].at("place"), "log");
}

TEST(PersonDocument, NamesThePoliciesThatDecidedAndFailsOnADamagedFile) {
    support::SmallStores stores;
    const auto policy = support::constant_policy(0.5);
    ASSERT_TRUE(
        stores.registry->register_model(model::encode_model_file(policy->policy), day(1), "anna"));
    auto record = empty_record();
    auto decision = support::make_decision("1", day(1));
    decision.policy = policy->id;
    record.decisions["d-1"].joined = decision;
    decision.policy = domain::PolicyId(std::string(64, 'f'));
    record.decisions["d-2"].indexed = decision;
    const auto registered = in_registry(record, *stores.registry).value();
    ASSERT_EQ(registered.policies.size(), 2u);
    const auto text = to_json(record, registered);
    EXPECT_THAT(text, HasSubstr("registry/models/" + policy->id.value() + ".rmp"));
    EXPECT_THAT(text, HasSubstr(std::string(64, 'f')));
    stores.damage_model(policy->id);
    const auto damaged = in_registry(record, *stores.registry);
    ASSERT_FALSE(damaged);
    EXPECT_THAT(damaged.error().message, HasSubstr("registry, model"));
}

TEST(PersonDocument, HasWhatAnErasureUnderWayHasNoted) {
    auto record = empty_record();
    record.erasure = privacy::PendingErasure{
        record.tag, day(9), {{"d-1", {{"a-1", day(1), day(2)}}}, {"d-2", {}}}};
    const auto document = json::parse(to_json(record, {}));
    const auto& decisions = document.at("erasure_under_way").at("decisions").as_array();
    ASSERT_EQ(decisions.size(), 2u);
    EXPECT_EQ(decisions[0].at("application_id"), "a-1");
    EXPECT_EQ(decisions[0].at("event_time"), json::value(base::to_iso8601(day(1))));
    EXPECT_EQ(decisions[0].at("decided_at"), json::value(base::to_iso8601(day(2))));
    EXPECT_EQ(decisions[1].at("decision_id"), "d-2") << "as an earlier release noted it";
}

TEST(PersonDocument, HasNoDigestThatDependsOnTheVault) {
    using registry::testing::must;
    support::SmallStores stores;
    auto& registry = *stores.registry;
    const auto key = base::SigningKey::generate();
    const auto schema =
        dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}}).value();
    const model::BootstrapLink rule{"score", {{0, 0.2}, {1, 0.8}}, 0.5};
    const auto first = must(registry.register_model(
        model::encode_model_file(model::Policy::create(schema, {rule}, {}, {}).value()), day(1),
        "anna"));
    const auto second = must(registry.register_model(
        model::encode_model_file(support::explained_policy(schema, {support::scored_link(0.1)})),
        day(1), "anna"));
    const auto run =
        registry::testing::run_gate(second.value(), first.value(), key, {}, 0.75, 0.25, 1);
    ASSERT_TRUE(registry.append_ledger_entries(0, run.ledger, day(3), "gate"));
    const auto digest = must(registry.store_certificate(
        {run.files.certificate, run.files.evidence, key.public_key()}, day(3), "gate"));
    auto record = empty_record();
    auto decision = support::make_decision("1", day(4));
    decision.policy = second;
    record.decisions["d-1"].joined = decision;
    // no entry about a person has a certificate today; this one stands for those to come
    record.audit = must(registry.audit_entries());
    record.evidence.push_back({digest, {R"({"unit":"ab","impact":75})"}});
    const auto text = to_json(record, must(in_registry(record, registry)));
    EXPECT_EQ(text.find(digest.hex()), std::string::npos) << text;
    for (const auto& line : run.ledger)
        EXPECT_EQ(text.find(base::sha256(line).hex()), std::string::npos) << text;
    const auto document = json::parse(text);
    const auto& certificates = document.at("policies").at(0).at("certificates").as_array();
    ASSERT_EQ(certificates.size(), 1u);
    EXPECT_EQ(certificates[0].at("certificate"), "e1r1");
    const auto& evidence = document.at("evidence").at(0);
    EXPECT_EQ(evidence.at("certificate"), "e1r1");
    EXPECT_EQ(evidence.at("records").at(0).at("impact"), 75);
    const auto& audit = document.at("audit").as_array();
    ASSERT_EQ(audit.size(), record.audit.size());
    EXPECT_EQ(audit[0].at("principal"), "anna");
    EXPECT_EQ(audit[0].at("number"), 1);
}

}  // namespace
}  // namespace rampart::rampartd
