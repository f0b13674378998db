#include "rampart/registry/model_registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "rampart/base/limits.hpp"
#include "rampart/storage/database.hpp"
#include "support/explained_policy.hpp"
#include "support/places.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::registry {
namespace {

namespace fs = std::filesystem;
using certification::Verdict;
using testing::at;
using ::testing::HasSubstr;
using testing::run_gate;

dataset::FeatureSchema schema() {
    return dataset::FeatureSchema::create({{"score", dataset::FeatureKind::kNumeric, {}}}).value();
}

std::string bootstrap_file(double top = 0.8) {
    const model::BootstrapLink link{
        .feature = "score", .points = {{0, 0.2}, {1, top}}, .missing = 0.5};
    return model::encode_model_file(model::Policy::create(schema(), {link}, {}, {}).value());
}

/// Learnt policies that differ in one number.
std::string learned_file(double base_score) {
    return model::encode_model_file(
        support::explained_policy(schema(), {support::scored_link(base_score)}));
}

class ModelRegistryTest : public ::testing::Test {
  protected:
    ModelRegistryTest()
        : folder_(fs::path(::testing::TempDir()) /
                  ("registry." +
                   std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) +
                   "." + std::to_string(getpid()))) {
        fs::remove_all(folder_);
        reopen();
    }
    ~ModelRegistryTest() override {
        registry_.reset();
        fs::remove_all(folder_);
    }

    void reopen() {
        registry_.reset();
        auto opened = ModelRegistry::open(folder_);
        ASSERT_TRUE(opened) << opened.error().message;
        registry_ = std::move(*opened);
    }
    base::Error error_on_open() {
        registry_.reset();
        auto opened = ModelRegistry::open(folder_);
        return opened ? base::Error{} : opened.error();
    }

    domain::PolicyId add(const std::string& file) {
        return registry_->register_model(file, at(5), "trainer").value();
    }
    /// Bootstrap and two learnt policies; the bootstrap decides from second 10.
    void start() {
        first_ = add(bootstrap_file());
        a_ = add(learned_file(0.1));
        b_ = add(learned_file(0.2));
        ASSERT_TRUE(registry_->bootstrap_champion(first_, at(10), "anna"));
    }
    /// A run of the gate whose charge is kept in the registry, as it must be.
    testing::GateRun charged_run(const domain::PolicyId& candidate,
                                 const domain::PolicyId& reference, double good = 0.75,
                                 double bad = 0.25, unsigned valid_months = 0) {
        auto run = run_gate(candidate.value(), reference.value(), key_,
                            registry_->ledger_entries().value(), good, bad, valid_months);
        for (size_t i = 0; i < run.ledger.size(); ++i) {
            EXPECT_TRUE(registry_->append_ledger_entries(i, std::vector<std::string>{run.ledger[i]},
                                                         at(6), "gate"));
        }
        return run;
    }
    Proof proof(const testing::GateRun& run) const {
        return {run.files.certificate, run.files.evidence, key_.public_key()};
    }
    std::string refusal(const domain::PolicyId& candidate, const Proof& proof,
                        int64_t second = 20) {
        const auto before = registry_->promotions();
        const auto head = registry_->audit_head();
        auto promoted = registry_->promote(candidate, proof, at(second), "anna");
        EXPECT_EQ(registry_->promotions(), before);
        EXPECT_EQ(registry_->audit_head(), head);
        return promoted ? "" : promoted.error().reason;
    }
    domain::PolicyId champion() const { return registry_->champion().value().policy; }

    fs::path folder_;
    std::unique_ptr<ModelRegistry> registry_;
    base::SigningKey key_ = base::SigningKey::generate();
    domain::PolicyId first_, a_, b_;
};

TEST_F(ModelRegistryTest, ModelsAreKeptByTheirDigestAndSurviveAReopening) {
    const auto file = learned_file(0.5);
    const auto id = add(file);
    EXPECT_EQ(id, model::policy_id_of(file));
    EXPECT_EQ(add(file), id);  // the same again
    const auto head = registry_->audit_head();
    EXPECT_EQ(head.count, 1u);
    reopen();
    EXPECT_EQ(registry_->audit_head(), head);
    const auto models = registry_->models().value();
    ASSERT_EQ(models.size(), 1u);
    EXPECT_EQ(models[0].id, id);
    EXPECT_EQ(models[0].actor, "trainer");
    EXPECT_EQ(models[0].registered_at, at(5));
    EXPECT_EQ(models[0].bytes, file.size());
    EXPECT_EQ(model::encode_model_file(registry_->load_model(id).value().policy), file);
}

