#pragma once
// Certificates beside the checker without code of Rampart, and what a forger with the key of the
// signer makes of them.
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
#include "support/places.hpp"

namespace rampart::forged_certificates {

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
                        folder_.string(), test_support::source_dir());
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

inline std::string payload_of(const std::string& certificate) {
    const std::string mark = "\"payload\":\"";
    const size_t from = certificate.find(mark) + mark.size();
    return *base::from_base64(certificate.substr(from, certificate.find('"', from) - from));
}

/// Signs again, as a forger with the key can.
inline std::string signed_again(const std::string& payload) {
    constexpr std::string_view kType = "application/vnd.rampart.certificate+json";
    const auto message =
        fmt::format("DSSEv1 {} {} {} {}", kType.size(), kType, payload.size(), payload);
    return fmt::format(
        R"({{"payloadType":"{}","payload":"{}","signatures":[{{"keyid":"{}","sig":"{}"}}]}})",
        kType, base::to_base64(payload), key().public_key().id(),
        base::to_base64(key().sign(message)));
}

/// Returns the value of a member that is an object, as text.
inline std::string object_at(const std::string& text, const std::string& member) {
    const size_t from = text.find("\"" + member + "\":{") + member.size() + 3;
    size_t to = from;
    for (int depth = 0; to == from || depth > 0; ++to) {
        depth += text[to] == '{' ? 1 : text[to] == '}' ? -1 : 0;
    }
    return text.substr(from, to - from);
}

inline void replace(std::string& text, const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
}

/// Makes the ledger of a forger consistent: the digests of the plan and, if given, of what is
/// frozen in the registration, and that of the entry.
inline std::string registered_again(const std::string& before, std::string payload,
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

inline void find_scalars(const std::string& text, size_t& at, const std::string& path,
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

inline std::vector<Scalar> scalars_of(const std::string& text) {
    std::vector<Scalar> out;
    size_t at = 0;
    find_scalars(text, at, "", out);
    return out;
}

/// Gives a setting another value, as JSON; it is added where it is not there.
inline std::string with_setting(std::string payload, const std::string& name,
                                const std::string& value) {
    for (const Scalar& scalar : scalars_of(payload)) {
        if (scalar.path == "plan.config." + name)
            return payload.replace(scalar.from, scalar.to - scalar.from, value);
    }
    const auto config = object_at(payload, "config");
    const auto with =
        fmt::format(R"({},"{}":{}}})", config.substr(0, config.size() - 1), name, value);
    replace(payload, config, with);
    return payload;
}

/// Returns another text: one letter or digit is changed.
inline std::string other_text(std::string text, base::Random& random) {
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
inline std::string other_value(const std::string& value, base::Random& random) {
    if (value[0] == '"') return other_text(value, random);
    if (value == "true" || value == "false") return value == "true" ? "false" : "true";
    if (value == "null") return "3";
    const bool up = random.bernoulli(0.5);
    if (value.find_first_not_of("0123456789") != std::string::npos)
        return fmt::format("{}", std::stod(value) * (up ? 1.001 : 0.999));
    return fmt::format("{}", std::stoll(value) + (up || value == "0" ? 1 : -1));
}

constexpr const char* kRule = "a setting within its limits: no figure need change with it";
constexpr const char* kWords = "words of the signer, or of an assumption or the recipe";
constexpr const char* kCounted = "counted by the signer outside the evidence";
constexpr const char* kDevelopment = "from the development set, which is not in the evidence";
constexpr const char* kUnused = "weighs nothing where no policy refers";
constexpr const char* kClock = "a clock of the signer; only the order of times can be checked";
constexpr const char* kAccount = "another entry of the ledger: found with --ledger";

/// Members that follow from nothing that the checker has, and why.
inline const std::map<std::string, std::string> kNotFollowed{
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
inline const std::set<std::string> kOfCertifiedRuns{
    "plan.config.valid_months", "plan.identity.anchor", "plan.identity.period_from",
    "plan.identity.period_to"};

/// Ranges of means: from the vault's records, but where they are fixed beforehand.
inline const std::set<std::string> kRanges{"plan.constraint_plans.mean_plans.lo",
                                           "plan.constraint_plans.mean_plans.hi",
                                           "plan.constraint_plans.mean_plans.max_weight"};

/// Centres of groups, which no figure needs where each record has its own.
inline const std::set<std::string> kCentres{"plan.groups.q_approve", "plan.groups.q_decline"};

/// Returns whether a member of the certificate follows from what the checker has.
inline bool is_followed(const Issued& issued, const std::string& member) {
    if (kOfCertifiedRuns.contains(member)) return issued.verdict == Verdict::kCertified;
    if (kRanges.contains(member)) return issued.plan.config.records_per_person == 0;
    if (kCentres.contains(member))
        return issued.plan.config.control_variates != ControlVariateKind::kRegression;
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

inline Forgery forge(const std::vector<Original>& originals, size_t k, const Scalar& scalar,
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
                                     test_support::source_dir(), forgeries.size()));
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

}  // namespace rampart::forged_certificates
