// Attacks on an epoch: submitters who see every answer and want a harmful policy certified. The
// gate is the vectorised one, the charges are those of the real ledger. A test is red where the
// rate of epochs with a false certificate is above delta with p < 0.001 by the exact binomial test.
// Beside each attack stands a gate with a mistake, on which it succeeds.
//
// RAMPART_ATTACK_EPOCHS=4000 plays that many epochs of each attack; 400 by default.
#include <cstdlib>

#include "applicants.hpp"
#include "monte_carlo.hpp"
#include "support/binomial.hpp"
#include "support/ledger_account.hpp"

namespace rampart::test {
namespace {

using certification::GateConfig;
using certification::Spending;

constexpr double kDelta = 0.1;
constexpr std::array kEpochs{12u, 21u, 52u};

int epochs_to_play() {
    const char* text = std::getenv("RAMPART_ATTACK_EPOCHS");
    return text == nullptr ? 400 : std::max(400, std::atoi(text));
}

/// Counts the epochs in which the attack succeeds, and prints their share.
template <class Attack>
int successes(const std::string& name, int epochs, uint64_t seed, const Attack& attack) {
    return static_cast<int>(std::lround(rate_of(name, epochs, seed, attack) * epochs));
}
template <class Attack>
void expect_within_delta(const std::string& name, uint64_t seed, const Attack& attack) {
    const int epochs = epochs_to_play();
    EXPECT_FALSE(red(successes(name, epochs, seed, attack), epochs, kDelta)) << name;
}
/// The rate is above delta beyond doubt: a gate with a mistake, or candidates that are good.
template <class Attack>
void expect_red(const std::string& name, uint64_t seed, const Attack& attack) {
    constexpr int kEnough = 400;
    EXPECT_TRUE(red(successes(name, kEnough, seed, attack), kEnough, kDelta)) << name;
}

/// Settings as the service has them: one record a person, the range fixed beforehand.
GateConfig service_config() {
    GateConfig config = lender_config();
    config.records_per_person = 1;
    return config;
}

/// The office that tests candidates: ledger and gate on one vault.
class Office {
  public:
    Office(unsigned runs, Spending spending, const GateConfig& config = service_config())
        : gate_(config), account_(kDelta, runs, spending) {
        account_.open_epoch();
    }
    const VectorGate& gate() const { return gate_; }
    Account& account() { return account_; }

    /// Tests the candidate that both parts of the data hold; returns the answer, none when the
    /// epoch is spent.
    std::optional<bool> submit(const Columns& development, const Columns& vault) {
        const auto delta = account_.charge();
        if (!delta) return std::nullopt;
        const VectorPlan plan = gate_.plan(development, vault, *delta);
        return submit(plan, gate_.values(vault, plan));
    }
    std::optional<bool> submit(const VectorPlan& plan, std::span<const double> values) {
        const auto delta = account_.charge();
        if (!delta) return std::nullopt;
        account_.register_run();
        const bool passes = wealth_of(plan, values) >= 1 / *delta;
        account_.close(passes);
        return passes;
    }

  private:
    VectorGate gate_;
    Account account_;
};

/// Returns records of which an approval brings `mean[i]`, decided by the reference.
Columns decided(base::Random& random, const std::vector<double>& mean) {
    Columns c;
    c.resize(mean.size());
    for (size_t i = 0; i < mean.size(); ++i) {
        c.p[i] = c.reference[i] = random.uniform(0.4, 0.6);
        c.candidate[i] = c.reference[i];
        c.approved[i] = random.bernoulli(c.p[i]) ? 1 : 0;
        c.impact[i] = random.bernoulli((mean[i] + 150) / 225) ? 75 : -150;
    }
    return c;
}

/// Submitter who learns the vault's noise: each query is truly good by a part of the applicants, as
/// good as to pass about half of the time, and moves the others at random. The last candidate harms
/// a little and moves the others as the answers suggest.
class Informed {
  public:
    Informed(base::Random& random, size_t vault, size_t development)
        : random_(random), vault_(draw(vault)), development_(draw(development)) {}