/// Programs of today would write this policy in another form, with another id.
TEST_F(ModelRegistryTest, AModelOfAnOlderFormIsKeptAsItIs) {
    std::ifstream golden(test_support::source_dir() + "/tests/golden/model_v1_state_as_text.hex");
    std::string hex;
    golden >> hex;
    const auto file = base::from_hex(hex).value();
    const auto id = add(file);
    EXPECT_EQ(id, model::policy_id_of(file));
    reopen();
    const auto loaded = registry_->load_model(id).value();
    EXPECT_EQ(loaded.id, id);
    EXPECT_NE(model::encode_model_file(loaded.policy), file);
    EXPECT_EQ(registry_->model_file(id).value(), file);
    EXPECT_EQ(registry_->model_file(domain::PolicyId(base::sha256("?").hex())).error().reason,
              "unknown_model");
}

TEST_F(ModelRegistryTest, AFileThatIsNoModelIsRefusedAndAnUnknownIdIsNamed) {
    EXPECT_FALSE(registry_->register_model("RAMPARTM, not really", at(1), "trainer"));
    const auto file = learned_file(0.5);
    EXPECT_FALSE(registry_->register_model(file.substr(0, file.size() - 1), at(1), "trainer"));
    EXPECT_TRUE(registry_->models().value().empty());
    for (const std::string& id :
         {std::string(64, 'a'), std::string("../../etc/passwd"), std::string()}) {
        EXPECT_EQ(registry_->load_model(domain::PolicyId(id)).error().reason, "unknown_model");
    }
}

TEST_F(ModelRegistryTest, NamesEveryFileThatItOrItsAuditLogSpeaksOf) {
    start();
    const auto run = charged_run(a_, first_);
    ASSERT_TRUE(registry_->promote(a_, proof(run), at(20), "anna"));
    ASSERT_TRUE(registry_->rollback(at(30), "anna", "a test"));
    const auto named = registry_->documents().value();
    std::map<std::string, base::Digest> there;
    for (const char* folder : {"models", "certificates", "evidence"}) {
        for (const auto& file : fs::directory_iterator(folder_ / folder)) {
            const auto id = base::Digest::from_hex(file.path().stem().string()).value();
            there.emplace(fmt::format("{}/{}", folder, file.path().filename().string()), id);
        }
    }
    EXPECT_EQ(there.size(), 5u);
    EXPECT_EQ(named, there);
    fs::remove_all(folder_ / "models");  // named all the same
    EXPECT_EQ(registry_->documents().value(), there);
}

// bad input would close a gate run for good; damage leaves it open until the file is restored
TEST_F(ModelRegistryTest, AFolderOrAnOverlongFileInPlaceOfAModelIsDamageNotBadInput) {
    const auto id = add(learned_file(0.5));
    const auto path = folder_ / "models" / (id.value() + ".rmp");
    fs::remove(path);
    fs::create_directory(path);
    EXPECT_EQ(registry_->load_model(id).error().code, base::ErrorCode::kDataLoss);
    fs::remove(path);
    std::ofstream(path, std::ios::binary).close();
    fs::resize_file(path, base::limits::kMaxModelFileBytes + 1);
    EXPECT_EQ(registry_->load_model(id).error().code, base::ErrorCode::kDataLoss);
}

TEST_F(ModelRegistryTest, ADamagedOrMissingModelFileIsDataLossNotAnotherModel) {
    const auto id = add(learned_file(0.5));
    const auto path = folder_ / "models" / (id.value() + ".rmp");
    std::ofstream(path, std::ios::binary) << learned_file(0.6);  // sound, but another
    EXPECT_EQ(registry_->load_model(id).error().reason, "model_digest");
    EXPECT_EQ(add(learned_file(0.5)), id);  // registering it again mends the file
    EXPECT_TRUE(registry_->load_model(id));
    fs::remove(path);
    EXPECT_EQ(registry_->load_model(id).error().reason, "unknown_model");
}

