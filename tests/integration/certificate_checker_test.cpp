// The checker without code of Rampart agrees with the gate. It finds every figure that does not
// follow from the evidence, even if the forger has the key of the signer.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
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
        for (size_t i = 0; i < n; ++i) {
            if (fs::exists(folder_ / fmt::format("{}.ledger", i)))
                command += fmt::format(" --ledger {}.ledger", i);
            command += fmt::format(" {0}.cert {0}.evidence", i);
        }
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

/// Makes the ledger of a forger consistent: the digests of the plan and, if given, of what is frozen
/// in the registration, and that of the entry.
std::string registered_again(const std::string& before, std::string payload,
                             const std::string& frozen = "") {
    const auto plan_digest = [](const std::string& text) {
        return base::sha256(object_at(text, "plan")).hex();
    };
    if (!frozen.empty()) {
        const auto registration = object_at(before, "registration");
        const size_t at = registration.find("\"frozen\":\"") + 10;
        replace(payload, registration.substr(at, 64), frozen);
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

/// A number, word or text in a JSON text without white space: [from, to), and the names that lead
/// there.
struct Scalar {
    std::string path;
    size_t from = 0, to = 0;
};

void find_scalars(const std::string& text, size_t& at, const std::string& path,
                  std::vector<Scalar>& out) {
    const bool object = text[at] == '{';
    if (!object && text[at] != '[') {
        const size_t from = at;
        if (text[at] != '"') {
            at = std::min(text.find_first_of(",]}", at), text.size());
        } else {
            for (++at; text[at] != '"'; ++at) at += text[at] == '\\';
            ++at;
        }
        out.push_back({path, from, at});
        return;
    }
    for (++at; text[at] != '}' && text[at] != ']';) {
        std::string inner = path;
        if (object) {
            const size_t end = text.find('"', ++at);
            inner += (path.empty() ? "" : ".") + text.substr(at, end - at);
            at = end + 2;
        }
        find_scalars(text, at, inner, out);
        at += text[at] == ',' ? 1 : 0;
    }
    ++at;
}

std::vector<Scalar> scalars_of(const std::string& text) {
    std::vector<Scalar> out;
    size_t at = 0;
    find_scalars(text, at, "", out);
    return out;
}

/// Returns another text: one letter or digit is changed.
std::string other_text(std::string text, base::Random& random) {
    std::vector<size_t> places;
    for (size_t i = 1; i + 1 < text.size(); ++i) {
        if (std::isalnum(static_cast<unsigned char>(text[i])) != 0) places.push_back(i);
    }
    if (places.empty()) return "\"x\"";
    char& c = text[places[random.below(places.size())]];
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    c = digit ? static_cast<char>('0' + (c - '0' + 1) % 10) : c == 'x' ? 'y' : 'x';
    return text;
}

/// Returns another value of the same kind: a count differs by one, a number by a thousandth.
std::string other_value(const std::string& value, base::Random& random) {
    if (value[0] == '"') return other_text(value, random);
    if (value == "true" || value == "false") return value == "true" ? "false" : "true";
    if (value == "null") return "3";
    const bool up = random.bernoulli(0.5);
    if (value.find_first_not_of("0123456789") != std::string::npos)
        return fmt::format("{}", std::stod(value) * (up ? 1.001 : 0.999));
    return fmt::format("{}", std::stoll(value) + (up || value == "0" ? 1 : -1));
}

constexpr const char* kRule = "a setting: no figure need change with it";
constexpr const char* kWords = "words of the signer, or of an assumption or the recipe";
constexpr const char* kCounted = "counted by the signer outside the evidence";
constexpr const char* kDevelopment = "from the development set, which is not in the evidence";
constexpr const char* kUnused = "weighs nothing where no policy refers";
constexpr const char* kClock = "a clock of the signer; only the order of times can be checked";
constexpr const char* kAccount = "another entry of the ledger: found with --ledger";

/// Members that follow from nothing that the checker has, and why.
const std::map<std::string, std::string> kNotFollowed{
    {"recipe", kWords},
    {"assumptions.text", kWords},
    {"assumptions.tested", kWords},
    {"plan.config.bound", kRule},
    {"plan.config.trust_region", kRule},
    {"plan.config.kappa", kRule},
    {"plan.config.min_units", kRule},
    {"plan.config.min_outcomes", kRule},
    {"plan.config.max_missing_rate", kRule},
    {"plan.config.max_calibration_z", kRule},
    {"plan.config.calibration_level", kRule},
    {"plan.config.max_drift_auc", kRule},
    {"plan.config.missing_gamma", kRule},
    {"plan.config.max_weight", kRule},
    {"plan.config.declines_overridden", kRule},
    {"plan.config.impact_units", kWords},
    {"plan.config.constraints.expression", kWords},
    {"plan.identity.feature_schema", kWords},
    {"plan.identity.metric", kWords},
    {"plan.identity.proposed_by", kWords},
    {"plan.identity.software", kWords},
    {"plan.identity.acknowledged_alarm", kWords},
    {"plan.identity.left_out.reason", kWords},
    {"plan.identity.left_out.group", kWords},
    {"plan.identity.left_out.records", kCounted},
    {"plan.identity.drift_auc", kCounted},
    {"plan.identity.read_before", kCounted},
    {"plan.identity.repeats", kCounted},
    {"plan.identity.stopped", kCounted},
    {"plan.identity.logger_periods.first", kClock},
    {"plan.identity.logger_periods.last", kClock},
    {"plan.selection_digest", kDevelopment},
    {"plan.groups.selection_units", kDevelopment},
    {"plan.constraint_plans.mean_plans.selection_units", kDevelopment},
    {"plan.constraint_plans.mean_plans.selection_share", kDevelopment},
    {"plan.constraint_plans.mean_plans.selection_mean", kDevelopment},
    {"plan.constraint_plans.mean_plans.selection_variance", kDevelopment},
    {"plan.constraint_plans.mean_plans.selection_known", kDevelopment},
    {"plan.constraint_plans.mean_plans.person_weight", kDevelopment},
    {"plan.constraint_plans.mean_plans.person_units", kDevelopment},
    {"plan.constraint_plans.mean_plans.q_refer", kUnused},
    {"plan.groups.q_refer", kUnused},
    {"ledger.epoch.counts_looks", kAccount},
    {"ledger.epoch.note", kAccount},
    {"ledger.epoch.at", kAccount},
    {"ledger.certificates_before", kAccount},
    {"vault_read_at", kClock},
    {"issued_at", kClock},
    {"issued_wall_clock", kClock},
};

/// Members that follow from the claim or valid_until, which others than certified runs lack.
const std::set<std::string> kOfCertifiedRuns{"plan.config.valid_months", "plan.identity.anchor",
                                             "plan.identity.period_from",
                                             "plan.identity.period_to"};

/// Ranges of means: from the vault's records, but where they are fixed beforehand.
const std::set<std::string> kRanges{"plan.constraint_plans.mean_plans.lo",
                                    "plan.constraint_plans.mean_plans.hi",
                                    "plan.constraint_plans.mean_plans.max_weight"};

/// Returns whether a member of the certificate follows from what the checker has.
bool is_followed(const Issued& issued, const std::string& member) {
    if (kOfCertifiedRuns.contains(member)) return issued.verdict == Verdict::kCertified;
    if (kRanges.contains(member)) return issued.plan.config.records_per_person == 0;
    return !kNotFollowed.contains(member);
}

/// A certificate with the looks before it, and the places in it that may be changed.
struct Original {
    std::vector<Issued> looks;
    std::string payload;
};

struct Forgery {
    size_t original = 0;
    std::string path, was, is, payload;
    SealedCertificate sealed{};
};

Forgery forge(const std::vector<Original>& originals, size_t k, const Scalar& scalar,
              base::Random& random) {
    Forgery out{.original = k, .path = scalar.path, .was = {}, .is = {}, .payload = {}};
    out.payload = originals[k].payload;
    out.was = out.payload.substr(scalar.from, scalar.to - scalar.from);
    out.is = other_value(out.was, random);
    out.payload.replace(scalar.from, out.was.size(), out.is);
    return out;
}

class Forgeries : public Checker {
  protected:
    /// Runs of all kinds. (A refusal has no figures.)
    static std::vector<Original> draw_originals(size_t n) {
        std::vector<Original> out;
        for (uint64_t seed = 0; out.size() < n; ++seed) {
            auto looks = issue(Drawn(seed));
            if (looks.back().plan.groups.empty()) continue;
            auto payload = payload_of(looks.back().sealed.certificate);
            out.push_back({std::move(looks), std::move(payload)});
        }
        return out;
    }

    /// Signs forgeries, those of plans registered anew. What is frozen follows from a payload as
    /// the checker says, which agrees with the gate on all genuine ones.
    void sign(const std::vector<Original>& originals, std::vector<Forgery>& forgeries) const {
        for (size_t i = 0; i < forgeries.size(); ++i)
            put(fmt::format("{}.payload", i), forgeries[i].payload);
        put("frozen.py", fmt::format(R"(
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, '{}/tools/certificate_checker')
from ledger import frozen_digest
for i in range({}):
    text = open(f'{{i}}.payload').read()
    print(frozen_digest(text, json.loads(text)['plan']))
)",
                                     RAMPART_SOURCE_DIR, forgeries.size()));
        const auto command = fmt::format("cd '{}' && python3 frozen.py > frozen", folder_.string());
        ASSERT_EQ(std::system(command.c_str()), 0);
        std::ifstream frozen(folder_ / "frozen");
        for (auto& forgery : forgeries) {
            const Original& original = originals[forgery.original];
            std::string digest;
            std::getline(frozen, digest);
            if (forgery.path.starts_with("plan."))
                forgery.payload = registered_again(original.payload, forgery.payload, digest);
            forgery.sealed = {signed_again(forgery.payload), original.looks.back().sealed.evidence};
        }
    }

    /// Has forgeries checked beside the originals, with their looks before them.
    std::vector<std::string> check_beside(const std::vector<Original>& originals,
                                          const std::vector<Forgery>& forgeries) {
        size_t n = 0;
        for (const auto& original : originals) {
            for (const auto& look : original.looks) put(n++, look.sealed);
        }
        const size_t genuine = n;
        for (const auto& forgery : forgeries) put(n++, forgery.sealed);
        auto lines = check(n);
        for (size_t i = 0; i < genuine; ++i) {
            EXPECT_FALSE(lines[i].starts_with("REJECTED")) << lines[i];
        }
        lines.erase(lines.begin(), lines.begin() + static_cast<long>(genuine));
        return lines;
    }
};

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