    /// Asks good queries until the last run, which is the harmful candidate's; returns its answer.
    bool succeeds(unsigned runs, Spending spending) {
        Office office(runs, spending);
        ask(office, runs - 1);
        return submit_harm(office);
    }
    /// Asks through several epochs, and submits the harmful candidate as the first run of a further
    /// one. `same_records`: WRONG, each epoch reads the records of the one before.
    bool succeeds_after_epochs(unsigned epochs, unsigned runs, bool same_records) {
        for (unsigned epoch = 0; epoch < epochs; ++epoch) {
            Office office(runs, Spending::kByHistory);
            ask(office, runs);
            if (!same_records) vault_ = draw(vault_.size());
        }
        Office office(runs, Spending::kByHistory);
        return submit_harm(office);
    }
    /// Returns how many of the good queries were certified.
    unsigned certified() const { return certified_; }

  private:
    void ask(Office& office, unsigned queries) {
        for (unsigned query = 0; query < queries; ++query) {
            direct(development_, push_, [&](size_t) { return coin(); });
            direct(vault_, push_, [&](size_t) { return coin(); });
            const auto answer = office.submit(development_, vault_);
            if (!answer) return;
            for (size_t i = share(vault_.size()); i < votes_.size(); ++i) {
                const bool up = vault_.candidate[i] > vault_.reference[i];
                votes_[i] += up == *answer ? 1 : -1;
            }
            certified_ += *answer;
            push_ = std::clamp(push_ * (*answer ? 0.9 : 1.1), 0.05, 1.0);
        }
    }
    bool submit_harm(Office& office) {
        constexpr double kHarm = -0.02;
        direct(development_, kHarm, [&](size_t) { return coin(); });
        direct(vault_, kHarm,
               [&](size_t i) { return votes_[i] != 0 ? std::copysign(1, votes_[i]) : coin(); });
        return office.submit(development_, vault_).value_or(false);
    }
    static size_t share(size_t n) { return 3 * n / 10; }  // applicants who gain
    Columns draw(size_t n) {
        std::vector<double> mean(n, 0);
        std::fill_n(mean.begin(), share(n), 60);
        return decided(random_, mean);
    }
    double coin() {
        if (bits_left_ == 0) bits_ = random_.next(), bits_left_ = 64;
        --bits_left_;
        const double side = (bits_ & 1) != 0 ? 1 : -1;
        bits_ >>= 1;
        return side;
    }
    template <class Direction>
    void direct(Columns& c, double push, const Direction& direction) {
        for (size_t i = 0; i < c.size(); ++i) {
            const bool gains = i < share(c.size());
            move(c, i, gains ? push : direction(i));
        }
    }
    base::Random& random_;
    uint64_t bits_ = 0;
    int bits_left_ = 0;
    Columns vault_, development_;
    std::vector<double> votes_ = std::vector<double>(vault_.size(), 0);
    double push_ = 0.5;  // how good a query is
    unsigned certified_ = 0;
};

TEST(Attacks, AnInformedSubmitterWithGoodQueriesStaysWithinDelta) {
    unsigned certified = 0;
    const auto attack = [&](unsigned runs, Spending spending) {
        return [&certified, runs, spending](base::Random& random) {
            Informed submitter(random, 2000, 1000);
            const bool succeeds = submitter.succeeds(runs, spending);
            certified += submitter.certified();
            return succeeds;
        };
    };
    for (const unsigned runs : kEpochs) {
        expect_within_delta(fmt::format("informed, by_history, K = {}", runs), 101,
                            attack(runs, Spending::kByHistory));
    }
    EXPECT_GT(certified, 3u * 400) << "more than one good query an epoch is answered yes";
    expect_red("WRONG: informed, equal shares, K = 52", 101, attack(52, Spending::kEqual));
}

TEST(Attacks, WhatEarlierEpochsTaughtDoesNotHelpOnRecordsOfItsOwn) {
    const auto attack = [](unsigned epochs, unsigned runs, bool same_records) {
        return [=](base::Random& random) {
            return Informed(random, 1000, 500).succeeds_after_epochs(epochs, runs, same_records);
        };
    };
    for (const unsigned runs : kEpochs) {
        const unsigned epochs = 120 / runs;
        expect_within_delta(fmt::format("after {} epochs, new records, K = {}", epochs, runs), 107,
                            attack(epochs, runs, false));
    }
    expect_red("WRONG: after 10 epochs on the same records, K = 12", 107, attack(10, 12, true));
}

/// An epoch of candidates at the boundary for persons who apply again after a decline. Each
/// approves those who would return more often, and others less, with a random part unchanged.
/// `gain`: by how much each is better than the boundary.
bool any_with_repeats(base::Random& random, unsigned runs, bool only_first, double gain = 0) {
    constexpr Kinds kKinds{.good = 65, .bad = 25, .tilt = 0};
    Applicants development(random, 500, 1, kKinds), vault(random, 500, 1, kKinds);
    Account account(kDelta, runs, Spending::kByHistory);
    account.open_epoch();
    const std::vector<double> direction = [&] {
        std::vector<double> out;
        for (const double mean : vault.mean_impact) out.push_back(mean == kKinds.good ? 1 : -1);
        return out;
    }();
    while (const auto delta = account.charge()) {
        for (size_t i = 0; i < vault.columns.size(); ++i)
            move(vault.columns, i, random.bernoulli(0.9) ? direction[i] : 0);
        GateConfig config = service_config();
        config.margin = gain - vault.effect();
        const VectorGate gate(config);
        const VectorPlan plan = gate.plan(development.columns, vault.columns, *delta);
        base::Random returns = random.fork(0);  // who returns does not depend on the candidate
        Wealth wealth(plan);
        for (size_t i = 0; i < vault.columns.size(); ++i) {
            const auto values = values_of_person(returns, vault, i, true, gate, plan.q);
            for (size_t k = 0; k < (only_first ? 1 : values.size()); ++k) wealth.add(values[k]);
        }
        account.register_run();
        const bool passes = wealth.now() >= 1 / *delta;
        account.close(passes);
        if (passes) return true;
    }
    return false;
}

TEST(Attacks, RepeatsAfterDeclinesStayWithinDeltaWhereTheFirstRecordCounts) {
    for (const unsigned runs : kEpochs) {
        expect_within_delta(fmt::format("repeats, first record, K = {}", runs), 102,
                            [=](base::Random& r) { return any_with_repeats(r, runs, true); });
    }
    expect_red("a gain of 10 a record is certified, K = 12", 102,
               [](base::Random& r) { return any_with_repeats(r, 12, true, 10); });
    expect_red("WRONG: repeats, each record by 1/p, K = 12", 102,
               [](base::Random& r) { return any_with_repeats(r, 12, false); });
}

/// One person has `loans` records in a group of 1,300. Returns whether a good candidate is
/// certified at the charge of a run of 12. `sum`: the person counts with the sum of the records.
bool certified_beside_a_frequent_customer(base::Random& random, size_t loans, bool sum) {
    Columns vault = decided(random, std::vector<double>(1299 + loans, 20));
    Columns development = decided(random, std::vector<double>(2000, 20));
    for (size_t i = 0; i < vault.size(); ++i) move(vault, i, 1);
    for (size_t i = 0; i < development.size(); ++i) move(development, i, 1);
    const VectorGate gate(lender_config());
    constexpr double kCharge = kDelta / 12;
    VectorPlan plan = gate.plan(development, vault, kCharge);
    auto values = gate.values(vault, plan);
    if (sum) {
        double value = 0, lo = 0;
        for (size_t i = 1299; i < vault.size(); ++i) {
            value += values[i];
            lo += gate.smallest(vault, i, plan.q);
        }
        plan.lo = std::min(plan.lo, lo);
        values[1299] = value;
    }
    values.resize(1300);
    gate.set_bets(plan, 1300, kCharge);
    return wealth_of(plan, values) >= 1 / kCharge;
}

TEST(Attacks, AFrequentCustomerCostsAGroupLittleOfItsPower) {
    constexpr int kTries = 400;
    const auto power = [](const std::string& name, size_t loans, bool sum) {
        return rate_of(name, kTries, 103, [=](base::Random& random) {
            return certified_beside_a_frequent_customer(random, loans, sum);
        });
    };
    const double without = power("power without frequent customers", 1, false);
    EXPECT_GT(without, 0.9);
    EXPECT_GE(power("power beside one person with 40 loans", 40, false), 0.95 * without);
    EXPECT_LT(power("WRONG: the sum of a person's loans", 40, true), 0.1);
}

/// Candidates without gain in a group of 100 persons, one of whom has 40 loans that all end alike:
/// each candidate approves that one more often. `each`: WRONG, the loans count as independent.
bool any_beside_a_frequent_customer(base::Random& random, unsigned runs, bool each) {
    constexpr size_t kOthers = 99, kLoans = 40;
    Columns vault = decided(random, std::vector<double>(kOthers + kLoans, 0));
    for (size_t i = kOthers; i < vault.size(); ++i) vault.impact[i] = vault.impact[kOthers];
    if (!each) {
        for (auto* column : {&vault.p, &vault.candidate, &vault.reference, &vault.impact})
            column->resize(kOthers + 1);
        vault.approved.resize(kOthers + 1);
    }
    Office office(runs, Spending::kByHistory);
    for (;;) {
        Columns development = decided(random, std::vector<double>(300, 0));
        for (size_t i = 0; i < development.size(); ++i)
            move(development, i, random.bernoulli(0.5) ? 1 : -1);
        for (size_t i = 0; i < vault.size(); ++i)
            move(vault, i, i >= kOthers || random.bernoulli(0.5) ? 1 : -1);
        const auto answer = office.submit(development, vault);
        if (!answer || *answer) return answer.has_value();
    }
}

TEST(Attacks, LoansOfAFrequentCustomerStayWithinDelta) {
    for (const unsigned runs : kEpochs) {
        expect_within_delta(
            fmt::format("one person with 40 loans, K = {}", runs), 108,
            [=](base::Random& r) { return any_beside_a_frequent_customer(r, runs, false); });
    }
    expect_red("WRONG: 40 loans of one person as independent, K = 12", 108,
               [](base::Random& r) { return any_beside_a_frequent_customer(r, 12, true); });
}

/// Applicants of whom one in `rare` is badly hurt by an approval; all others gain a hair, and the
/// population loses, unless their `gain` is above 2. Returns whether the candidate is certified,
/// and what is true of the vault.
struct RareHarm {
    bool certified = false, vault_harmed = false;
};
RareHarm any_rare_harm(base::Random& random, unsigned runs, double rare, bool fixed_range,
                       double gain = 1) {
    const auto draw = [&](size_t n, double& effect) {
        Columns c = decided(random, std::vector<double>(n, 0));
        for (size_t i = 0; i < n; ++i) {
            const bool hurt = random.bernoulli(1 / rare);
            // 75 for certain, but in the population the rare harm outweighs it
            move(c, i, 1, hurt ? 0.5 : 0.5 * gain / rare);
            c.impact[i] = hurt ? -150 : 75;
            effect += (c.candidate[i] - c.reference[i]) * c.impact[i];
        }
        return c;
    };
    RareHarm out;
    Account account(kDelta, runs, Spending::kByHistory);
    account.open_epoch();
    double effect = 0, other = 0;
    const Columns vault = draw(1500, effect);
    out.vault_harmed = effect <= 0;
    while (const auto delta = account.charge()) {
        const Columns development = draw(1000, other);
        const VectorGate gate(fixed_range ? service_config() : lender_config());
        const VectorPlan plan = gate.plan(development, vault, *delta);
        account.register_run();
        const bool passes = wealth_of(plan, gate.values(vault, plan)) >= 1 / *delta;
        account.close(passes);
        out.certified = out.certified || passes;
        if (passes) break;
    }
    return out;
}

TEST(Attacks, RareHarmIsNotCertified) {
    for (const unsigned runs : kEpochs) {
        for (const double rare : {1500.0, 3000.0, 7500.0}) {
            expect_within_delta(
                fmt::format("one in {} hurt, K = {}, the vault's people", rare, runs), 104,
                [=](base::Random& random) {
                    const auto r = any_rare_harm(random, runs, rare, false);
                    return r.certified && r.vault_harmed;
                });
            expect_within_delta(
                fmt::format("one in {} hurt, K = {}, the population, fixed range", rare, runs), 104,
                [=](base::Random& random) {
                    return any_rare_harm(random, runs, rare, true).certified;
                });
        }
    }
    expect_red("the population gains, fixed range", 104, [](base::Random& random) {
        return any_rare_harm(random, 12, 3000, true, 200).certified;
    });
    // WRONG: a claim about the population with ranges of the sample's own features
    expect_red(
        "WRONG: one in 3000 hurt, the population, sample's range", 104,
        [](base::Random& random) { return any_rare_harm(random, 12, 3000, false).certified; });
}

/// Candidates without gain, each looked at again whenever more records have matured: a new run each
/// time and a further look at the candidate before, with its bets. `window`: WRONG, records leave
/// the vault as others come, and their factors leave the wealth.
struct Looks {
    size_t first = 400, step = 50;
    bool window = false;
};

/// One candidate with its fixed bets.
struct Watched {
    std::string id;
    uint64_t seed = 0;
    VectorPlan plan;
    double needed = 0;
    uint32_t looks = 0;
};

class GrowingVault {
  public:
    GrowingVault(base::Random& random, const Looks& shape, size_t periods)
        : shape_(shape),
          all_(decided(random, std::vector<double>(shape.first + shape.step * periods, 0))) {}

