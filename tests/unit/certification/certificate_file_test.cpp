#include "rampart/certification/certificate_file.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>

#include "rampart/base/limits.hpp"
#include "support/gate_scenario.hpp"

namespace rampart::certification {
namespace {

const base::TimePoint kRegistered = *base::parse_iso8601("2005-07-01");
const base::TimePoint kRead = kRegistered + base::Duration::seconds(1);
const base::TimePoint kIssued = kRead + base::Duration::seconds(1);

/// A whole run with all that goes into its certificate.
struct Case {
    GateConfig config = test::lender_config();
    DeltaLedger ledger;
    ope::LoggedFeedback selection, vault;
    std::optional<PreparedRun> prepared;
    std::optional<RunTicket> ticket;
    SealedResult result;
    base::SigningKey key = base::SigningKey::generate();

    explicit Case(double skill, uint64_t seed = 11, size_t records = 400,
                  const std::function<void(Case&)>& change = {})
        : ledger(*DeltaLedger::open({})) {
        base::Random random(seed);
        selection = test::simulate({.records = 1000, .skill = skill, .prefix = "c"}, random);
        vault = test::simulate(
            {.records = records, .skill = skill, .missing = 0.01, .records_per_person = 2}, random);
        config.max_missing_rate = 0.1;
        if (change) change(*this);
        ledger = test::ledger_for(config);
        auto checked =
            precheck({config, test::lender_identity(), ledger, test::kPseudonymKey, selection},
                     vault.decisions);
        prepared = std::move(checked->prepared);
        EXPECT_TRUE(prepared) << checked->result.message;
        EXPECT_TRUE(ledger.append(*ledger.next_registration(prepared->request(), kRegistered)));
        ticket = *ledger.ticket(prepared->request());
        auto ran = run(*prepared, *ticket, vault.impact);
        EXPECT_TRUE(ran) << ran.error().message;
        result = std::move(*ran);
    }
    base::Result<SealedCertificate> sealed(const SealedResult& r) const {
        return seal(*prepared, {*ticket, r, kRead, kIssued, key}, vault.impact);
    }
    SealedCertificate sealed() const {
        auto out = sealed(result);
        EXPECT_TRUE(out) << out.error().message;
        return std::move(*out);
    }
};

/// The signed text of a certificate file.
std::string inspect_payload(const std::string& certificate) {
    const std::string mark = "\"payload\":\"";
    const size_t from = certificate.find(mark) + mark.size();
    return base::from_base64(certificate.substr(from, certificate.find('"', from) - from)).value();
}

TEST(Certificate, OfACertifiedRunIsVerifiedFromItsEvidence) {
    const Case c(1.0);
    const SealedCertificate sealed = c.sealed();
    const auto read = verify(sealed.certificate, sealed.evidence, c.key.public_key(),
                             {"candidate-1", "bootstrap"});
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->verdict, Verdict::kCertified);
    EXPECT_EQ(read->evidence_records, 400u);
    EXPECT_EQ(read->plan.groups[0].units, 100u);
    EXPECT_EQ(read->results[1].bound.log_wealth, c.result.groups[1].bound.log_wealth)
        << "bit for bit";
    EXPECT_NE(read->claim.find("women, men"), std::string::npos);
    EXPECT_NE(read->claim.find("2004-01-01"), std::string::npos);
    EXPECT_EQ(read->ledger->entry, base::sha256(c.ticket->entry()));
    EXPECT_EQ(read->plan.config.declined_impact, 0.0);
}

TEST(Certificate, OfALogWithOverridesIsVerifiedAndSaysSo) {
    const auto overrides = [](Case& c) {
        c.config.declines_overridden = true;
        for (auto* f : {&c.selection, &c.vault}) {
            for (uint32_t i = 0; i < f->decisions.size(); i += 7) {
                f->decisions.overridden.push_back(i);
                f->decisions.has_impact[i] = f->decisions.granted(i);
                f->impact[i] = f->decisions.granted(i) ? 75 : std::nan("");
            }
        }
    };
    const Case c(1.0, 11, 400, overrides);
    const SealedCertificate sealed = c.sealed();
    const auto read = verify(sealed.certificate, sealed.evidence, c.key.public_key());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_TRUE(read->plan.config.declines_overridden);
    EXPECT_EQ(read->plan.groups[0].overridden + read->plan.groups[1].overridden, 58u);
    EXPECT_NE(sealed.evidence.find("\"overridden\":true"), std::string::npos);
    EXPECT_NE(read->recipe.find("granted iff"), std::string::npos);
    // who strikes an override out of the evidence is found out
    auto forged = sealed.evidence;
    const std::string mark = ",\"overridden\":true";
    forged.erase(forged.find(mark), mark.size());
    EXPECT_FALSE(verify(sealed.certificate, forged, c.key.public_key()));
}

TEST(Certificate, WithControlVariatesByRecordIsVerifiedFromTheEvidence) {
    const auto regression = [](Case& c) {
        c.config.control_variates = ControlVariateKind::kRegression;
        for (auto* f : {&c.selection, &c.vault}) {
            for (size_t i = 0; i < f->decisions.size(); ++i) {
                f->decisions.control_variates.push_back({i % 2 == 0 ? 40.0 : -20.5, 0});
            }
        }
    };
    const Case c(1.0, 11, 400, regression);
    const SealedCertificate sealed = c.sealed();
    const auto read = verify(sealed.certificate, sealed.evidence, c.key.public_key());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->plan.config.control_variates, ControlVariateKind::kRegression);
    EXPECT_NE(read->recipe.find("the record's q1 and q0"), std::string::npos);
    EXPECT_NE(sealed.evidence.find(",\"q1\":-20.5,\"q0\":0"), std::string::npos);
    for (const auto& [from, to] : {std::pair{"\"q1\":40", "\"q1\":41"}, {",\"q0\":0", ""}}) {
        auto forged = sealed.evidence;
        forged.replace(forged.find(from), std::string_view(from).size(), to);
        EXPECT_FALSE(verify(sealed.certificate, forged, c.key.public_key())) << to;
    }
    const Case plain(1.0);
    EXPECT_EQ(plain.sealed().evidence.find("\"q1\""), std::string::npos) << "only where used";
}

