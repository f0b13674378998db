#include "rampart/registry/audit_reading.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>

#include "rampart/base/digest.hpp"
#include "support/explained_policy.hpp"
#include "unit/registry/audit_files.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::registry {
namespace {

using testing::at;
using testing::must;

/// Entries by anna, bert and carl at seconds 1, 2, 3, ...
class AuditReading : public ::testing::Test {
  protected:
    AuditReading()
        : folder_(std::filesystem::path(::testing::TempDir()) /
                  ("audit_reading" + base::to_hex(base::random_bytes(8)))),
          registry_(must(ModelRegistry::open(folder_))) {}
    ~AuditReading() override {
        registry_.reset();
        std::filesystem::remove_all(folder_);
    }
    void record(const std::string& actor, const std::string& action,
                std::map<std::string, std::string> details) {
        EXPECT_TRUE(registry_->record_operation(at(++second_), actor, action, std::move(details)));
    }
    void fill() {
        record("anna", "override",
               {{"decision", "d1"}, {"revision", "0"}, {"action_taken", "decline"}});
        record("bert", "hold_add", {{"person", "ab12"}, {"matter", "m"}, {"reason", "d1"}});
        record("anna", "token_create", {{"principal", "carl"}, {"scopes", "read audit"}});
        record("carl", "accept_gap", {{"topic", "outcomes"}, {"partition", "3"}});
        record("anna", "something_new", {{"model", "d1"}});
    }
    AuditPage page(const std::map<std::string, std::string>& parts) {
        return must(read_audit_page(*registry_, must(parse_audit_request(parts, "$."))));
    }
    std::vector<uint64_t> numbers(const std::map<std::string, std::string>& parts) {
        std::vector<uint64_t> out;
        for (const auto& entry : page(parts).entries) out.push_back(entry.number);
        return out;
    }