    /// Returns the records at a period, moved by the candidate of that seed.
    Columns at(size_t period, uint64_t seed) const {
        const size_t end = shape_.first + shape_.step * period;
        const size_t begin = shape_.window ? end - shape_.first : 0;
        Columns out;
        out.resize(end - begin);
        for (size_t i = begin; i < end; ++i) {
            const size_t k = i - begin;
            out.p[k] = all_.p[i], out.reference[k] = all_.reference[i];
            out.impact[k] = all_.impact[i], out.approved[k] = all_.approved[i];
            move(out, k, (base::mix64(seed ^ base::mix64(i)) & 1) != 0 ? 1 : -1);
        }
        return out;
    }

  private:
    Looks shape_;
    Columns all_;
};

/// Looks at the candidate at a period; false where the range has grown too much for its bets.
bool look_passes(const VectorGate& gate, const GrowingVault& vault, const Watched& candidate,
                 size_t period) {
    const Columns now = vault.at(period, candidate.seed);
    double lo = candidate.plan.lo;
    for (size_t i = 0; i < now.size(); ++i)
        lo = std::min(lo, gate.smallest(now, i, candidate.plan.q));
    if (*std::max_element(candidate.plan.bets.begin(), candidate.plan.bets.end()) * -lo > 0.999)
        return false;  // "range_grew"
    return wealth_of(candidate.plan, gate.values(now, candidate.plan)) >= candidate.needed;
}

Watched candidate_of(base::Random& random, const VectorGate& gate, const GrowingVault& vault,
                     size_t period, double delta) {
    Watched out{.id = {}, .seed = random.next(), .plan = {}, .needed = 1 / delta, .looks = 0};
    Columns development = decided(random, std::vector<double>(600, 0));
    for (size_t i = 0; i < development.size(); ++i)
        move(development, i, random.bernoulli(0.5) ? 1 : -1);
    out.plan = gate.plan(development, vault.at(period, out.seed), delta);
    return out;
}

bool any_with_looks(base::Random& random, unsigned runs) {
    const VectorGate gate(lender_config());
    const GrowingVault vault(random, {}, runs);
    Account account(kDelta, runs, Spending::kByHistory);
    account.open_epoch();
    std::optional<Watched> before;
    for (size_t period = 0; const auto delta = account.charge(); ++period) {
        Watched now = candidate_of(random, gate, vault, period, *delta);
        account.register_run();
        now.id = account.candidate();
        const bool passes = look_passes(gate, vault, now, period);
        account.close(passes);
        if (passes) return true;
        if (before) {
            account.register_look(before->id, 1);
            const bool again = look_passes(gate, vault, *before, period);
            account.close(again);
            if (again) return true;
        }
        before = now;
    }
    return false;
}

TEST(Attacks, AFurtherLookAfterEveryRunStaysWithinDelta) {
    for (const unsigned runs : kEpochs) {
        expect_within_delta(fmt::format("look again after every run, K = {}", runs), 105,
                            [=](base::Random& random) { return any_with_looks(random, runs); });
    }
}

/// One candidate, charged with all of delta, looked at 60 times.
bool any_of_sixty_looks(base::Random& random, bool window) {
    constexpr size_t kLooks = 60;
    const VectorGate gate(lender_config());
    const GrowingVault vault(random, {.first = 400, .step = 33, .window = window}, kLooks);
    const Watched candidate = candidate_of(random, gate, vault, 0, kDelta);
    for (size_t period = 0; period < kLooks; ++period) {
        if (look_passes(gate, vault, candidate, period)) return true;
    }
    return false;
}

TEST(Attacks, LooksAtAGrowingVaultAreFreeAndAtAWindowTheyAreNot) {
    expect_within_delta("sixty looks, all records kept", 106,
                        [](base::Random& random) { return any_of_sixty_looks(random, false); });
    expect_red("WRONG: sixty looks at a window of twelve", 106,
               [](base::Random& random) { return any_of_sixty_looks(random, true); });
}

}  // namespace
}  // namespace rampart::test
