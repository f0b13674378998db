// The checker without code of Rampart follows the file of the ledger: a certificate is one of its
// entries, and nothing before or after it was changed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "forged_certificates.hpp"

namespace rampart {
namespace {

using namespace forged_certificates;

std::vector<std::string> entries_of(const std::string& ledger) {
    std::vector<std::string> out;
    std::istringstream in(ledger);
    for (std::string line; std::getline(in, line);) out.push_back(line);
    return out;
}

std::string file_of(const std::vector<std::string>& entries) {
    return fmt::format("{}\n", fmt::join(entries, "\n"));
}

/// Chains the entries again, as a forger can.
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

}  // namespace
}  // namespace rampart
