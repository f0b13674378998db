// The ledger with tests that spend delta to the last: at the null they pass with exactly the
// probability delta_k, so that a charge that is too large is seen, which the betting bound would
// hide. What an epoch may do wrong is computed exactly over all histories of answers, from the
// charges that the real ledger makes, and simulated with it.
#include <map>

#include "monte_carlo.hpp"
#include "support/binomial.hpp"
#include "support/ledger_account.hpp"

namespace rampart::test {
namespace {

using certification::Spending;

constexpr double kDelta = 0.1;
constexpr std::array kEpochs{12u, 21u, 52u};

/// Charges after m registrations, of which s were certified, as the real ledger makes them.
class Charges {
  public:
    Charges(unsigned runs, Spending spending) : runs_(runs), table_(runs) {
        Account certified(kDelta, runs, spending);
        certified.open_epoch();
        for (unsigned s = 0; s < runs; ++s) {
            Account account = certified;
            for (unsigned m = s; m < runs; ++m) {
                table_[m].resize(runs);
                table_[m][s] = account.charge().value();
                if (m + 1 == runs) break;
                account.register_run();
                account.close(false);
            }
            certified.register_run();
            certified.close(true);
        }
    }
    unsigned runs() const { return runs_; }
    double at(unsigned m, unsigned s) const { return table_[m][s]; }
    /// Returns the same charges, `factor` times too large: WRONG.
    Charges times(double factor) const {
        Charges out = *this;
        for (auto& row : out.table_) {
            for (double& charge : row) charge *= factor;
        }
        return out;
    }
    /// Returns the value of the epoch's beginning, computed from its end: best(charge, value after
    /// an answer no, value after a certificate) is the value of a state.
    template <class Best>
    double backwards(const Best& best) const {
        std::vector<double> after(runs_ + 1, 0);
        for (unsigned m = runs_; m-- > 0;) {
            for (unsigned s = 0; s <= m; ++s) after[s] = best(at(m, s), after[s], after[s + 1]);
        }
        return after[0];
    }

