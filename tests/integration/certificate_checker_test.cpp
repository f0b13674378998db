// The checker without code of Rampart agrees with the gate. It finds every figure that does not
// follow from the evidence, even if the forger has the key of the signer.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "random_certificates.hpp"

namespace rampart {
namespace {

using namespace certification;
using namespace random_certificates;
namespace fs = std::filesystem;

class Checker : public testing::Test {
  protected:
    void SetUp() override {
        folder_ = fs::path(testing::TempDir()) / fmt::format("checker-{}", getpid());
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        put("key", key().public_key().to_pem());
    }
    void TearDown() override { fs::remove_all(folder_); }

    void put(const std::string& name, const std::string& bytes) const {
        std::ofstream(folder_ / name, std::ios::binary) << bytes;
    }
    void put(size_t number, const SealedCertificate& sealed) const {
        put(fmt::format("{}.cert", number), sealed.certificate);
        put(fmt::format("{}.evidence", number), sealed.evidence);
    }
    /// Checks that there is a line for each of the `n` certificates.
    std::vector<std::string> check(size_t n) const {
        std::string command =
            fmt::format("cd '{}' && '{}/tools/certificate_checker/certificate_checker' key",
                        folder_.string(), RAMPART_SOURCE_DIR);
        for (size_t i = 0; i < n; ++i) command += fmt::format(" {0}.cert {0}.evidence", i);
        put("run", command + " > lines 2> errors");
        EXPECT_NE(std::system(fmt::format("sh '{}/run'", folder_.string()).c_str()), 2);
        std::ifstream in(folder_ / "lines");
        std::vector<std::string> lines;
        for (std::string line; std::getline(in, line);) lines.push_back(line);
        EXPECT_EQ(lines.size(), n) << std::ifstream(folder_ / "errors").rdbuf();
        lines.resize(n);
        return lines;
    }
    fs::path folder_;
};

TEST_F(Checker, SaysWhatTheGateSaysOfRandomCertificatesWithFurtherLooksAndConstraints) {
    constexpr size_t kCertificates = 1000;
    std::vector<Issued> all;
    std::vector<uint64_t> seeds;
    for (uint64_t seed = 0; all.size() < kCertificates; ++seed) {
        for (auto& issued : issue(Drawn(seed))) {
            put(all.size(), issued.sealed);
            all.push_back(std::move(issued));
            seeds.push_back(seed);
        }
    }
    const auto lines = check(all.size());
    std::map<std::pair<Kind, Verdict>, size_t> count;
    size_t beyond = 0, beyond_in_constraints = 0, unanswered = 0, erased = 0;
    for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(lines[i].find(fmt::format("{}: ", to_string(all[i].verdict))), 0u)
            << "seed " << seeds[i] << ", look " << all[i].plan.look << ": " << lines[i];
        EXPECT_EQ(lines[i].find("NOT shown"), std::string::npos) << lines[i];
        ++count[{kind_of(all[i].plan), all[i].verdict}];
        erased += all[i].plan.erased > 0 && all[i].verdict == Verdict::kCertified;
        for (const auto& group : all[i].plan.groups)
            beyond += group.beyond_range, unanswered += group.unanswered;
        for (const auto& constraint : all[i].plan.constraint_plans) {
            for (const auto& leaf : constraint.tests.leaves)
                beyond_in_constraints += leaf.beyond_range;
        }
    }
    EXPECT_GT(beyond, 100u);
    EXPECT_GT(unanswered, 100u);
    EXPECT_GT(beyond_in_constraints, 100u);
    EXPECT_GT(erased, 10u) << "certificates that count erased persons";
    for (const Verdict v : {Verdict::kCertified, Verdict::kNoSolutionFound}) {
        EXPECT_GT((count[{Kind::kPlain, v}]), 50u) << to_string(v);
        EXPECT_GT((count[{Kind::kFurtherLook, v}]), 10u) << to_string(v);
        EXPECT_GT((count[{Kind::kConstrained, v}]), 10u) << to_string(v);
        EXPECT_GT((count[{Kind::kFixedRange, v}]), 20u) << to_string(v);
        EXPECT_GT((count[{Kind::kConstrainedFixedRange, v}]), 5u) << to_string(v);
        EXPECT_GT((count[{Kind::kReferred, v}]), 10u) << to_string(v);
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

std::string payload_of(const std::string& certificate) {
    const std::string mark = "\"payload\":\"";
    const size_t from = certificate.find(mark) + mark.size();
    return *base::from_base64(certificate.substr(from, certificate.find('"', from) - from));
}

/// Signs again, as a forger with the key can.
std::string signed_again(const std::string& payload) {
    constexpr std::string_view kType = "application/vnd.rampart.certificate+json";
    const auto message =
        fmt::format("DSSEv1 {} {} {} {}", kType.size(), kType, payload.size(), payload);
    return fmt::format(
        R"({{"payloadType":"{}","payload":"{}","signatures":[{{"keyid":"{}","sig":"{}"}}]}})",
        kType, base::to_base64(payload), key().public_key().id(),
        base::to_base64(key().sign(message)));
}

/// Returns the value of a member that is an object, as text.
std::string object_at(const std::string& text, const std::string& member) {
    const size_t from = text.find("\"" + member + "\":{") + member.size() + 3;
    size_t to = from;
    for (int depth = 0; to == from || depth > 0; ++to) {
        depth += text[to] == '{' ? 1 : text[to] == '}' ? -1 : 0;
    }
    return text.substr(from, to - from);
}

void replace(std::string& text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
}

/// Makes the ledger of a forger consistent: the digests of the plan and of what is frozen in the
/// registration, and that of the entry.
std::string registered_again(const std::string& before, std::string payload) {
    const auto plan_digest = [](const std::string& text) {
        return base::sha256(object_at(text, "plan")).hex();
    };
    const auto plan = read_certificate(signed_again(payload), key().public_key());
    if (plan) {
        const auto frozen = object_at(before, "registration");
        const size_t at = frozen.find("\"frozen\":\"") + 10;
        replace(payload, frozen.substr(at, 64), frozen_digest(plan->plan).hex());
    }
    replace(payload, plan_digest(before), plan_digest(payload));
    static const std::regex kEntry(
        R"rx("sequence":(\d+),"previous":"([0-9a-f]*)","entry":"([0-9a-f]*)")rx");
    std::smatch found;
    EXPECT_TRUE(std::regex_search(payload, found, kEntry));
    const auto entry = fmt::format(
        R"({{"sequence":{},"previous":"{}","epoch_opened":null,"registration":{},"closing":null}})",
        found[1].str(), found[2].str(), object_at(payload, "registration"));
    replace(payload, found[3].str(), base::sha256(entry).hex());
    return payload;
}

struct Mutation {
    std::string member, text;
};

/// Returns every number, word and truth value in [from, to) of the text, changed one at a time.
std::vector<Mutation> mutations(const std::string& text, size_t from, size_t to) {
    static const std::regex kScalar(
        R"rx([:\[,](-?\d[-+.0-9eE]*|true|false|null|"[^"]*")(?=[,\]}]))rx");
    std::vector<Mutation> out;
    const auto begin = text.begin() + static_cast<long>(from),
               end = text.begin() + static_cast<long>(to);
    for (std::sregex_iterator it(begin, end, kScalar), none; it != none; ++it) {
        const std::string was = (*it)[1];
        std::string is = was == "true"    ? "false"
                         : was == "false" ? "true"
                         : was == "null"  ? "3"
                                          : "";
        if (is.empty() && was[0] == '"') is = "\"x" + was.substr(1);
        if (is.empty())
            is = fmt::format("{}", std::stod(was) * 1.001 + (std::stod(was) == 0 ? 1 : 0));
        std::string changed = text;
        changed.replace(from + static_cast<size_t>(it->position(1)), was.size(), is);
        const size_t colon = text.rfind("\":", from + static_cast<size_t>(it->position(1)));
        const size_t name = text.rfind('"', colon - 1) + 1;
        out.push_back({text.substr(name, colon - name), std::move(changed)});
    }
    return out;
}

/// Figures beside the verdict that the checker does not compute: it says so.
const std::set<std::string> kNotFollowed{"smallest_seen", "declined_from", "declined_to",
                                         "odds_factor"};

const std::set<std::string> kOfSelection{"selection_units", "selection_share", "selection_variance",
                                         "selection_known"};
/// Ranges of a constraint's means, where they come from the development set.
const std::set<std::string> kFixedRanges{"lo", "hi", "max_weight"};

class ForgedFigures : public Checker, public testing::WithParamInterface<Kind> {};

TEST_P(ForgedFigures, AreSeenThoughTheyAreSignedAndRegisteredAgain) {
    const auto looks = certified_one(GetParam());
    const Issued& issued = looks.back();
    const std::string payload = payload_of(issued.sealed.certificate);
    std::vector<std::string> forged{signed_again(registered_again(payload, payload))};
    std::vector<std::string> what{"nothing"};
    const auto forge = [&](const std::string& from, const std::string& to, bool register_again) {
        for (const auto& [member, text] :
             mutations(payload, payload.find(from), payload.find(to))) {
            what.push_back(member);
            forged.push_back(signed_again(register_again ? registered_again(payload, text) : text));
        }
    };
    forge("\"delta\":", "\"loggers\"", true);
    forge("\"logger_periods\":", "\"left_out\"", true);
    forge("\"groups\":", "\"selection_digest\"", true);
    forge("\"vault_digest\":", "\"ledger\":", true);
    forge("\"results\":", "\"recipe\"", false);
    forge("\"registration\":", "\"certificates_before\"", false);
    ASSERT_GT(forged.size(), 80u);
    const size_t before = looks.size() - 1;
    for (size_t i = 0; i < before; ++i) put(i, looks[i].sealed);
    for (size_t i = 0; i < forged.size(); ++i) put(before + i, {forged[i], issued.sealed.evidence});
    const auto lines = check(before + forged.size());
    for (size_t i = 0; i <= before; ++i) {
        EXPECT_EQ(lines[i].find("REJECTED"), std::string::npos) << lines[i];
    }
    for (size_t i = 1; i < forged.size(); ++i) {
        // figures from the development set: trusted, unless a bet follows from them
        if (kOfSelection.contains(what[i]) || kNotFollowed.contains(what[i])) continue;
        if (GetParam() == Kind::kConstrainedFixedRange && kFixedRanges.contains(what[i])) continue;
        EXPECT_EQ(lines[before + i].find("REJECTED"), 0u) << what[i] << " -> " << lines[before + i];
    }
}
INSTANTIATE_TEST_SUITE_P(OfEveryKind, ForgedFigures,
                         testing::Values(Kind::kPlain, Kind::kFurtherLook, Kind::kConstrained,
                                         Kind::kFixedRange, Kind::kConstrainedFixedRange,
                                         Kind::kReferred));

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