TEST(Certificate, OfEachWayToEstimateIsVerifiedAndSaysWhich) {
    const auto absolute = [](Case& c) {
        c.config.at_least = -40;
        c.config.max_weight = 1.4;
        c.config.control_variates = ControlVariateKind::kBest;
        c.config.bound = stats::BoundMethod::kMaurerPontil;
    };
    const Case c(1.0, 11, 400, absolute);
    const SealedCertificate sealed = c.sealed();
    const auto read = verify(sealed.certificate, sealed.evidence, c.key.public_key());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->plan.config.at_least, -40);
    EXPECT_EQ(read->plan.config.max_weight, 1.4);
    EXPECT_EQ(read->plan.config.control_variates, ControlVariateKind::kBest);
    EXPECT_NE(read->recipe.find("M = 1.4"), std::string::npos);
    EXPECT_NE(read->recipe.find("- -40"), std::string::npos) << read->recipe;
    EXPECT_NE(read->assumptions[1].text.find("wherever the candidate may take it"),
              std::string::npos);
}

TEST(Certificate, WithoutOverridesHasTheFormThatItHadBeforeTheyWereThere) {
    const SealedCertificate sealed = Case(1.0).sealed();
    EXPECT_EQ(sealed.evidence.find("overridden"), std::string::npos);
    const auto payload = inspect_payload(sealed.certificate);
    EXPECT_EQ(payload.find("overridden"), std::string::npos);
    EXPECT_EQ(payload.find("at_least"), std::string::npos);
    EXPECT_NE(payload.find("declined_impact"), std::string::npos);
}