  private:
    unsigned runs_;
    std::vector<std::vector<double>> table_;
};

/// Returns the largest P(any false certificate) over all strategies, where tests are independent
/// given the history. Before each run: a candidate without gain, which passes with probability
/// delta_k, or a good one that passes with any probability.
double independent_tests(const Charges& charges) {
    return charges.backwards([](double charge, double no, double yes) {
        return std::max({charge + (1 - charge) * no, no, yes});
    });
}

/// Returns the largest P(any false certificate) over all strategies of a submitter who learns from
/// each answer to a good candidate all that it can tell about the vault, so that the candidates
/// without gain of different histories pass on different vaults.
double informed(const Charges& charges) {
    return std::min(1.0, charges.backwards([](double charge, double no, double yes) {
        return std::max(charge + no, no + yes);
    }));
}

TEST(LedgerCoin, ByHistoryTheBestStrategyHasTheWholeBudgetAndTwiceAsMuchIsSeen) {
    constexpr double kCharged = 0.9 * kDelta;  // a tenth is the reserve
    for (const unsigned runs : kEpochs) {
        const Charges charges(runs, Spending::kByHistory);
        const double sum = informed(charges), wrong = informed(charges.times(2));
        std::printf("    K = %u: the best strategy %.4f, charged twofold %.4f\n", runs, sum, wrong);
        EXPECT_LE(sum, kCharged);
        EXPECT_GT(sum, (1 - 1e-6) * kCharged) << "nothing of the budget is lost";
        EXPECT_GT(wrong, 1.9 * kCharged) << "twofold overspending is red for certain";
    }
}

TEST(LedgerCoin, EqualSharesAreTheBudgetUpToTheFirstCertificateOnly) {
    for (const unsigned runs : kEpochs) {
        const Charges charges(runs, Spending::kEqual);
        const auto same_answers = [](double charge, double no, double) { return charge + no; };
        EXPECT_LE(charges.backwards(same_answers), kDelta * (1 + 1e-12));
        EXPECT_GT(charges.backwards(same_answers), 0.99 * kDelta);
        EXPECT_GT(charges.times(2).backwards(same_answers), 1.9 * kDelta);
        // WRONG: for a submitter who learns from answers
        EXPECT_GT(informed(charges), 5 * kDelta);
    }
}

TEST(LedgerCoin, NoStrategyHasAFalseCertificateMoreOftenThanDelta) {
    for (const unsigned runs : kEpochs) {
        const Charges history(runs, Spending::kByHistory), equal(runs, Spending::kEqual);
        std::printf(
            "    K = %u: independent tests %.4f (by_history) %.4f (equal), informed %.4f "
            "(by_history) %.4f (equal)\n",
            runs, independent_tests(history), independent_tests(equal), informed(history),
            informed(equal));
        EXPECT_LE(independent_tests(history), kDelta);
        EXPECT_LE(independent_tests(equal), kDelta);
        EXPECT_LE(informed(history), kDelta);
        EXPECT_GT(independent_tests(history), 0.45 * kDelta);
        EXPECT_GT(independent_tests(equal), 0.9 * kDelta);
        EXPECT_GT(informed(history), 0.49 * kDelta);
        EXPECT_GT(independent_tests(equal.times(2)), 1.8 * kDelta);
    }
}

TEST(LedgerCoin, AChargeDependsOnTheNumbersOfAnswersAndNotOnTheirOrder) {
    for (const Spending spending : {Spending::kByHistory, Spending::kEqual}) {
        const Charges charges(21, spending);
        base::Random random(91);
        for (int path = 0; path < 50; ++path) {
            Account account(kDelta, 21, spending);
            account.open_epoch();
            unsigned certified = 0;
            for (unsigned m = 0; m < 21; ++m) {
                ASSERT_EQ(account.charge().value(), charges.at(m, certified));
                const bool pass = random.bernoulli(0.5);
                account.register_run();
                account.close(pass);
                certified += pass;
            }
            ASSERT_FALSE(account.charge());
        }
    }
}

TEST(LedgerCoin, ACertifiedCandidateIsNotLookedAtAgain) {
    Account account(kDelta, 12, Spending::kByHistory);
    account.open_epoch();
    account.register_run();
    account.close(true);
    EXPECT_THROW(account.register_look(), std::runtime_error);
    Account other(kDelta, 12, Spending::kByHistory);
    other.open_epoch();
    other.register_run();
    other.close(false);
    EXPECT_NO_THROW(other.register_look());
}

/// What a submitter knows, and the candidate that follows from it.
struct Known {
    unsigned m = 0, s = 0;
    bool last = false;         // the last answer
    bool good_passed = false;  // a good candidate was certified
};
enum class Move { kNull, kGood, kStop };
constexpr double kPower = 0.5;  // chance that a good candidate passes

struct Strategy {
    const char* name;
    Move (*next)(const Known&);
};
constexpr std::array kStrategies{
    Strategy{"always another without gain", [](const Known&) { return Move::kNull; }},
    Strategy{"good and not in turn, to the first good certificate",
             [](const Known& k) {
                 return k.good_passed ? Move::kStop : k.m % 2 == 0 ? Move::kGood : Move::kNull;
             }},
    Strategy{"after a certificate one without gain, else a good one",
             [](const Known& k) { return k.last ? Move::kNull : Move::kGood; }},
    Strategy{"three good ones, then those without gain",
             [](const Known& k) { return k.m < 3 ? Move::kGood : Move::kNull; }},
};

/// What is known after an answer to a candidate of that kind.
Known after(const Known& known, Move move, bool pass) {
    return {known.m + 1, known.s + pass, pass, known.good_passed || (pass && move == Move::kGood)};
}

/// Computes P(any false certificate) of a strategy.
class Exact {
  public:
    Exact(const Charges& charges, const Strategy& strategy)
        : charges_(charges), strategy_(strategy) {}
    double from(const Known& known = {}) {
        const Move move = strategy_.next(known);
        if (known.m == charges_.runs() || move == Move::kStop) return 0;
        const std::tuple key(known.m, known.s, known.last, known.good_passed);
        if (const auto at = done_.find(key); at != done_.end()) return at->second;
        const double charge = charges_.at(known.m, known.s);
        const double no = from(after(known, move, false));
        return done_[key] = move == Move::kNull
                                ? charge + (1 - charge) * no
                                : kPower * from(after(known, move, true)) + (1 - kPower) * no;
    }