TEST_F(ModelRegistryTest, TheFirstChampionIsADeclaredRuleAndMarkedUncertified) {
    EXPECT_FALSE(registry_->champion());
    const auto learned = add(learned_file(0.5));
    EXPECT_EQ(registry_->bootstrap_champion(learned, at(10), "anna").error().reason,
              "not_a_bootstrap");
    const auto first = add(bootstrap_file());
    const auto other = add(bootstrap_file(0.9));
    const auto promotion = registry_->bootstrap_champion(first, at(10), "anna").value();
    EXPECT_EQ(promotion.kind, PromotionKind::kBootstrap);
    EXPECT_FALSE(promotion.certified());
    EXPECT_EQ(registry_->bootstrap_champion(first, at(11), "anna").value(), promotion);
    EXPECT_EQ(registry_->bootstrap_champion(other, at(11), "anna").error().reason,
              "champion_exists");
    EXPECT_EQ(registry_->promotions().size(), 1u);
}

TEST_F(ModelRegistryTest, ACertifiedModelBecomesChampionInOneStepThatSurvives) {
    start();
    const auto run = charged_run(a_, first_);
    ASSERT_EQ(run.verdict, Verdict::kCertified);
    const auto promotion = registry_->promote(a_, proof(run), at(20), "anna").value();
    EXPECT_EQ(promotion.policy, a_);
    EXPECT_EQ(promotion.replaced, first_);
    EXPECT_EQ(promotion.certificate, base::sha256(run.files.certificate));
    reopen();
    EXPECT_EQ(registry_->champion(), promotion);
    EXPECT_EQ(registry_->live_at(at(19))->policy, first_);
    EXPECT_EQ(registry_->live_at(at(20))->policy, a_);
    EXPECT_FALSE(registry_->live_at(at(9)));
    const auto entry = registry_->audit_entries().value().back();
    EXPECT_EQ(entry.action, "promote");
    EXPECT_EQ(entry.actor, "anna");
    EXPECT_EQ(entry.details.at("model"), a_.value());
    EXPECT_EQ(entry.details.at("replaced"), first_.value());
    EXPECT_EQ(entry.details.at("certificate"), promotion.certificate->hex());
    EXPECT_TRUE(registry_->verify_audit());
    const auto certificates = registry_->certificates().value();
    ASSERT_EQ(certificates.size(), 1u);
    EXPECT_EQ(certificates[0].verdict, "CERTIFIED");
    EXPECT_EQ(registry_->certificate_file(certificates[0].id).value(), run.files.certificate);
    EXPECT_EQ(registry_->evidence_file(*certificates[0].evidence).value(), run.files.evidence);
}

TEST_F(ModelRegistryTest, PromotingAgainWithTheSameCertificateChangesNothing) {
    start();
    const auto run = charged_run(a_, first_);
    const auto promotion = registry_->promote(a_, proof(run), at(20), "anna").value();
    const auto head = registry_->audit_head();
    reopen();
    EXPECT_EQ(registry_->promote(a_, proof(run), at(25), "anna").value(), promotion);
    EXPECT_EQ(registry_->audit_head(), head);
}

TEST_F(ModelRegistryTest, ACertificateOfAnotherModelIsRefused) {
    start();
    const auto run = charged_run(a_, first_);
    EXPECT_EQ(refusal(b_, proof(run)), "other_model");
    EXPECT_EQ(champion(), first_);
}

TEST_F(ModelRegistryTest, AnyVerdictButCertifiedIsRefused) {
    start();
    const auto worse = charged_run(a_, first_, 0.25, 0.75);
    ASSERT_EQ(worse.verdict, Verdict::kNoSolutionFound);
    EXPECT_EQ(refusal(a_, proof(worse)), "not_certified");
    const auto refused = charged_run(a_, first_, 0.9, 0.1);  // outside the trust region
    ASSERT_EQ(refused.verdict, Verdict::kRefused);
    EXPECT_EQ(refusal(a_, proof(refused)), "not_certified");
}

TEST_F(ModelRegistryTest, ACertificateAgainstAnOlderChampionIsStale) {
    start();
    const auto for_a = charged_run(a_, first_);
    const auto for_b = charged_run(b_, first_);
    ASSERT_TRUE(registry_->promote(a_, proof(for_a), at(20), "anna"));
    EXPECT_EQ(refusal(b_, proof(for_b), 21), "stale_reference");
    EXPECT_EQ(champion(), a_);
}