TEST(Certificate, ThereIsOneForARunThatDidNotPassAndItClaimsNothing) {
    const Case c(-1.0);
    const SealedCertificate sealed = c.sealed();
    const auto read = verify(sealed.certificate, sealed.evidence, c.key.public_key());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->verdict, Verdict::kNoSolutionFound);
    EXPECT_EQ(read->claim.find("Nothing is claimed"), 0u);
}

TEST(Certificate, OfARefusalHasNoNumbers) {
    const auto key = base::SigningKey::generate();
    const auto sealed = seal_refusal(test::lender_config(), test::lender_identity(),
                                     {Verdict::kRefused, "too_few_units", "too few"}, kIssued, key);
    ASSERT_TRUE(sealed) << sealed.error().message;
    const auto read = verify(sealed->certificate, sealed->evidence, key.public_key());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->verdict, Verdict::kRefused);
    EXPECT_EQ(read->reason, "too_few_units");
    EXPECT_TRUE(read->results.empty());
    EXPECT_FALSE(seal_refusal(test::lender_config(), test::lender_identity(),
                              {Verdict::kCertified, "x", ""}, kIssued, key));
}

TEST(Certificate, AVerdictThatTheEvidenceDoesNotGiveIsNotSealed) {
    const Case c(-1.0);
    SealedResult lie = c.result;
    lie.verdict = Verdict::kCertified;
    EXPECT_EQ(c.sealed(lie).error().reason, "does_not_recompute");
    lie = c.result;
    lie.groups[0].bound.log_wealth += 1e-6;
    EXPECT_NE(c.sealed(lie).error().message.find("log_wealth"), std::string::npos);
    lie = c.result;
    lie.groups[1].bound.lower_t += 1e-3;
    EXPECT_FALSE(c.sealed(lie));
    lie = c.result;
    lie.groups[1].bound.lower_t = -std::numeric_limits<double>::infinity();
    EXPECT_FALSE(c.sealed(lie)) << "no bound, where there is one";
    lie = c.result;
    lie.groups.pop_back();
    EXPECT_FALSE(c.sealed(lie));
}

TEST(Certificate, TheVaultMustBeReadAfterTheRegistration) {
    const Case c(1.0);
    EXPECT_FALSE(
        seal(*c.prepared,
             {*c.ticket, c.result, kRegistered - base::Duration::seconds(1), kIssued, c.key},
             c.vault.impact));
    EXPECT_FALSE(seal(*c.prepared, {*c.ticket, c.result, kIssued, kRead, c.key}, c.vault.impact));
}

TEST(Certificate, OfAnotherPolicyIsRefused) {
    const Case c(1.0);
    const SealedCertificate sealed = c.sealed();
    EXPECT_EQ(read_certificate(sealed.certificate, c.key.public_key(), {"candidate-2", ""})
                  .error()
                  .reason,
              "other_policy");
    EXPECT_EQ(
        read_certificate(sealed.certificate, c.key.public_key(), {"", "champion"}).error().reason,
        "other_policy");
}

TEST(Certificate, SignedByAnotherKeyIsRefused) {
    const Case c(1.0);
    const SealedCertificate sealed = c.sealed();
    const auto other = base::SigningKey::generate();
    EXPECT_EQ(read_certificate(sealed.certificate, other.public_key()).error().reason, "other_key");
    // an impostor who writes the right key's name over a signature of his own
    std::string forged =
        seal(*c.prepared, {*c.ticket, c.result, kRead, kIssued, other}, c.vault.impact)
            ->certificate;
    forged.replace(forged.find(other.public_key().id()), 16, c.key.public_key().id());
    EXPECT_EQ(read_certificate(forged, c.key.public_key()).error().reason, "bad_signature");
}