  private:
    const Charges& charges_;
    const Strategy& strategy_;
    std::map<std::tuple<unsigned, unsigned, bool, bool>, double> done_;
};
double exact(const Charges& charges, const Strategy& strategy) {
    return Exact(charges, strategy).from();
}

/// Plays an epoch with the real ledger; true if a candidate without gain was certified. `factor`:
/// WRONG unless 1, tests pass that much more often than they were charged.
bool any_false(Account& account, const Strategy& strategy, base::Random& random, double factor) {
    account.open_epoch();
    Known known;
    while (const auto charge = account.charge()) {
        const Move move = strategy.next(known);
        if (move == Move::kStop) return false;
        account.register_run();
        const bool pass = random.bernoulli(move == Move::kGood ? kPower : factor * *charge);
        account.close(pass);
        if (pass && move == Move::kNull) return true;
        known = after(known, move, pass);
    }
    return false;
}

template <class Epoch>
int count_epochs(unsigned runs, Spending spending, int epochs, uint64_t seed, const Epoch& epoch) {
    base::Random random(base::mix64(seed));
    int count = 0;
    std::optional<Account> account;
    for (int e = 0; e < epochs; ++e) {
        if (e % 20 == 0) account.emplace(kDelta, runs, spending);  // twenty epochs in one ledger
        count += epoch(*account, random);
    }
    return count;
}

void expect_rate(int count, int epochs, double exactly) {
    EXPECT_GT(binomial_tail(epochs, count, exactly), 1e-6);
    EXPECT_GT(binomial_tail(epochs, epochs - count, 1 - exactly), 1e-6);
    EXPECT_FALSE(red(count, epochs, kDelta));
}

TEST(LedgerCoin, SubmittersWhoReactToAnswersStayWithinDelta) {
    for (const Spending spending : {Spending::kByHistory, Spending::kEqual}) {
        for (const unsigned runs : kEpochs) {
            const Charges charges(runs, spending);
            const int epochs = runs > 21 ? 500 : 1000;
            for (const Strategy& strategy : kStrategies) {
                SCOPED_TRACE(strategy.name);
                const double exactly = exact(charges, strategy);
                const int count = count_epochs(runs, spending, epochs, 92,
                                               [&](Account& account, base::Random& random) {
                                                   return any_false(account, strategy, random, 1);
                                               });
                std::printf("    %-10s K = %u: %-55s %.4f, exactly %.4f\n",
                            std::string(to_string(spending)).c_str(), runs, strategy.name,
                            static_cast<double>(count) / epochs, exactly);
                EXPECT_LE(exactly, kDelta);
                expect_rate(count, epochs, exactly);
            }
        }
    }
}

TEST(LedgerCoin, ACandidateLookedAtUntilItPassesIsChargedForAllItsLooks) {
    constexpr unsigned kLooks = 4;  // the first and three further ones
    for (const Spending spending : {Spending::kByHistory, Spending::kEqual}) {
        for (const unsigned runs : kEpochs) {
            const Charges charges(runs, spending);
            const unsigned step = spending == Spending::kByHistory ? kLooks : 1;
            double none = 1;
            for (unsigned m = 0; m < runs; m += step) none *= 1 - charges.at(m, 0);
            const auto epoch = [&](Account& account, base::Random& random) {
                account.open_epoch();
                for (unsigned m = 0; const auto charge = account.charge(); m += step) {
                    EXPECT_EQ(*charge, charges.at(m, 0)) << "each look counts";
                    const bool passes = random.bernoulli(*charge);
                    const uint64_t when = random.below(kLooks);
                    account.register_run();
                    account.close(passes && when == 0);
                    for (uint64_t look = 1; look < kLooks && !(passes && when < look); ++look) {
                        account.register_look();
                        account.close(passes && when == look);
                    }
                    if (passes) return true;
                }
                return false;
            };
            const int epochs = runs > 21 ? 400 : 800;
            const int count = count_epochs(runs, spending, epochs, 93, epoch);
            expect_rate(count, epochs, 1 - none);
            EXPECT_LE(1 - none, kDelta);
        }
    }
}

TEST(LedgerCoin, TwofoldOverspendingIsRed) {
    constexpr int kTestEpochs = 2000;
    for (const unsigned runs : kEpochs) {
        const Charges charges(runs, Spending::kEqual);
        const Strategy& strategy = kStrategies[0];
        const double wrong = exact(charges.times(2), strategy);
        const double chance = chance_of_red(kTestEpochs, kDelta, wrong);
        const double false_alarm = chance_of_red(kTestEpochs, kDelta, exact(charges, strategy));
        std::printf(
            "    K = %u: charged twofold %.4f; %d epochs are red with probability %.6f, "
            "and %.6f if the charges are right\n",
            runs, wrong, kTestEpochs, chance, false_alarm);
        EXPECT_GE(chance, 0.99);
        EXPECT_LE(false_alarm, kRed);
        const int count = count_epochs(runs, Spending::kEqual, kTestEpochs, 94,
                                       [&](Account& account, base::Random& random) {
                                           return any_false(account, strategy, random, 2);
                                       });
        EXPECT_TRUE(red(count, kTestEpochs, kDelta)) << "WRONG: twice what is charged";
    }
}

}  // namespace
}  // namespace rampart::test