TEST_F(ModelRegistryTest, TamperedCertificateOrEvidenceAndAnotherKeyAreRefused) {
    start();
    const auto run = charged_run(a_, first_);
    const auto& [certificate, evidence] = run.files;
    auto flipped = certificate;
    flipped[flipped.size() / 2] ^= 1;
    auto cut_evidence = evidence.substr(0, evidence.find('\n') + 1);
    const auto other_key = base::SigningKey::generate();
    EXPECT_EQ(refusal(a_, {flipped, evidence, key_.public_key()}), "certificate_invalid");
    EXPECT_EQ(refusal(a_, {certificate, cut_evidence, key_.public_key()}), "certificate_invalid");
    EXPECT_EQ(refusal(a_, {certificate, "", key_.public_key()}), "certificate_invalid");
    EXPECT_EQ(refusal(a_, {certificate, evidence, other_key.public_key()}), "certificate_invalid");
    EXPECT_EQ(refusal(a_, {certificate.substr(0, 100), evidence, key_.public_key()}),
              "certificate_invalid");
    EXPECT_EQ(refusal(a_, {"", evidence, key_.public_key()}), "certificate_invalid");
    EXPECT_EQ(refusal(a_, {std::string((16u << 20) + 1, ' '), evidence, key_.public_key()}),
              "certificate_invalid");
    EXPECT_TRUE(registry_->promote(a_, proof(run), at(20), "anna"));
}

TEST_F(ModelRegistryTest, ARunThatWasNotChargedHereIsRefused) {
    start();
    const auto elsewhere = run_gate(a_.value(), first_.value(), key_);
    ASSERT_EQ(elsewhere.verdict, Verdict::kCertified);
    EXPECT_EQ(refusal(a_, proof(elsewhere)), "uncharged");
}

TEST_F(ModelRegistryTest, ARunThatIsNotClosedWithThisCertificateIsRefused) {
    start();
    const auto run = run_gate(a_.value(), first_.value(), key_);
    const std::span entries(run.ledger);
    ASSERT_TRUE(registry_->append_ledger_entries(0, entries.first(entries.size() - 1), at(6), "x"));
    EXPECT_EQ(refusal(a_, proof(run)), "unclosed");
    ASSERT_TRUE(registry_->append_ledger_entries(entries.size() - 1, entries.last(1), at(7), "x"));
    EXPECT_TRUE(registry_->promote(a_, proof(run), at(20), "anna"));
}

TEST_F(ModelRegistryTest, ARunThatWasClosedWithoutItsCertificateIsRefused) {
    start();
    auto run = run_gate(a_.value(), first_.value(), key_);
    run.ledger.pop_back();
    auto ledger = certification::DeltaLedger::open(run.ledger).value();
    run.ledger.push_back(
        ledger.next_closing(Verdict::kNoSolutionFound, "", "abandoned", at(4)).value());
    ASSERT_TRUE(registry_->append_ledger_entries(0, run.ledger, at(6), "gate"));
    EXPECT_EQ(refusal(a_, proof(run)), "unclosed");
}

TEST_F(ModelRegistryTest, AnExpiredCertificatePromotesNoMoreAndItsChampionStays) {
    start();
    const auto run = charged_run(a_, first_, 0.75, 0.25, 2);
    const auto end = base::add_months(at(4), 2);
    const auto promoted_at = [&](base::TimePoint now) {
        return registry_->promote(a_, proof(run), now, "anna");
    };
    for (const auto now : {end, end + base::Duration::days(400)}) {
        const auto late = promoted_at(now);
        ASSERT_FALSE(late);
        EXPECT_EQ(late.error().reason, "certificate_expired");
        EXPECT_THAT(late.error().message, HasSubstr("1970-03-01T00:00:04Z"));
        EXPECT_THAT(late.error().message, HasSubstr(base::to_iso8601(now)));
        EXPECT_THAT(late.error().message, HasSubstr("certify the candidate anew"));
    }
    EXPECT_EQ(registry_->champion_certified_until().value(), std::nullopt) << "the first policy";
    ASSERT_TRUE(promoted_at(end - base::Duration::micros(1)));
    reopen();
    EXPECT_EQ(champion(), a_);
    EXPECT_EQ(registry_->champion_certified_until().value(), end);
    EXPECT_TRUE(promoted_at(end + base::Duration::days(1))) << "it decides already";
    EXPECT_EQ(registry_->certificates().value().front().valid_until, end);
    ASSERT_TRUE(registry_->rollback(end + base::Duration::days(2), "anna", "a drill"));
    EXPECT_EQ(refusal(a_, proof(run), 20), "certificate_spent");
}