TEST(Certificate, CutOffAnywhereIsRefused) {
    const Case c(1.0);
    const SealedCertificate sealed = c.sealed();
    const std::string_view whole = sealed.certificate;
    for (size_t n = 0; n < whole.size(); n += whole.size() / 50 + 1) {
        const auto read = read_certificate(whole.substr(0, n), c.key.public_key());
        ASSERT_FALSE(read) << n;
        EXPECT_EQ(read.error().code, base::ErrorCode::kDataLoss);
    }
    EXPECT_FALSE(read_certificate(std::string(whole) + "\n", c.key.public_key()));
}

TEST(Certificate, LongerThanItsLimitIsNotRead) {
    const std::string huge(base::limits::kMaxCertificateBytes + 1, ' ');
    EXPECT_EQ(read_certificate(huge, base::SigningKey::generate().public_key()).error().reason,
              "certificate_too_long");
}

TEST(Evidence, CutOffSwappedReorderedOrOfAnotherRunIsRefused) {
    const Case c(1.0), other(1.0, 12);
    const SealedCertificate sealed = c.sealed();
    const auto reason = [&](const std::string& evidence) {
        const auto read = verify(sealed.certificate, evidence, c.key.public_key());
        return read ? "" : read.error().reason;
    };
    const std::string& whole = sealed.evidence;
    const size_t line = whole.find('\n') + 1, next = whole.find('\n', line) + 1;
    EXPECT_EQ(reason(whole), "");
    EXPECT_EQ(reason(other.sealed().evidence), "other_evidence");
    EXPECT_EQ(reason(""), "other_evidence");
    EXPECT_EQ(reason(whole.substr(line)), "other_evidence");
    EXPECT_EQ(reason(whole.substr(0, whole.size() - 1)), "truncated_evidence");
    EXPECT_EQ(reason(whole.substr(line, next - line) + whole.substr(0, line) + whole.substr(next)),
              "other_evidence");
    EXPECT_EQ(reason(whole + whole.substr(0, line)), "other_evidence");
}

RC_GTEST_PROP(Certificate, NoByteOfEitherFileCanBeChangedUnnoticed, ()) {
    static const Case c(1.0);
    static const SealedCertificate sealed = c.sealed();
    SealedCertificate changed = sealed;
    std::string& file = *rc::gen::arbitrary<bool>() ? changed.certificate : changed.evidence;
    const auto at = static_cast<size_t>(*rc::gen::inRange<int>(0, static_cast<int>(file.size())));
    const char byte = *rc::gen::arbitrary<char>();
    RC_PRE(file[at] != byte);
    file[at] = byte;
    RC_ASSERT(!verify(changed.certificate, changed.evidence, c.key.public_key()));
}

TEST(Certificate, RandomRunsVerifyWhateverTheyAreAbout) {
    for (uint64_t seed = 1; seed <= 30; ++seed) {
        const double skill = static_cast<double>(seed % 5) / 2 - 1;
        const Case c(skill, seed, 300, [seed](Case& x) {
            x.config.bound =
                seed % 3 == 0 ? stats::BoundMethod::kStudentT : stats::BoundMethod::kBetting;
            x.config.spending = seed % 2 == 0 ? Spending::kByHistory : Spending::kEqual;
            x.config.margin = static_cast<double>(seed) / 7.0 - 2;
            x.config.bet_cap = 0.5 + static_cast<double>(seed) / 100;
        });
        const auto sealed = c.sealed(c.result);
        ASSERT_TRUE(sealed) << seed << ": " << sealed.error().message;
        const auto read = verify(sealed->certificate, sealed->evidence, c.key.public_key());
        ASSERT_TRUE(read) << seed << ": " << read.error().message;
        EXPECT_EQ(read->verdict, c.result.verdict);
    }
}

TEST(Certificate, NeitherFileNamesAPersonOrADecision) {
    const Case c(1.0);
    const SealedCertificate sealed = c.sealed();
    for (const std::string& id : {c.vault.decisions.record_id[0], c.vault.decisions.unit_id[0]}) {
        EXPECT_EQ(sealed.evidence.find("\"" + id + "\""), std::string::npos);
    }
}

}  // namespace
}  // namespace rampart::certification
