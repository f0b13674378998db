#include "rampart/registry/figures.hpp"

#include <filesystem>

#include "gate_run.hpp"

namespace rampart::registry {
namespace {

using testing::at;

class FiguresTest : public ::testing::Test {
  protected:
    ~FiguresTest() override {
        registry_.reset();
        std::filesystem::remove_all(folder_);
    }
    /// Keeps the certificate of a run after those before, and its charge.
    base::Digest keep(const std::string& candidate, double good = 0.75) {
        const auto run = testing::run_gate(candidate, std::string(64, 'b'), key_,
                                           registry_->ledger_entries().value(), good);
        for (size_t i = 0; i < run.ledger.size(); ++i) {
            EXPECT_TRUE(registry_->append_ledger_entries(i, std::vector<std::string>{run.ledger[i]},
                                                         at(6), "gate"));
        }
        verdict_ = run.verdict;
        return registry_
            ->store_certificate({run.files.certificate, run.files.evidence, key_.public_key()},
                                at(6), "gate")
            .value();
    }
    size_t readings() const {
        const auto entries = registry_->audit_entries().value();
        return static_cast<size_t>(std::count_if(entries.begin(), entries.end(), [](const auto& e) {
            return e.action == "read_figures";
        }));
    }

    std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) /
                                    ("figures" + base::to_hex(base::random_bytes(8)));
    base::SigningKey key_ = base::SigningKey::generate();
    std::unique_ptr<ModelRegistry> registry_ = ModelRegistry::open(folder_).value();
    certification::Verdict verdict_ = certification::Verdict::kIdentical;
};

TEST_F(FiguresTest, RunsHaveNamesWithoutADigestAndRefusalsTheirDigest) {
    const auto first = keep(std::string(64, 'a'));
    const auto second = keep(std::string(64, 'c'));
    const auto refusal = keep(std::string(64, 'd'), 0.99);  // past the trust region
    ASSERT_EQ(verdict_, certification::Verdict::kRefused);
    const auto names = CertificateNames::read(*registry_).value();
    EXPECT_EQ(names.name_of(first), "e1r1");
    EXPECT_EQ(names.name_of(second), "e1r2");
    EXPECT_EQ(names.name_of(refusal), refusal.hex());
    EXPECT_EQ(names.name_of(base::sha256("another")), "unnamed");
    EXPECT_EQ(names.find("e1r2").value(), second);
    EXPECT_EQ(names.find(refusal.hex()).value(), refusal);
    EXPECT_EQ(names.find("e1r3").error().reason, "unknown_certificate");
    EXPECT_EQ(names.find(first.hex()).error().reason, "unknown_certificate")
        << "a guessed digest is not confirmed";
}

TEST_F(FiguresTest, EachReadingIsInTheAuditLogBeforeItIsAnswered) {
    const auto id = keep(std::string(64, 'a'));
    const auto read = read_figures(*registry_, "e1r1", {at(7), "anna", "validation"});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->id, id);
    EXPECT_EQ(base::sha256(read->certificate), id);
    EXPECT_FALSE(read->evidence.empty());
    const auto entry = registry_->audit_entries()->back();
    EXPECT_EQ(entry.action, "read_figures");
    EXPECT_EQ(entry.actor, "anna");
    EXPECT_EQ(entry.at, at(7));
    EXPECT_EQ(entry.details.at("reason"), "validation");
    EXPECT_EQ(entry.details.at("certificate"), id.hex());
    EXPECT_EQ(readings(), 1u);
}

TEST_F(FiguresTest, ACopyOfTheLedgerIsInTheAuditLogBeforeItIsGiven) {
    keep(std::string(64, 'a'));
    const auto before = registry_->audit_entries()->size();
    EXPECT_EQ(read_ledger(*registry_, {at(7), "anna", ""}).error().reason, "reason_missing");
    EXPECT_EQ(read_ledger(*registry_, {at(7), "", "why"}).error().reason, "audit_entry");
    EXPECT_EQ(registry_->audit_entries()->size(), before);
    EXPECT_EQ(read_ledger(*registry_, {at(7), "anna", "review"}).value(),
              registry_->ledger_entries().value());
    const auto entry = registry_->audit_entries()->back();
    EXPECT_EQ(entry.action, "copy_ledger");
    EXPECT_EQ(entry.actor, "anna");
    EXPECT_EQ(entry.details.at("reason"), "review");
}

TEST_F(FiguresTest, TheLatestReadingOfFiguresOrOfTheLedgerIsKnown) {
    keep(std::string(64, 'a'));
    EXPECT_EQ(figures_read_at(*registry_).value(), std::nullopt);
    ASSERT_TRUE(read_figures(*registry_, "e1r1", {at(8), "anna", "validation"}));
    EXPECT_EQ(figures_read_at(*registry_).value(), at(8));
    ASSERT_TRUE(read_ledger(*registry_, {at(9), "anna", "review"}));
    EXPECT_EQ(figures_read_at(*registry_).value(), at(9));
    ASSERT_TRUE(registry_->record_operation(at(10), "anna", "advance_clock", {{"to", "10"}}));
    EXPECT_EQ(figures_read_at(*registry_).value(), at(9));
}

TEST_F(FiguresTest, ReadingsAfterAnEntryOfTheLedgerAreToldFromThoseBefore) {
    keep(std::string(64, 'a'));
    const auto entries = registry_->ledger_entries().value();
    const auto first = base::sha256(entries.front()), last = base::sha256(entries.back());
    ASSERT_TRUE(read_ledger(*registry_, {at(8), "anna", "review"}));
    EXPECT_EQ(figures_read_at(*registry_, first).value(), std::nullopt);
    EXPECT_EQ(figures_read_at(*registry_, last).value(), std::nullopt);
    const std::vector<std::string> more{"an entry", "and another"};
    ASSERT_TRUE(registry_->append_ledger_entries(entries.size(), more, at(9), "gate"));
    ASSERT_TRUE(read_ledger(*registry_, {at(10), "anna", "review"}));
    for (const auto& entry : more)
        EXPECT_EQ(figures_read_at(*registry_, base::sha256(entry)).value(), at(8));
    EXPECT_EQ(figures_read_at(*registry_).value(), at(10));
}

TEST_F(FiguresTest, WithoutAnActorAReasonOrACertificateNothingIsReadOrLogged) {
    keep(std::string(64, 'a'));
    EXPECT_EQ(read_figures(*registry_, "e1r1", {at(7), "anna", ""}).error().reason,
              "reason_missing");
    EXPECT_EQ(read_figures(*registry_, "e1r1", {at(7), "", "why"}).error().reason, "audit_entry");
    EXPECT_EQ(read_figures(*registry_, "e9r9", {at(7), "anna", "why"}).error().reason,
              "unknown_certificate");
    EXPECT_EQ(readings(), 0u);
}

}  // namespace
}  // namespace rampart::registry