TEST_F(ModelRegistryTest, UnregisteredModelsMissingChampionsAndClocksThatGoBackAreRefused) {
    a_ = add(learned_file(0.1));
    const domain::PolicyId nobody(std::string(64, 'e'));
    const auto early = charged_run(a_, nobody);
    EXPECT_EQ(refusal(a_, proof(early)), "no_champion");
    EXPECT_EQ(refusal(nobody, proof(early)), "unknown_model");
    start();
    const auto run = charged_run(a_, first_);
    EXPECT_EQ(refusal(a_, proof(run), 9), "time_goes_back");
}

TEST_F(ModelRegistryTest, ADamagedCandidateNeverBecomesChampion) {
    start();
    const auto run = charged_run(a_, first_);
    std::ofstream(folder_ / "models" / (a_.value() + ".rmp"), std::ios::binary) << "garbage";
    EXPECT_EQ(refusal(a_, proof(run)), "model_digest");
}

TEST_F(ModelRegistryTest, RollbackGoesToTheChampionBeforeAndSaysWhy) {
    start();
    ASSERT_TRUE(registry_->promote(a_, proof(charged_run(a_, first_)), at(20), "anna"));
    const auto back = registry_->rollback(at(30), "bob", "defaults above plan").value();
    EXPECT_EQ(back.policy, first_);
    EXPECT_EQ(back.replaced, a_);
    EXPECT_FALSE(back.certified());
    reopen();
    EXPECT_EQ(champion(), first_);
    const auto entry = registry_->audit_entries().value().back();
    EXPECT_EQ(entry.action, "rollback");
    EXPECT_EQ(entry.actor, "bob");
    EXPECT_EQ(entry.details.at("reason"), "defaults above plan");
    EXPECT_EQ(registry_->rollback(at(31), "bob", "further").error().reason,
              "nothing_to_roll_back_to");
    EXPECT_EQ(registry_->rollback(at(31), "bob", "").error().reason, "reason_missing");
}

TEST_F(ModelRegistryTest, ARollbackRepeatedAfterACrashGoesBackOnlyOnce) {
    start();
    ASSERT_TRUE(registry_->promote(a_, proof(charged_run(a_, first_)), at(20), "anna"));
    ASSERT_TRUE(registry_->promote(b_, proof(charged_run(b_, a_)), at(21), "anna"));
    ASSERT_TRUE(registry_->rollback(at(30), "bob", "worse", b_));
    EXPECT_EQ(registry_->rollback(at(31), "bob", "worse", b_).error().reason, "stale_reference");
    EXPECT_EQ(champion(), a_);
    EXPECT_TRUE(registry_->champion()->certified());
}

TEST_F(ModelRegistryTest, ACertificateIsSpentOnceItsPromotionWasRolledBack) {
    start();
    const auto run = charged_run(a_, first_);
    ASSERT_TRUE(registry_->promote(a_, proof(run), at(20), "anna"));
    ASSERT_TRUE(registry_->rollback(at(30), "bob", "worse"));
    EXPECT_EQ(refusal(a_, proof(run), 40), "certificate_spent");
    EXPECT_TRUE(registry_->promote(a_, proof(charged_run(a_, first_)), at(40), "anna"));
}

TEST_F(ModelRegistryTest, CertificatesOfEveryVerdictAreKeptOnceAndOnlyIfTheyHold) {
    start();
    const auto worse = charged_run(a_, first_, 0.25, 0.75);
    const auto refused = charged_run(a_, first_, 0.9, 0.1);
    const auto id = registry_->store_certificate(proof(worse), at(6), "gate").value();
    const auto head = registry_->audit_head();
    EXPECT_EQ(registry_->store_certificate(proof(worse), at(7), "gate").value(), id);
    EXPECT_EQ(registry_->audit_head(), head);
    ASSERT_TRUE(registry_->store_certificate(proof(refused), at(8), "gate"));
    auto flipped = worse.files.certificate;
    flipped[40] ^= 1;
    EXPECT_EQ(
        registry_
            ->store_certificate({flipped, worse.files.evidence, key_.public_key()}, at(9), "gate")
            .error()
            .reason,
        "certificate_invalid");
    const auto all = registry_->certificates().value();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].verdict, "NO_SOLUTION_FOUND");
    EXPECT_EQ(all[0].candidate, a_);
    EXPECT_EQ(all[0].reference, first_);
    EXPECT_EQ(all[1].verdict, "REFUSED");
    EXPECT_FALSE(all[1].evidence);
    EXPECT_EQ(registry_->certificate_file(base::sha256("?")).error().reason, "unknown_certificate");
    std::ofstream(folder_ / "certificates" / (id.hex() + ".cert"), std::ios::app) << " ";
    EXPECT_EQ(registry_->certificate_file(id).error().reason, "certificate_digest");
}