    std::filesystem::path folder_;
    std::unique_ptr<ModelRegistry> registry_;
    int64_t second_ = 0;
};

using Numbers = std::vector<uint64_t>;

TEST_F(AuditReading, EntriesBehindANumberAreReadWithoutThoseBeforeIt) {
    fill();
    const auto read = [&](uint64_t after, size_t most) {
        Numbers found;
        for (const auto& entry : must(registry_->audit_entries(after, most)))
            found.push_back(entry.sequence);
        return found;
    };
    EXPECT_EQ(read(0, 100), (Numbers{1, 2, 3, 4, 5}));
    EXPECT_EQ(read(2, 2), (Numbers{3, 4}));
    EXPECT_EQ(read(4, 100), Numbers{5});
    EXPECT_EQ(read(2, 0), Numbers{});
    EXPECT_EQ(read(5, 100), Numbers{});
    EXPECT_EQ(read(UINT64_MAX, 100), Numbers{});
    EXPECT_EQ(must(registry_->audit_entries()).size(), 5u);
}

TEST_F(AuditReading, AnEntryHasPrincipalObjectBeforeAndAfterWhereTheyAreRecorded) {
    fill();
    const auto all = page({}).entries;
    ASSERT_EQ(all.size(), 5u);
    EXPECT_EQ(all[0].principal, "anna");
    EXPECT_EQ(all[0].object, "d1");
    EXPECT_EQ(all[0].before, "");
    EXPECT_EQ(all[0].after, "decline");
    EXPECT_EQ(all[2].object, "carl");
    EXPECT_EQ(all[2].after, "read audit");
    EXPECT_EQ(all[3].object, "outcomes");
    EXPECT_EQ(all[4].object, "") << "what an action of another release acts on is not guessed";
    EXPECT_EQ(to_json(all[1]),
              R"({"number":2,"at":"1970-01-01T00:00:02Z","principal":"bert","action":"hold_add",)"
              R"("object":"ab12","before":null,"after":null,)"
              R"("details":{"matter":"m","person":"ab12","reason":"d1"},"withheld":[]})");
    record("bert", "person_export", {{"person", "cd34"}, {"vault", "yes"}});
    EXPECT_EQ(page({{"action", "person_export"}}).entries.at(0).object, "cd34");
    EXPECT_EQ(to_json(page({{"action", "none"}})), R"({"entries":[],"next_cursor":null})");
}

TEST_F(AuditReading, EachFilterLeavesWhatItNames) {
    fill();
    EXPECT_EQ(numbers({{"principal", "anna"}}), (Numbers{1, 3, 5}));
    EXPECT_EQ(numbers({{"action", "hold_add"}}), (Numbers{2}));
    EXPECT_EQ(numbers({{"object", "d1"}}), (Numbers{1, 5})) << "but not what a reason says";
    EXPECT_EQ(numbers({{"object", "3"}}), (Numbers{4})) << "a detail";
    EXPECT_EQ(numbers({{"from", "1970-01-01T00:00:03Z"}}), (Numbers{3, 4, 5}));
    EXPECT_EQ(numbers({{"to", "1970-01-01T00:00:03Z"}}), (Numbers{1, 2}));
    EXPECT_EQ(numbers({{"principal", "anna"}, {"from", "1970-01-01T00:00:02Z"}, {"limit", "1"}}),
              (Numbers{3}));
    EXPECT_EQ(numbers({{"principal", "ann"}}), Numbers{});
}

TEST_F(AuditReading, PagesHaveEachEntryOnceAlsoWhereEntriesAreAppendedMeanwhile) {
    for (int i = 0; i < 25; ++i) record(i % 5 == 0 ? "bert" : "anna", "a", {});
    Numbers seen;
    std::optional<uint64_t> cursor = 0;
    while (cursor) {
        const auto one =
            page({{"principal", "anna"}, {"limit", "7"}, {"cursor", std::to_string(*cursor)}});
        for (const auto& entry : one.entries) seen.push_back(entry.number);
        EXPECT_LE(one.entries.size(), 7u);
        cursor = one.next;
        if (second_ < 28) record("anna", "a", {});
    }
    Numbers wanted;
    for (uint64_t i = 1; i <= 28; ++i)
        if (i > 25 || i % 5 != 1) wanted.push_back(i);
    EXPECT_EQ(seen, wanted);
    EXPECT_EQ(numbers({{"cursor", "28"}}), Numbers{});
    record("anna", "a", {});
    EXPECT_EQ(numbers({{"cursor", "28"}}), (Numbers{29})) << "the last number goes on";
}

TEST_F(AuditReading, WhatIsNoFilterIsRefusedAndNamed) {
    const auto refused = [](const std::string& name, const std::string& text) {
        const auto parsed = parse_audit_request({{name, text}}, "--");
        return parsed ? "taken" : parsed.error().message;
    };
    for (const char* name : {"limit", "cursor", "from", "to", "principal", "who"}) {
        const auto said = refused(name, "");
        EXPECT_TRUE(said.starts_with(fmt::format("--{}: ", name))) << said;
    }
    for (const auto& [name, text] :
         std::vector<std::pair<std::string, std::string>>{{"limit", "0"},
                                                          {"limit", "1001"},
                                                          {"limit", "ten"},
                                                          {"limit", "1 "},
                                                          {"cursor", "-1"},
                                                          {"cursor", "9007199254740992"},
                                                          {"from", "soon"},
                                                          {"to", "1970-13-01"},
                                                          {"secret", "x"}}) {
        const auto said = refused(name, text);
        EXPECT_TRUE(said.starts_with(fmt::format("--{}: ", name))) << said;
    }
    EXPECT_EQ(refused("limit", "1000"), "taken");
    EXPECT_EQ(refused("cursor", "9007199254740991"), "taken");
    const auto turned = parse_audit_request({{"from", "1970-01-02"}, {"to", "1970-01-02"}}, "$.");
    ASSERT_FALSE(turned);
    EXPECT_EQ(turned.error().reason, "bad_time");
    EXPECT_TRUE(turned.error().message.starts_with("$.to: ")) << turned.error().message;
}

TEST_F(AuditReading, OneEntryIsFoundByItsNumber) {
    fill();
    EXPECT_EQ(must(read_audit_entry(*registry_, 5))->action, "something_new");
    for (const uint64_t number : {uint64_t{0}, uint64_t{6}, UINT64_MAX})
        EXPECT_FALSE(must(read_audit_entry(*registry_, number))) << number;
}

TEST_F(AuditReading, BytesOfAnEarlierReleaseThatAreNotUtf8SpoilNoPage) {
    fill();
    AuditEntry entry{.sequence = 6,
                     .at = at(6),
                     .actor = "dora\xe9",
                     .action = "person_export",
                     .details = {{"reason", "caf\xe9"}},
                     .previous = registry_->audit_head().hash,
                     .hash = {}};
    entry.hash = hash_of(entry);
    registry_.reset();
    testing::put_audit(folder_, 6, encode(entry));
    ASSERT_TRUE(base::write_file_atomically(folder_ / "audit.head", to_text(head_of(entry))));
    registry_ = must(ModelRegistry::open(folder_));
    boost::system::error_code failure;
    const auto read = boost::json::parse(to_json(page({})), failure);
    ASSERT_FALSE(failure) << failure.message();
    const auto& last = read.at("entries").at(5);
    EXPECT_EQ(last.at("principal"), "dora\uFFFD");
    EXPECT_EQ(last.at("details").at("reason"), "caf\uFFFD");
    EXPECT_EQ(numbers({{"principal", "dora\uFFFD"}}), (Numbers{6})) << "as it is shown";
}

TEST_F(AuditReading, DigestsThatDependOnTheVaultAreNeitherShownNorFound) {
    const auto key = base::SigningKey::generate();
    const auto schema =
        dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}}).value();
    const model::BootstrapLink rule{"score", {{0, 0.2}, {1, 0.8}}, 0.5};
    const auto first = must(registry_->register_model(
        model::encode_model_file(model::Policy::create(schema, {rule}, {}, {}).value()), at(1),
        "anna"));
    const auto second = must(registry_->register_model(
        model::encode_model_file(support::explained_policy(schema, {support::scored_link(0.1)})),
        at(1), "anna"));
    must(registry_->bootstrap_champion(first, at(2), "anna"));
    const auto run = testing::run_gate(second.value(), first.value(), key, {}, 0.75, 0.25, 1);
    EXPECT_TRUE(registry_->append_ledger_entries(0, run.ledger, at(3), "gate"));
    const Proof proof{run.files.certificate, run.files.evidence, key.public_key()};
    const auto digest = must(registry_->store_certificate(proof, at(3), "gate"));
    must(registry_->promote(second, proof, at(4), "bert"));
    const auto all = page({});
    const auto json = to_json(all);
    EXPECT_EQ(json.find(digest.hex()), std::string::npos) << json;
    for (const auto& line : run.ledger)
        EXPECT_EQ(json.find(base::sha256(line).hex()), std::string::npos) << json;
    EXPECT_EQ(numbers({{"object", "e1r1"}}).size(), 2u) << "certify and promote";
    EXPECT_EQ(numbers({{"object", digest.hex()}}), Numbers{});
    EXPECT_EQ(numbers({{"object", base::sha256(run.ledger.back()).hex()}}), Numbers{});
    const auto ledger = page({{"action", "ledger"}}).entries;
    ASSERT_EQ(ledger.size(), 1u);
    EXPECT_EQ(ledger[0].withheld.size(), run.ledger.size());
    const auto promoted = page({{"action", "promote"}}).entries;
    ASSERT_EQ(promoted.size(), 1u);
    EXPECT_EQ(promoted[0].object, second.value());
    EXPECT_EQ(promoted[0].before, first.value());
    EXPECT_EQ(promoted[0].after, second.value());
    EXPECT_EQ(promoted[0].details.at("certificate"), "e1r1");
}

}  // namespace
}  // namespace rampart::registry
