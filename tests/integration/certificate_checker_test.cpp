// The checker without code of Rampart agrees with the gate. It finds every figure that does not
// follow from the evidence, even if the forger has the key of the signer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "forged_certificates.hpp"
#include "rampart/base/merkle_tree.hpp"

namespace rampart {
namespace {

using namespace forged_certificates;

bool has_tail(const RunPlan& plan) {
    return std::any_of(plan.constraint_plans.begin(), plan.constraint_plans.end(), [](auto& c) {
        return c.expression.find("cvar") != c.expression.npos ||
               c.expression.find("quantile") != c.expression.npos;
    });
}

/// Counts, of each thing that a certificate may have, how many have it.
void count_what_it_has(const Issued& issued, std::map<std::string, size_t>& count) {
    const RunPlan& plan = issued.plan;
    const auto see = [&](bool has, const std::string& what) {
        if (!has) return;
        ++count[what];
        if (issued.verdict == Verdict::kCertified) ++count[what + ", certified"];
    };
    const bool referrals = plan.config.referrals, tail = has_tail(plan), erased = plan.erased > 0;
    const bool repeats = plan.groups.size() > 0 && plan.groups[0].units < plan.groups[0].records;
    see(plan.look > 0, "further look");
    see(!plan.constraint_plans.empty(), "constraint");
    see(plan.config.records_per_person > 0, "fixed range");
    see(referrals, "referrals");
    see(erased, "erased");
    see(repeats, "persons with several records");
    see(tail, "tail");
    see(tail && referrals, "tail with referrals");
    see(tail && erased, "tail with erased records");
    see(tail && plan.config.records_per_person > 0 && repeats, "tail of several records");
    see(plan.logger_ids.size() > 1, "several loggers");
    see(plan.identity.in_no_group > 0, "records in no group");
    size_t unanswered = 0, missing = 0, beyond = 0, differences = 0;
    for (const auto& group : plan.groups)
        unanswered += group.unanswered, missing += group.missing, beyond += group.beyond_range;
    for (const auto& constraint : plan.constraint_plans) {
        differences += constraint.tests.differences.size();
        for (const auto& leaf : constraint.tests.leaves) beyond += leaf.beyond_range;
    }
    see(unanswered > 0, "unanswered referral");
    see(missing > 0, "missing outcome");
    see(beyond > 0, "record beyond the range");
    see(differences > 0, "difference");
}

TEST_F(Checker, SaysWhatTheGateSaysOfRandomCertificates) {
    constexpr size_t kCertificates = 550;
    std::vector<std::pair<Verdict, uint64_t>> all;
    std::map<std::string, size_t> count;
    for (uint64_t seed = 0; all.size() < kCertificates; ++seed) {
        for (const auto& issued : issue(Drawn(seed))) {
            put(all.size(), issued.sealed);
            all.emplace_back(issued.verdict, seed);
            count_what_it_has(issued, count);
        }
    }
    const auto lines = check(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
        const auto& [verdict, seed] = all[i];
        EXPECT_TRUE(lines[i].starts_with(fmt::format("{}: ", to_string(verdict))))
            << "seed " << seed << ": " << lines[i];
        EXPECT_EQ(lines[i].find("NOT shown"), std::string::npos) << lines[i];
    }
    for (const auto& [what, n] : count) fmt::print("{}: {}\n", what, n);
    for (const char* what :
         {"further look", "constraint", "fixed range", "referrals", "erased", "missing outcome",
          "persons with several records", "tail", "several loggers", "records in no group",
          "unanswered referral", "record beyond the range"}) {
        EXPECT_GT(count[what], 40u) << what;
        EXPECT_GT(count[fmt::format("{}, certified", what)], 2u) << what;
    }
    for (const char* what : {"tail with referrals", "tail with erased records",
                             "tail of several records", "difference"}) {
        EXPECT_GT(count[what], 8u) << what;
    }
}

TEST_F(Checker, SaysThatTheBetsOfAFurtherLookAreNotShownWithoutTheFirst) {
    const auto issued = certified_one(Kind::kFurtherLook);
    put(0, issued.back().sealed);
    const auto line = check(1).front();
    EXPECT_EQ(line.find("CERTIFIED: "), 0u) << line;
    EXPECT_NE(line.find("NOT shown here: that the bets are the first look's"), std::string::npos);
}

TEST_F(Checker, SeesThatAFurtherLookLostARecord) {
    for (uint64_t seed = 0;; ++seed) {
        Drawn drawn(seed);
        if (drawn.looks == 0) continue;
        auto ledger = ledger_of(drawn);
        const size_t part = drawn.vault.decisions.size() / (1 + drawn.looks);
        const auto first = look(drawn, drawn.matured(part), ledger, nullptr);
        if (first->verdict != Verdict::kNoSolutionFound) continue;
        auto earlier = look_before(*first);
        earlier.records.clear();  // as if a gate did not compare
        drawn.vault.decisions.record_id[0] += " again";
        const auto second = look(drawn, drawn.matured(2 * part), ledger, &earlier);
        ASSERT_TRUE(second);
        put(0, first->sealed);
        put(1, second->sealed);
        const auto lines = check(2);
        EXPECT_EQ(lines[0].find("NO_SOLUTION_FOUND: "), 0u) << lines[0];
        EXPECT_EQ(lines[1],
                  "REJECTED: does not hold: records of an earlier look are gone or changed");
        return;
    }
}

TEST_F(Forgeries, AreFoundThoughTheyAreSignedAndRegisteredAgain) {
    constexpr size_t kForgeries = 500;
    const auto originals = draw_originals(100);
    std::map<std::string, std::vector<std::pair<size_t, Scalar>>> places;
    std::set<std::string> members;
    for (size_t k = 0; k < originals.size(); ++k) {
        for (const auto& scalar : scalars_of(originals[k].payload)) {
            members.insert(scalar.path);
            if (is_followed(originals[k].looks.back(), scalar.path))
                places[scalar.path].emplace_back(k, scalar);
        }
    }
    for (const auto& [member, why] : kNotFollowed)
        EXPECT_TRUE(members.contains(member)) << member << " is in no certificate";
    for (const char* member : {"plan.constraint_plans.mean_plans.threshold",
                               "plan.constraint_plans.differences.above", "figures.parts.lower"})
        EXPECT_TRUE(places.contains(member)) << member;
    // each member once, then again, in a random certificate at a random place
    base::Random random(17);
    std::vector<Forgery> forgeries;
    while (forgeries.size() < kForgeries) {
        for (const auto& [member, where] : places) {
            const auto& [k, scalar] = where[random.below(where.size())];
            forgeries.push_back(forge(originals, k, scalar, random));
        }
    }
    fmt::print("{} forgeries of {} members\n", forgeries.size(), places.size());
    sign(originals, forgeries);
    const auto lines = check_beside(originals, forgeries);
    for (size_t i = 0; i < lines.size(); ++i) {
        const Forgery& forgery = forgeries[i];
        EXPECT_TRUE(lines[i].starts_with("REJECTED"))
            << forgery.path << ": " << forgery.was << " -> " << forgery.is << " of certificate "
            << forgery.original << ": " << lines[i];
        // that a further look's bets are the first one's is not shown by one certificate
        if (originals[forgery.original].looks.size() > 1) continue;
        const auto& [certificate, evidence] = forgery.sealed;
        EXPECT_FALSE(verify(certificate, evidence, key().public_key()))
            << "by rampart verify: " << forgery.path << ": " << forgery.was << " -> " << forgery.is;
    }
}

/// A value that a setting may not have, and one near it that it may have ("": there is none).
struct Limit {
    std::string setting, beyond, within;
    std::string where{};  // text of the settings where it may not have it; "": anywhere
    std::string named{};  // setting of which the answer speaks; "": the same
};

const std::vector<Limit> kLimits{
    {"delta_epoch", "0", "1e-9"},
    {"delta_epoch", "0.51", "0.5"},
    {"runs_per_epoch", "0", "1"},
    {"runs_per_epoch", "1001", "1000"},
    {"bet_cap", "0", "1e-9"},
    {"bet_cap", "1", "0.999"},
    {"bet_cap", "30", ""},
    {"bet_cap", "NaN", ""},
    {"bet_cap", "true", ""},
    {"kappa", "0", "1e-9"},
    {"kappa", "10.1", ""},
    {"margin", "Infinity", "1e300"},
    {"min_units", "1", "2"},
    {"min_units", "-1", ""},
    {"min_units", "2.5", ""},
    {"min_outcomes", "1", "2"},
    {"min_power", "-0.1", "0"},
    {"min_power", "1.1", "1"},
    {"max_missing_rate", "-0.1", "0"},
    {"max_missing_rate", "1.1", "1"},
    {"calibration_level", "0", "1e-9"},
    {"calibration_level", "0.51", "0.5"},
    {"max_calibration_z", "0", "1e-9"},
    {"max_drift_auc", "0.4", "0.5"},
    {"max_drift_auc", "1.1", "1"},
    {"missing_gamma", "-1", "0"},
    {"max_weight", "0.9", "1"},
    {"max_weight", "1001", "1000"},
    {"at_least", "1e9", ""},
    {"declined_impact", "1e9", ""},
    {"impact_hi", "-1e9", ""},
    {"records_per_person", "1001", "1000"},
    {"valid_months", "61", "60"},
    {"impact_units", "\"" + std::string(129, 'x') + "\"", "\"" + std::string(128, 'x') + "\""},
    {"bound", "\"none\"", "\"betting\""},
    {"trust_region", "\"none\"", "\"both_actions\""},
    {"declined_impact", "null", "", R"("trust_region":"approvals")", "trust_region"},
    {"records_per_person", "0", "", R"("referrals":true)", "referrals"},
    {"max_calibration_z", "6", "", R"("records_per_person":)"},
};

/// Returns a certificate of a run with this text in its settings, if one of these has it.
const Original& with_text(const std::vector<Original>& originals, const std::string& text) {
    const auto found = std::find_if(originals.begin(), originals.end(), [&](const auto& original) {
        return object_at(original.payload, "config").find(text) != std::string::npos;
    });
    return found == originals.end() ? originals.front() : *found;
}

TEST_F(Forgeries, OfSettingsThatTheGateTakesFromNobodyAreFoundAndNamed) {
    const auto originals = draw_originals(30);
    std::vector<Forgery> forgeries;
    std::vector<std::string> named;
    const auto add = [&](const Limit& limit, const std::string& value) {
        const auto& where =
            limit.where.empty() ? fmt::format("\"{}\":", limit.setting) : limit.where;
        const Original& original = with_text(originals, where);
        forgeries.push_back({.original = static_cast<size_t>(&original - originals.data()),
                             .path = "plan.config." + limit.setting,
                             .was = {},
                             .is = value,
                             .payload = with_setting(original.payload, limit.setting, value)});
        named.push_back(limit.named.empty() ? limit.setting : limit.named);
    };
    for (const Limit& limit : kLimits) add(limit, limit.beyond);
    const size_t beyond = forgeries.size();
    for (const Limit& limit : kLimits) {
        if (!limit.within.empty()) add(limit, limit.within);
    }
    sign(originals, forgeries);
    const auto lines = check_beside(originals, forgeries);
    for (size_t i = 0; i < lines.size(); ++i) {
        const Forgery& forgery = forgeries[i];
        const auto refusal = fmt::format("REJECTED: does not hold: {} = ", named[i]);
        EXPECT_EQ(lines[i].starts_with(refusal), i < beyond)
            << forgery.path << " = " << forgery.is << ": " << lines[i];
        if (i >= beyond) continue;
        const auto& [certificate, evidence] = forgery.sealed;
        EXPECT_FALSE(verify(certificate, evidence, key().public_key()))
            << "by rampart verify: " << forgery.path << " = " << forgery.is;
    }
}

TEST_F(Checker, SeesThatFewerErasedPersonsAreCountedThanWere) {
    for (uint64_t seed = 0;; ++seed) {
        const auto issued = issue(Drawn(seed)).front();
        const auto& groups = issued.plan.groups;
        const bool all = std::all_of(groups.begin(), groups.end(),
                                     [](const auto& group) { return group.erased > 1; });
        if (issued.verdict != Verdict::kCertified || !all) continue;
        const auto payload = payload_of(issued.sealed.certificate);
        auto forged = payload;
        const auto lower = [&](size_t count) {
            replace(forged, fmt::format("\"erased\":{}", count),
                    fmt::format("\"erased\":{}", count - 1));
        };
        lower(groups[0].erased);
        put(0, {signed_again(registered_again(payload, forged)), issued.sealed.evidence});
        put(1, issued.sealed);
        const auto lines = check(2);
        EXPECT_EQ(lines[0].find("REJECTED"), 0u) << lines[0];
        EXPECT_EQ(lines[1].find("CERTIFIED: "), 0u) << lines[1];
        const auto own = verify(signed_again(registered_again(payload, forged)),
                                issued.sealed.evidence, key().public_key());
        EXPECT_EQ(own.error().reason, "does_not_recompute");
        EXPECT_TRUE(verify(issued.sealed.certificate, issued.sealed.evidence, key().public_key()));
        return;
    }
}

/// What cannot be read may be of every group.
TEST_F(Checker, SeesThatAGroupLacksOneThatCannotBeRead) {
    for (uint64_t seed = 0;; ++seed) {
        const auto issued = issue(Drawn(seed)).front();
        const auto& groups = issued.plan.groups;
        const bool one = std::any_of(groups.begin(), groups.end(),
                                     [](const auto& group) { return group.erased == 1; });
        if (issued.verdict != Verdict::kCertified || issued.plan.unreadable != 1 || !one) continue;
        const auto payload = payload_of(issued.sealed.certificate);
        auto forged = payload;
        const auto at = forged.find("\"erased\":1,", forged.find("\"groups\":[{"));
        ASSERT_NE(at, std::string::npos);
        forged.erase(at, std::string_view("\"erased\":1,").size());
        const SealedCertificate sealed{signed_again(registered_again(payload, forged)),
                                       issued.sealed.evidence};
        put(0, sealed);
        put(1, issued.sealed);
        const auto lines = check(2);
        EXPECT_EQ(lines[0].find("REJECTED: does not hold: "), 0u) << lines[0];
        EXPECT_EQ(lines[1].find("CERTIFIED: "), 0u) << lines[1];
        const auto own = verify(sealed.certificate, sealed.evidence, key().public_key());
        ASSERT_FALSE(own);
        EXPECT_NE(own.error().message.find("the list of groups"), std::string::npos)
            << own.error().message;
        return;
    }
}

std::string root_of(const std::string& evidence) {
    base::MerkleTree leaves;
    std::istringstream in(evidence);
    for (std::string line; std::getline(in, line);) leaves.add(line);
    return leaves.root().hex();
}

TEST_F(Checker, AnswersToAllOthersWhateverOneIs) {
    const auto issued = certified_one(Kind::kPlain).back();
    const auto& [certificate, evidence] = issued.sealed;
    // a group that no digest has a bit for
    auto changed = evidence, payload = payload_of(certificate);
    replace(changed, "\"groups\":[0", "\"groups\":[64,0");
    replace(payload, root_of(evidence), root_of(changed));
    const std::string deep(200'000, '[');
    put(0, {signed_again(payload), changed});
    put(1, {signed_again(deep), evidence});
    put(2, {deep, evidence});
    put(3, issued.sealed);
    const auto lines = check(4);
    EXPECT_TRUE(lines[0].starts_with("REJECTED: error: ")) << lines[0];
    EXPECT_TRUE(lines[1].starts_with("REJECTED: RecursionError: ")) << lines[1];
    EXPECT_TRUE(lines[2].starts_with("REJECTED: RecursionError: ")) << lines[2];
    EXPECT_TRUE(lines[3].starts_with("CERTIFIED: ")) << lines[3];
}

TEST_F(Checker, SeesChangedBytesOfCertificateAndEvidence) {
    const Issued issued = certified_one(Kind::kPlain).back();
    size_t n = 0;
    base::Random random(9);
    for (; n < 60; ++n) {
        SealedCertificate changed = issued.sealed;
        std::string& file = n % 2 == 0 ? changed.certificate : changed.evidence;
        // the id of the key is not signed and not read: the reader says which key it must be
        const size_t end = n % 2 == 0 ? file.find("\"signatures\"") : file.size();
        char& byte = file[random.below(end)];
        byte = byte == 'a' ? 'b' : 'a';
        put(n, changed);
    }
    for (const auto& line : check(n)) EXPECT_EQ(line.find("REJECTED"), 0u) << line;
}

}  // namespace
}  // namespace rampart