TEST_F(ModelRegistryTest, LedgerEntriesAreAppendedInOrderByOneRunAtATime) {
    EXPECT_TRUE(
        registry_->append_ledger_entries(0, std::vector<std::string>{"zero"}, at(1), "gate"));
    EXPECT_TRUE(
        registry_->append_ledger_entries(1, std::vector<std::string>{"one"}, at(2), "gate"));
    EXPECT_TRUE(registry_->append_ledger_entries(1, std::vector<std::string>{"one"}, at(3),
                                                 "gate"));  // after a crash
    EXPECT_EQ(registry_->append_ledger_entries(1, std::vector<std::string>{"uno"}, at(3), "gate")
                  .error()
                  .reason,
              "ledger_moved_on");
    EXPECT_EQ(registry_->append_ledger_entries(3, std::vector<std::string>{"three"}, at(3), "gate")
                  .error()
                  .reason,
              "ledger_moved_on");
    EXPECT_EQ(registry_->append_ledger_entries(2, std::vector<std::string>{""}, at(3), "gate")
                  .error()
                  .reason,
              "ledger_entry");
    EXPECT_TRUE(registry_->append_ledger_entries(
        2, std::vector<std::string>{std::string(base::limits::kMaxRecordBytes, 'x')}, at(3),
        "gate"));
    EXPECT_FALSE(registry_->append_ledger_entries(
        3, std::vector<std::string>{std::string(base::limits::kMaxRecordBytes + 1, 'x')}, at(3),
        "gate"));
    reopen();
    const auto entries = registry_->ledger_entries().value();
    ASSERT_EQ(entries.size(), 3u);
    EXPECT_EQ(entries[1], "one");
    EXPECT_EQ(registry_->audit_head().count, 3u);
}

TEST_F(ModelRegistryTest, SeveralLedgerEntriesAreOneWriteWithOneAuditEntry) {
    const std::vector<std::string> two{"epoch", "charge"};
    EXPECT_EQ(registry_->append_ledger_entries(1, two, at(1), "gate").error().reason,
              "ledger_moved_on");
    EXPECT_TRUE(registry_->append_ledger_entries(0, two, at(1), "gate"));
    EXPECT_TRUE(registry_->append_ledger_entries(0, two, at(2), "gate")) << "after a crash";
    EXPECT_FALSE(registry_->append_ledger_entries(1, two, at(2), "gate"));
    reopen();
    EXPECT_EQ(registry_->ledger_entries().value(), two);
    ASSERT_EQ(registry_->audit_head().count, 1u);
    const auto details = registry_->audit_entries().value()[0].details;
    EXPECT_EQ(details.at("entry"), base::sha256("epoch").hex());
    EXPECT_EQ(details.at("entry_1"), base::sha256("charge").hex());
}

TEST_F(ModelRegistryTest, ManyThreadsGetOneChainAndNoEntryTwice) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            for (int i = 0; i < 5; ++i) add(learned_file(t * 100 + i));
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(registry_->models().value().size(), 20u);
    EXPECT_EQ(registry_->audit_head().count, 20u);
    EXPECT_TRUE(registry_->verify_audit());
}

TEST_F(ModelRegistryTest, AReaderSeesWhatStandsAndCannotChangeIt) {
    start();
    auto reader = ModelRegistry::open(folder_, ModelRegistry::Mode::kReadOnly).value();
    EXPECT_EQ(reader->champion(), registry_->champion());
    EXPECT_EQ(reader->register_model(learned_file(9), at(1), "x").error().reason, "read_only");
    EXPECT_EQ(ModelRegistry::open(folder_).error().reason, "database_in_use");
}

