#include "rampart/certification/delta_ledger.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>

namespace rampart::certification {
namespace {

const base::TimePoint kNow = base::TimePoint::from_micros(1'100'000'000'000'000);

DeltaLedger::RunRequest request_for(const std::string& candidate) {
    return {candidate, "reference", base::sha256("plan of " + candidate), "matured by July"};
}

DeltaLedger with_epoch(uint32_t runs, Spending spending = Spending::kEqual) {
    DeltaLedger ledger = *DeltaLedger::open({});
    EXPECT_TRUE(ledger.append(*ledger.next_epoch(0.1, runs, spending, "first", kNow)));
    return ledger;
}

void run_once(DeltaLedger& ledger, const std::string& candidate, Verdict verdict) {
    ASSERT_TRUE(ledger.append(*ledger.next_registration(request_for(candidate), kNow)));
    ASSERT_TRUE(ledger.append(*ledger.next_closing(verdict, "", "", kNow)));
}

TEST(DeltaLedger, ChargesEachRunItsShareWhateverTheVerdict) {
    DeltaLedger ledger = with_epoch(4);
    EXPECT_DOUBLE_EQ(*ledger.next_delta(), 0.025);
    run_once(ledger, "a", Verdict::kNoSolutionFound);
    run_once(ledger, "b", Verdict::kCertified);
    EXPECT_DOUBLE_EQ(ledger.spent(), 0.05);
    EXPECT_EQ(ledger.runs_left(), 2u);
}

TEST(DeltaLedger, RefusesWhenSpentUntilANewEpoch) {
    DeltaLedger ledger = with_epoch(2);
    run_once(ledger, "a", Verdict::kNoSolutionFound);
    run_once(ledger, "b", Verdict::kNoSolutionFound);
    EXPECT_EQ(ledger.next_delta().error().reason, "delta_spent");
    EXPECT_EQ(ledger.next_registration(request_for("c"), kNow).error().reason, "delta_spent");
    ASSERT_TRUE(ledger.append(*ledger.next_epoch(0.1, 2, Spending::kEqual, "new records", kNow)));
    EXPECT_EQ(ledger.epoch(), 2u);
    EXPECT_EQ(ledger.spent(), 0);
    run_once(ledger, "c", Verdict::kCertified);
}

TEST(DeltaLedger, AnEpochIsNeverOlderThanAnEntryBeforeItNotEvenInAForgedLedger) {
    DeltaLedger ledger = with_epoch(2);
    run_once(ledger, "a", Verdict::kNoSolutionFound);
    const auto before = kNow - base::Duration::micros(1);
    EXPECT_EQ(ledger.next_epoch(0.1, 2, Spending::kEqual, "", before).error().reason,
              "time_goes_back");
    EXPECT_TRUE(ledger.next_epoch(0.1, 2, Spending::kEqual, "", kNow));
    auto entries = ledger.entries();
    entries.push_back(encode(
        LedgerEntry{.sequence = entries.size(),
                    .previous = ledger.head(),
                    .body = EpochOpened{2, 0.1, 2, Spending::kEqual, false, 0, "", before}}));
    const auto forged = DeltaLedger::open(entries);
    ASSERT_FALSE(forged);
    EXPECT_EQ(forged.error().code, base::ErrorCode::kDataLoss);
    EXPECT_EQ(forged.error().reason, "time_goes_back");
}

TEST(DeltaLedger, BeforeTheFirstEpochThereIsNothingToSpend) {
    const DeltaLedger ledger = *DeltaLedger::open({});
    EXPECT_EQ(ledger.next_delta().error().reason, "no_epoch");
    EXPECT_FALSE(ledger.next_epoch(0.1, 0, Spending::kEqual, "", kNow));
    EXPECT_FALSE(ledger.next_epoch(0.6, 1, Spending::kEqual, "", kNow));
    EXPECT_FALSE(ledger.next_epoch(std::nan(""), 1, Spending::kEqual, "", kNow));
}

TEST(DeltaLedger, ACrashInTheMiddleOfARunNeitherLosesNorDoublesItsCharge) {
    DeltaLedger ledger = with_epoch(3);
    const std::string entry = *ledger.next_registration(request_for("a"), kNow);
    ASSERT_TRUE(ledger.append(entry));
    const double spent = ledger.spent();

    DeltaLedger reopened = *DeltaLedger::open(ledger.entries());
    ASSERT_TRUE(reopened.open_run());
    EXPECT_EQ(reopened.open_run()->candidate_id, "a");
    EXPECT_EQ(reopened.spent(), spent);
    EXPECT_EQ(*reopened.next_delta(), spent) << "of the open run, not of the next";
    EXPECT_EQ(reopened.next_registration(request_for("a"), kNow).error().reason, "run_open");
    const auto ticket = reopened.ticket(request_for("a"));
    ASSERT_TRUE(ticket);
    EXPECT_EQ(ticket->entry(), entry);
    ASSERT_TRUE(reopened.append(*reopened.next_closing(Verdict::kCertified, "", "", kNow)));
    EXPECT_EQ(reopened.spent(), spent);
    EXPECT_EQ(reopened.runs_used(), 1u);
}

TEST(DeltaLedger, AnOpenRunIsForItsCandidateAndPlanAlone) {
    DeltaLedger ledger = with_epoch(3);
    EXPECT_EQ(ledger.ticket(request_for("a")).error().reason, "no_run_open");
    ASSERT_TRUE(ledger.append(*ledger.next_registration(request_for("a"), kNow)));
    EXPECT_EQ(ledger.ticket(request_for("b")).error().reason, "other_run_open");
    auto changed = request_for("a");
    changed.plan = base::sha256("another plan");
    EXPECT_EQ(ledger.ticket(changed).error().reason, "other_run_open");
    EXPECT_EQ(ledger.next_epoch(0.1, 3, Spending::kEqual, "", kNow).error().reason, "run_open");
    EXPECT_FALSE(ledger.next_closing(Verdict::kRefused, "", "", kNow));
    EXPECT_FALSE(ledger.next_closing(Verdict::kCertified, "not a digest", "", kNow));
    ASSERT_TRUE(ledger.append(*ledger.next_closing(Verdict::kNoSolutionFound, "",
                                                   "abandoned: vault was restored", kNow)));
    EXPECT_EQ(ledger.ticket(request_for("a")).error().reason, "no_run_open");
    EXPECT_FALSE(ledger.next_closing(Verdict::kCertified, "", "", kNow)) << "closed once";
}

std::vector<std::string> some_entries() {
    DeltaLedger ledger = with_epoch(5);
    run_once(ledger, "a", Verdict::kNoSolutionFound);
    run_once(ledger, "b", Verdict::kCertified);
    EXPECT_TRUE(ledger.append(*ledger.next_registration(request_for("c"), kNow)));
    return ledger.entries();
}

TEST(DeltaLedger, ReopensToTheSameState) {
    const auto entries = some_entries();
    const DeltaLedger ledger = *DeltaLedger::open(entries);
    EXPECT_EQ(ledger.entries(), entries);
    EXPECT_EQ(ledger.runs_used(), 3u);
    EXPECT_EQ(ledger.head(), base::sha256(entries.back()));
    for (const std::string& bytes : entries) EXPECT_EQ(encode(*decode_ledger_entry(bytes)), bytes);
}

TEST(DeltaLedger, AnEpochHoldsTheIdsOfItsKeysAndOneFromBeforeHasNone) {
    DeltaLedger ledger = with_epoch(3);
    EXPECT_EQ(ledger.entries()[0].find("keys"), std::string::npos);
    EXPECT_EQ(ledger.current()->keys, KeyIds());
    const KeyIds ids{.draw = "1", .evidence = "2", .signing = "3", .split = "4"};
    const auto entry = ledger.next_epoch(0.1, 2, Spending::kEqual, "new records", kNow, ids);
    ASSERT_TRUE(ledger.append(entry.value()));
    EXPECT_EQ(ledger.current()->keys, ids);
    EXPECT_EQ(encode(*decode_ledger_entry(*entry)), *entry);
}

TEST(DeltaLedger, AChangedDroppedSwappedOrRepeatedEntryBreaksTheChain) {
    const auto entries = some_entries();
    for (size_t i = 0; i + 1 < entries.size(); ++i) {
        auto dropped = entries;
        dropped.erase(dropped.begin() + static_cast<long>(i));
        EXPECT_FALSE(DeltaLedger::open(dropped)) << i;
        auto swapped = entries;
        std::swap(swapped[i], swapped[i + 1]);
        EXPECT_FALSE(DeltaLedger::open(swapped)) << i;
        auto repeated = entries;
        repeated.insert(repeated.begin() + static_cast<long>(i), entries[i]);
        const auto result = DeltaLedger::open(repeated);
        ASSERT_FALSE(result) << i;
        EXPECT_EQ(result.error().code, base::ErrorCode::kDataLoss);
    }
}

RC_GTEST_PROP(DeltaLedger, NoByteCanBeChangedUnnoticed, ()) {
    static const auto entries = some_entries();
    auto changed = entries;
    // the last entry's own content is not yet covered by a later hash: change an earlier one
    auto& entry = changed[static_cast<size_t>(
        *rc::gen::inRange<int>(0, static_cast<int>(entries.size()) - 1))];
    const auto at = static_cast<size_t>(*rc::gen::inRange<int>(0, static_cast<int>(entry.size())));
    const char byte = *rc::gen::arbitrary<char>();
    RC_PRE(entry[at] != byte);
    entry[at] = byte;
    RC_ASSERT(!DeltaLedger::open(changed));
}

TEST(DeltaLedger, EntriesAreReadOnlyInCanonicalForm) {
    const std::string entry = some_entries()[1];
    EXPECT_TRUE(decode_ledger_entry(entry));
    for (const std::string& bytes :
         {entry + " ", entry.substr(0, entry.size() - 1), std::string(), std::string("{}"),
          std::string("{\"sequence\":1e0") + entry.substr(13), entry + entry}) {
        const auto result = decode_ledger_entry(bytes);
        ASSERT_FALSE(result) << bytes;
        EXPECT_EQ(result.error().code, base::ErrorCode::kDataLoss);
    }
}

TEST(DeltaLedger, WhatCannotBeReadBackIsNotStored) {
    DeltaLedger ledger = with_epoch(3);
    auto request = request_for("a");
    request.vault_rule = "\xff\xfe";
    EXPECT_EQ(ledger.next_registration(request, kNow).error().reason, "bad_text");
    request.vault_rule = "quotes \" \\ and \n lines, ä";
    const auto entry = ledger.next_registration(request, kNow);
    ASSERT_TRUE(entry);
    ASSERT_TRUE(ledger.append(*entry));
    EXPECT_EQ(ledger.open_run()->vault_rule, request.vault_rule);
}

TEST(DeltaLedger, KeepsTheLogOfTheLastRegistrationThatHasIt) {
    DeltaLedger ledger = with_epoch(4);
    EXPECT_TRUE(ledger.log().empty());
    const std::vector<LogEnd> log{{0, 7, base::sha256("seven"), 2}, {1, 0, {}}};
    for (const auto& ends : {log, std::vector<LogEnd>()}) {
        const auto entry =
            ledger.next_registration(request_for("a"), kNow, std::nullopt, ends).value();
        EXPECT_EQ(entry.find("\"log\":") != std::string::npos, !ends.empty());
        ASSERT_TRUE(ledger.append(entry));
        EXPECT_EQ(ledger.open_run()->log, ends);
        EXPECT_EQ(ledger.log(), log);
        ASSERT_TRUE(ledger.append(*ledger.next_closing(Verdict::kNoSolutionFound, "", "", kNow)));
    }
}

EpochOpened terms(uint32_t runs, Spending spending, double reserve = 0) {
    EpochOpened epoch;
    epoch.delta_epoch = 0.1;
    epoch.runs = runs;
    epoch.spending = spending;
    epoch.reserve = reserve;
    return epoch;
}

TEST(Spending, EqualSharesSumToTheBudget) {
    double sum = 0;
    for (uint32_t k = 0; k < 12; ++k) sum += delta_of_run(terms(12, Spending::kEqual), k, k / 3);
    EXPECT_NEAR(sum, 0.1, 1e-12);
}

TEST(Spending, ByHistoryTheSumOverAllPossibleHistoriesIsWithinTheBudget) {
    const uint32_t runs = 10;
    double sum = 0;  // over every answer pattern of the k - 1 earlier runs
    for (uint32_t k = 1; k <= runs; ++k) {
        for (uint32_t pattern = 0; pattern < (1u << (k - 1)); ++pattern) {
            const auto certificates = static_cast<uint32_t>(__builtin_popcount(pattern));
            sum += delta_of_run(terms(runs, Spending::kByHistory), k - 1, certificates);
        }
    }
    EXPECT_LE(sum, 0.1);
    EXPECT_GT(sum, 0.05);
}

/// A number of 2^-90: every charge of these tests is a whole one, so that sums are exact.
__extension__ using Exact = __int128;
Exact exact(double charge) { return static_cast<Exact>(std::ldexp(charge, 90)); }

/// Sums charges over all histories of answers, of the strategy that makes the sum largest: before
/// each registration it chooses between a new run and a further look at one that did not pass.
class WorstStrategy {
  public:
    Exact sum(const DeltaLedger& ledger, int registrations_left) {
        if (registrations_left == 0) return 0;
        const std::string state =
            fmt::format("{} {} {} {}", registrations_left, ledger.entries().size(),
                        ledger.runs_used(), certified(ledger));
        if (const auto known = known_.find(state); known != known_.end()) return known->second;
        Exact largest = 0;
        if (const auto charge = ledger.next_delta()) {
            DeltaLedger next = ledger;
            EXPECT_TRUE(next.append(*next.next_registration(
                request_for(fmt::format("run {}", ledger.runs_used())), kNow)));
            largest = exact(*charge) + after_either_answer(next, registrations_left);
        }
        for (uint32_t run = 0; run < ledger.runs_used(); ++run) {
            auto look = request_for(fmt::format("run {}", run));
            const Registration* earlier = ledger.closed_run(look.candidate_id, look.reference_id);
            if (earlier == nullptr) continue;
            look.look = earlier->look + 1;
            DeltaLedger next = ledger;
            EXPECT_TRUE(next.append(*next.next_registration(look, kNow)));
            largest = std::max(largest, after_either_answer(next, registrations_left));
            break;  // one that failed is as good as another
        }
        return known_[state] = largest;
    }

  private:
    Exact after_either_answer(const DeltaLedger& ledger, int registrations_left) {
        Exact both = 0;
        for (const Verdict verdict : {Verdict::kCertified, Verdict::kNoSolutionFound}) {
            DeltaLedger next = ledger;
            EXPECT_TRUE(next.append(*next.next_closing(verdict, std::string(64, 'a'), "", kNow)));
            both += sum(next, registrations_left - 1);
        }
        return both;
    }
    static int certified(const DeltaLedger& ledger) {
        int count = 0;
        for (const std::string& entry : ledger.entries()) {
            count += entry.find("CERTIFIED") != std::string::npos;
        }
        return count;
    }
    std::map<std::string, Exact> known_;
};

/// The sum over all histories of an epoch of six runs and as many looks, in budgets.
double worst_sum(const std::string& opened) {
    DeltaLedger ledger = *DeltaLedger::open({});
    EXPECT_TRUE(ledger.append(opened));
    const Exact sum = WorstStrategy().sum(ledger, 12);
    // rounding of the doubles must not hide an excess: compared exactly
    if (sum <= exact(0.1)) return static_cast<double>(sum) / static_cast<double>(exact(0.1));
    return std::max(std::nextafter(1.0, 2.0),
                    static_cast<double>(sum) / static_cast<double>(exact(0.1)));
}

std::string opening(Spending spending, bool counts_looks) {
    return encode(LedgerEntry{.sequence = 0,
                              .previous = base::sha256(""),
                              .body = EpochOpened{1, 0.1, 6, spending, counts_looks, 0, "", kNow}});
}

TEST(Spending, ByHistoryTheChargesOverAllHistoriesOfRunsAndLooksSumToAtMostTheBudget) {
    const DeltaLedger empty = *DeltaLedger::open({});
    const double sum = worst_sum(*empty.next_epoch(0.1, 6, Spending::kByHistory, "", kNow));
    EXPECT_LE(sum, 1);
    EXPECT_GT(sum, 0.8) << "little of the budget is lost";
    // WRONG: looks that are not counted, and shares that do not depend on the history
    EXPECT_GT(worst_sum(opening(Spending::kByHistory, false)), 1.1);
    EXPECT_GT(worst_sum(opening(Spending::kEqual, false)), 10);
}

/// Returns the largest chance that a strategy has to get a harmful candidate certified, where each
/// is certified with just the probability that it is charged: the sum of charges of the harmful
/// ones up to the first that is certified. Before each registration it chooses a harmful candidate,
/// and goes on only without a certificate, or a harmless one, and goes on after either answer.
double worst_chance(const EpochOpened& epoch, uint32_t m, uint32_t s,
                    std::map<std::pair<uint32_t, uint32_t>, double>& known) {
    if (m == epoch.runs) return 0;
    if (const auto found = known.find({m, s}); found != known.end()) return found->second;
    const double without = worst_chance(epoch, m + 1, s, known);
    return known[{m, s}] = std::max(delta_of_run(epoch, m, s) + without,
                                    without + worst_chance(epoch, m + 1, s + 1, known));
}

TEST(Spending, ByHistoryNoStrategyGetsAHarmfulCandidateCertifiedWithMoreThanTheBudget) {
    for (const uint32_t runs : {1u, 2u, 3u, 12u, 21u, 52u, 100u}) {
        std::map<std::pair<uint32_t, uint32_t>, double> known;
        const double worst = worst_chance(terms(runs, Spending::kByHistory, 0.01), 0, 0, known);
        EXPECT_LE(worst, 0.09) << runs;
        EXPECT_GT(worst, 0.09 * (1 - 1e-8)) << runs << ": nothing of the budget is lost";
    }
    // WRONG: shares that do not depend on the history
    std::map<std::pair<uint32_t, uint32_t>, double> known;
    EXPECT_GT(worst_chance(terms(12, Spending::kEqual, 0.01), 0, 0, known), 0.5);
}

/// The same of a ledger, whose strategies choose between a new run and a further look, too: a look
/// at a harmful candidate is not charged, since its wealth holds at all looks together.
double worst_chance(const DeltaLedger& ledger, int answers_left,
                    std::map<std::string, double>& known) {
    if (answers_left == 0) return 0;
    const auto charge = ledger.next_delta();
    const DeltaLedger::RunRequest* failed_run = nullptr;
    auto look = request_for("");
    for (uint32_t run = 0; run < ledger.runs_used() && failed_run == nullptr; ++run) {
        look = request_for(fmt::format("run {}", run));
        const Registration* earlier = ledger.closed_run(look.candidate_id, look.reference_id);
        if (earlier == nullptr) continue;
        look.look = earlier->look + 1;
        failed_run = &look;  // one is as good as another
    }
    const std::string state = fmt::format("{} {} {} {}", answers_left, charge.value_or(0),
                                          ledger.runs_left(), failed_run != nullptr);
    if (const auto found = known.find(state); found != known.end()) return found->second;
    const auto after = [&](const DeltaLedger::RunRequest& request, Verdict verdict) {
        DeltaLedger next = ledger;
        EXPECT_TRUE(next.append(*next.next_registration(request, kNow)));
        EXPECT_TRUE(next.append(*next.next_closing(verdict, std::string(64, 'a'), "", kNow)));
        return worst_chance(next, answers_left - 1, known);
    };
    double largest = 0;
    const auto take = [&](const DeltaLedger::RunRequest& request, double cost) {
        const double failed = after(request, Verdict::kNoSolutionFound);
        largest = std::max({largest, cost + failed, failed + after(request, Verdict::kCertified)});
    };
    if (charge) take(request_for(fmt::format("run {}", ledger.runs_used())), *charge);
    if (failed_run != nullptr) take(look, 0);
    return known[state] = largest;
}

TEST(Spending, ByHistoryThatHoldsWithFurtherLooksToo) {
    DeltaLedger ledger = *DeltaLedger::open({});
    ASSERT_TRUE(
        ledger.append(*ledger.next_epoch(0.1, 6, Spending::kByHistory, "", kNow, {}, 0.01)));
    std::map<std::string, double> known;
    const double worst = worst_chance(ledger, 12, known);
    EXPECT_LE(worst, 0.09);
    EXPECT_GT(worst, 0.09 * (1 - 1e-8));
}

TEST(Spending, ByHistoryAReserveIsPaidOutOfTheBudgetAndBelowIt) {
    DeltaLedger ledger = *DeltaLedger::open({});
    for (const double reserve : {-0.01, 0.1, std::nan("")}) {
        EXPECT_EQ(
            ledger.next_epoch(0.1, 4, Spending::kByHistory, "", kNow, {}, reserve).error().reason,
            "bad_budget");
    }
    ASSERT_TRUE(
        ledger.append(*ledger.next_epoch(0.1, 12, Spending::kByHistory, "", kNow, {}, 0.01)));
    EXPECT_EQ(DeltaLedger::open(ledger.entries())->current()->reserve, 0.01);
    // the first certificate of an epoch costs less than an equal share, the later ones more
    const auto epoch = *ledger.current();
    EXPECT_GT(delta_of_run(epoch, 0, 0), 0.1 / 12);
    EXPECT_LT(delta_of_run(epoch, 5, 1), delta_of_run(epoch, 5, 0) / 2);
}

TEST(Spending, AFurtherLookTakesThePlaceOfARunButIsNotCharged) {
    DeltaLedger ledger = with_epoch(3, Spending::kByHistory);
    const auto close = [&](Verdict verdict) {
        ASSERT_TRUE(ledger.append(*ledger.next_closing(verdict, std::string(64, 'a'), "", kNow)));
    };
    auto request = request_for("a");
    ASSERT_TRUE(ledger.append(*ledger.next_registration(request, kNow)));
    close(Verdict::kNoSolutionFound);
    const double spent = ledger.spent();
    request.look = 1;
    ASSERT_TRUE(ledger.append(*ledger.next_registration(request, kNow)));
    EXPECT_EQ(ledger.spent(), spent);
    close(Verdict::kCertified);
    EXPECT_EQ(ledger.runs_left(), 1u);
    EXPECT_NEAR(*ledger.next_delta(), 0.1 / 3 / 4 / 2, 1e-12) << "after two, of which one passed";
    request = request_for("b");
    ASSERT_TRUE(ledger.append(*ledger.next_registration(request, kNow)));
    EXPECT_EQ(ledger.ticket(request)->looks_before(), 1u);
    close(Verdict::kNoSolutionFound);
    EXPECT_EQ(ledger.next_delta().error().reason, "delta_spent");
    request.look = 1;
    EXPECT_TRUE(ledger.next_registration(request, kNow)) << "what was charged may be looked at";
}

TEST(Spending, AnEpochOnTheDiskKeepsTheSpendingThatItWasOpenedWith) {
    const auto stored = [](std::string_view spending) {
        return fmt::format(
            "{{\"sequence\":0,\"previous\":\"{}\",\"epoch_opened\":{{\"epoch\":1,"
            "\"delta_epoch\":0.1,\"runs\":12,\"spending\":\"{}\",\"note\":\"first\",\"at\":\"2004-"
            "01-01T00:00:00Z\"}},"
            "\"registration\":null,\"closing\":null}}",
            base::sha256("").hex(), spending);
    };
    const auto equal = DeltaLedger::open({stored("equal")});
    ASSERT_TRUE(equal) << equal.error().message;
    EXPECT_EQ(equal->current()->spending, Spending::kEqual);
    EXPECT_DOUBLE_EQ(*equal->next_delta(), 0.1 / 12);
    const auto by_history = DeltaLedger::open({stored("by_history")});
    ASSERT_TRUE(by_history) << by_history.error().message;
    EXPECT_FALSE(by_history->current()->counts_looks);
    EXPECT_NEAR(*by_history->next_delta(), 0.1 / 12 / 2, 1e-12);
}

TEST(Spending, ByHistoryIsChargedByTheLedger) {
    DeltaLedger ledger = with_epoch(4, Spending::kByHistory);
    EXPECT_NEAR(*ledger.next_delta(), 0.0125, 1e-12);
    run_once(ledger, "a", Verdict::kCertified);
    EXPECT_NEAR(*ledger.next_delta(), 0.00625, 1e-12);
    run_once(ledger, "b", Verdict::kNoSolutionFound);
    EXPECT_NEAR(*ledger.next_delta(), 0.025 / 4 / 2, 1e-12);
}

}  // namespace
}  // namespace rampart::certification