std::vector<std::string> entries_of(const std::string& ledger) {
    std::vector<std::string> out;
    std::istringstream in(ledger);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

std::string file_of(const std::vector<std::string>& entries) {
    return fmt::format("{}\n", fmt::join(entries, "\n"));
}

/// Chains the entries again, as whoever may write the file can.
std::string chained_again(std::vector<std::string> entries) {
    static const std::regex kPrevious(R"rx("previous":"[0-9a-f]*")rx");
    std::string before;
    for (auto& entry : entries) {
        const auto previous = fmt::format(R"("previous":"{}")", base::sha256(before).hex());
        before = entry = std::regex_replace(entry, kPrevious, previous);
    }
    return file_of(entries);
}

/// Goes on with another epoch of two runs, the first of which is certified.
std::vector<std::string> with_a_later_epoch(const std::string& file) {
    auto ledger = *DeltaLedger::open(entries_of(file));
    const auto append = [&](const auto& entry) { EXPECT_TRUE(ledger.append(*entry)); };
    append(ledger.next_epoch(0.2, 3, Spending::kByHistory, "later", kRead, {}, 1e-6));
    for (const auto verdict : {Verdict::kCertified, Verdict::kNoSolutionFound}) {
        append(ledger.next_registration({"later", "bootstrap", {}, "rule"}, kRead));
        append(ledger.next_closing(verdict, std::string(64, 'b'), "", kRead));
    }
    return ledger.entries();
}

struct ForgedLedger {
    std::string what, file;
};

std::vector<ForgedLedger> forged_ledgers(const std::vector<std::string>& entries,
                                         base::Random& random) {
    std::vector<ForgedLedger> out;
    for (size_t i = 0; i + 1 < entries.size(); ++i) {  // what comes after the last is not known
        auto changed = entries, fewer = entries, swapped = entries;
        char& byte = changed[i][random.below(entries[i].size())];
        byte = byte == '1' ? '2' : '1';
        out.push_back({fmt::format("a byte of entry {}", i), file_of(changed)});
        fewer.erase(fewer.begin() + static_cast<long>(i));
        out.push_back({fmt::format("without entry {}", i), file_of(fewer)});
        out.push_back({fmt::format("without entry {}, chained", i), chained_again(fewer)});
        std::swap(swapped[i], swapped[i + 1]);
        out.push_back({fmt::format("entries {} and the next", i), file_of(swapped)});
        out.push_back({fmt::format("entries {} and the next, chained", i), chained_again(swapped)});
    }
    // the later epoch, of which the certificate says nothing: the rules alone speak of it
    for (size_t i = entries.size() - 5; i < entries.size(); ++i) {
        for (const auto& scalar : scalars_of(entries[i])) {
            const auto member = scalar.path.substr(scalar.path.find('.') + 1);
            if (!std::set<std::string>{"epoch", "run", "delta", "spent_before", "sequence",
                                       "delta_epoch", "runs", "reserve", "verdict"}
                     .contains(member))
                continue;
            if (member == "verdict" && i + 1 == entries.size()) continue;  // changes no charge
            auto changed = entries;
            auto value = entries[i].substr(scalar.from, scalar.to - scalar.from);
            value = value == "\"CERTIFIED\""           ? "\"NO_SOLUTION_FOUND\""
                    : value == "\"NO_SOLUTION_FOUND\"" ? "\"CERTIFIED\""
                                                       : other_value(value, random);
            changed[i].replace(scalar.from, scalar.to - scalar.from, value);
            out.push_back({fmt::format("{} of entry {}", scalar.path, i), chained_again(changed)});
        }
    }
    return out;
}

class LedgerFile : public Forgeries {};

TEST_F(LedgerFile, IsFollowedByEveryCertificateThatItClosed) {
    size_t n = 0, looks = 0, certified_before = 0;
    for (uint64_t seed = 0; n < 80; ++seed) {
        for (const auto& issued : issue(Drawn(seed))) {
            if (issued.plan.groups.empty()) continue;
            put(n, issued.sealed);
            const auto entries = entries_of(issued.ledger);
            const auto later = file_of(with_a_later_epoch(issued.ledger));
            put(fmt::format("{}.ledger", n), n % 2 == 0 ? issued.ledger : later);
            ++n;
            looks += issued.plan.look > 0;
            certified_before += entries.size() > 3;
        }
    }
    for (const auto& line : check(n)) EXPECT_FALSE(line.starts_with("REJECTED")) << line;
    EXPECT_GT(looks, 2u);
    EXPECT_GT(certified_before, 10u);
}

TEST_F(LedgerFile, IsNotFollowedWhereItWasChanged) {
    base::Random random(5);
    for (const auto kind : {Kind::kFurtherLook, Kind::kFixedRange}) {
        const auto issued = certified_one(kind).back();
        const auto entries = with_a_later_epoch(issued.ledger);
        auto forged = forged_ledgers(entries, random);
        ASSERT_GT(forged.size(), 50u);
        forged.push_back({"another ledger", issue(Drawn(0)).back().ledger});
        forged.push_back({"nothing", file_of(entries)});
        for (size_t i = 0; i < forged.size(); ++i) {
            put(i, issued.sealed);
            put(fmt::format("{}.ledger", i), forged[i].file);
        }
        const auto lines = check(forged.size());
        for (size_t i = 0; i < forged.size(); ++i)
            EXPECT_EQ(lines[i].starts_with("REJECTED"), i + 1 < lines.size())
                << forged[i].what << ": " << lines[i];
    }
}

TEST_F(LedgerFile, ShowsWhatTheCertificateAloneDoesNot) {
    const std::vector<Original> originals = draw_originals(6);
    base::Random random(6);
    std::vector<Forgery> forgeries;
    size_t n = 0;
    for (size_t k = 0; k < originals.size(); ++k) {
        for (const auto& scalar : scalars_of(originals[k].payload)) {
            const auto why = kNotFollowed.find(scalar.path);
            if (why == kNotFollowed.end() || why->second != kAccount) continue;
            forgeries.push_back(forge(originals, k, scalar, random));
        }
    }
    sign(originals, forgeries);
    for (const auto& forgery : forgeries) {
        put(n, forgery.sealed);
        put(fmt::format("{}.ledger", n++), originals[forgery.original].looks.back().ledger);
    }
    EXPECT_GT(n, 15u);
    for (const auto& line : check(n)) EXPECT_TRUE(line.starts_with("REJECTED")) << line;
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