/// The audit log's head is in a file of its own: what happens to either is found out.
TEST_F(ModelRegistryTest, ACutOrRewrittenHistoryIsFoundOnOpening) {
    start();
    registry_.reset();
    const auto old_copy = fs::path(folder_.string() + ".copy");
    fs::remove_all(old_copy);
    fs::copy(folder_ / "registry", old_copy, fs::copy_options::recursive);
    reopen();
    add(learned_file(7));
    const auto head = registry_->audit_head();
    registry_.reset();
    fs::remove_all(folder_ / "registry");
    fs::rename(old_copy, folder_ / "registry");
    EXPECT_EQ(error_on_open().reason, "audit_truncated");

    std::ofstream(folder_ / "audit.head") << to_text({2, head.hash});
    EXPECT_EQ(error_on_open().reason, "audit_edited");
    std::ofstream(folder_ / "audit.head") << "nonsense";
    EXPECT_EQ(error_on_open().code, base::ErrorCode::kDataLoss);
    fs::remove(folder_ / "audit.head");
    EXPECT_EQ(error_on_open().reason, "audit_head");
}

TEST_F(ModelRegistryTest, AHeadThatLagsAfterACrashIsCaughtUp) {
    start();
    const auto head = registry_->audit_head();
    registry_.reset();
    std::ofstream(folder_ / "audit.head") << to_text({});
    reopen();
    EXPECT_EQ(registry_->audit_head(), head);
    EXPECT_TRUE(registry_->verify_audit(head));
    registry_.reset();
    std::ifstream stream(folder_ / "audit.head");
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    EXPECT_EQ(text, to_text(head));
}

TEST_F(ModelRegistryTest, ATamperedChampionPointerOrPromotionIsFoundOnOpening) {
    start();
    registry_.reset();
    const auto tamper = [&](uint32_t family, const std::string& key, const std::string& value) {
        auto database = storage::Database::open(
                            folder_ / "registry",
                            {"models", "promotions", "champion", "certificates", "ledger", "audit"})
                            .value();
        auto old = database->get({family}, key).value().value();
        storage::WriteBatch batch;
        batch.put({family}, key, value);
        EXPECT_TRUE(database->write(batch, storage::Sync::kAlways));
        return old;
    };
    const std::string first_key(std::string("\0\0\0\0\0\0\0\1", 8));
    const auto pointer = tamper(2, "champion", a_.value());
    EXPECT_EQ(error_on_open().reason, "champion_pointer");
    tamper(2, "champion", pointer);
    const auto promotion = tamper(1, first_key, "x");
    EXPECT_EQ(error_on_open().code, base::ErrorCode::kDataLoss);
    tamper(1, first_key, promotion);
    const auto entry = tamper(5, first_key, "x");
    EXPECT_EQ(error_on_open().code, base::ErrorCode::kDataLoss);
    tamper(5, first_key, entry);
    EXPECT_EQ(error_on_open().reason, "");
}

TEST_F(ModelRegistryTest, AnOperatorsActIsInTheAuditLogAndSurvivesReopening) {
    const auto before = registry_->audit_head().count;
    ASSERT_TRUE(registry_->record_operation(base::TimePoint::from_micros(9), "ada", "accept_gap",
                                            {{"topic", "decisions"}, {"partition", "3"}}));
    const auto entry = registry_->audit_entries().value().back();
    EXPECT_EQ(entry.sequence, before + 1);
    EXPECT_EQ(entry.actor, "ada");
    EXPECT_EQ(entry.action, "accept_gap");
    EXPECT_EQ(entry.details.at("partition"), "3");
    EXPECT_TRUE(registry_->verify_audit());
    EXPECT_FALSE(registry_->record_operation(base::TimePoint(), "", "accept_gap", {}));
}

TEST_F(ModelRegistryTest, TheIdsOfTheKeysAreRecordedOnceAndStand) {
    const std::map<std::string, std::string> ids{{"draw", "0123"}, {"split", "4567"}};
    EXPECT_TRUE(registry_->recorded_keys().empty());
    ASSERT_TRUE(registry_->record_keys(ids, base::TimePoint(), "test"));
    const auto before = registry_->audit_head().count;
    ASSERT_TRUE(registry_->record_keys(ids, base::TimePoint(), "test"));
    EXPECT_EQ(registry_->audit_head().count, before);
    EXPECT_EQ(registry_->record_keys({{"draw", "ffff"}}, base::TimePoint(), "test").error().reason,
              "keys_recorded");
    registry_.reset();
    registry_ = ModelRegistry::open(folder_).value();
    EXPECT_EQ(registry_->recorded_keys(), ids);
    EXPECT_TRUE(registry_->verify_audit());
}

}  // namespace
}  // namespace rampart::registry
