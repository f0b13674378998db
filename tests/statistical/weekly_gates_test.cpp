// A year of weekly gate runs on one vault with the real ledger: candidates without gain, chosen by
// the earlier answers of the gate, crashes at any point of a run, several submitters. The chance of
// any false certificate in the year stays within the delta of the epoch, and no charge is lost or
// made twice. Also the attack: twenty queries, then the candidate that their answers suggest.
//
// RAMPART_WEEKLY_YEARS=1000 simulates that many years; by default a test run simulates few.
#include <cstdlib>
#include <mutex>
#include <thread>

#include "monte_carlo.hpp"

namespace rampart::test {
namespace {

using certification::DeltaLedger;
using certification::GateConfig;
using certification::Verdict;

constexpr unsigned kWeeks = 52;
constexpr double kDelta = 0.1;

/// A vault and a development set with fixed propensities and impacts, and many candidates. A
/// candidate moves P(approve) of each person up or down, independently of the person: it gains 0.
struct World {
    ope::LoggedFeedback selection, vault;

    World(base::Random& random, size_t records) {
        selection = simulate({.records = 300, .prefix = "c"}, random);
        vault = simulate({.records = records}, random);
        for (ope::LoggedFeedback* f : {&selection, &vault}) {
            f->decisions.groups = {{"everybody", {}}};
            for (uint32_t i = 0; i < f->decisions.size(); ++i) {
                f->decisions.groups[0].records.push_back(i);
            }
        }
    }

    /// Sets the candidate: up(i) is for the i-th record of the development set, and after these for
    /// those of the vault.
    template <class Up>
    void propose(const Up& up) {
        size_t number = 0;
        for (ope::LoggedFeedback* f : {&selection, &vault}) {
            for (size_t i = 0; i < f->decisions.size(); ++i, ++number) {
                const double s = f->decisions.reference[i], step = 0.5 * std::min(s, 1 - s);
                f->decisions.candidate[i] = up(number) ? s + step : s - step;
            }
        }
    }
    size_t persons() const { return selection.decisions.size() + vault.decisions.size(); }
};

/// Directions of a random candidate.
std::vector<bool> random_directions(uint64_t seed, size_t persons) {
    base::Random random(seed);
    std::vector<bool> up(persons);
    for (size_t i = 0; i < persons; ++i) up[i] = random.bernoulli(0.5);
    return up;
}

/// The owner of the store: the durable part, and the ledger in memory that a crash loses.
struct Office {
    std::vector<std::string> stored;
    DeltaLedger ledger = *DeltaLedger::open({});

    explicit Office(const GateConfig& config) {
        keep(*ledger.next_epoch(config.delta_epoch, config.runs_per_epoch, config.spending,
                                "the year", base::TimePoint()));
    }
    void keep(const std::string& bytes) {
        stored.push_back(bytes);
        EXPECT_TRUE(ledger.append(bytes));
    }
    void crash() {
        auto opened = DeltaLedger::open(stored);
        ASSERT_TRUE(opened) << opened.error().message;
        ledger = std::move(*opened);
    }
};

certification::RunIdentity identity_of(const std::string& candidate) {
    auto identity = lender_identity();
    identity.candidate_id = candidate;
    return identity;
}

enum class Crash {
    kNone,
    kBeforeRegistration,  // its bytes are made, not stored
    kRegistrationStored,  // stored, not appended
    kAfterTicket,         // before an impact is read
    kBeforeClosing,       // only the process knows the verdict
    kClosingStored,       // stored, not appended
};
constexpr uint64_t kCrashes = 6;

/// Submits the candidate once, up to the crash or the end. nullopt: crashed before the run was
/// over.
std::optional<Verdict> attempt(Office& office, const GateConfig& config, const std::string& name,
                               const World& world, Crash crash) {
    const auto checked = certification::precheck(
        {config, identity_of(name), office.ledger, kPseudonymKey, world.selection},
        world.vault.decisions);
    EXPECT_TRUE(checked);
    if (!checked->prepared) return checked->result.verdict;
    const auto request = checked->prepared->request();
    if (!office.ledger.open_run()) {
        const std::string bytes = *office.ledger.next_registration(request, base::TimePoint());
        if (crash == Crash::kBeforeRegistration) return std::nullopt;
        office.stored.push_back(bytes);
        if (crash == Crash::kRegistrationStored) return std::nullopt;
        EXPECT_TRUE(office.ledger.append(bytes));
    }
    const auto ticket = office.ledger.ticket(request);
    EXPECT_TRUE(ticket);
    if (crash == Crash::kAfterTicket) return std::nullopt;
    const auto result = certification::run(*checked->prepared, *ticket, world.vault.impact);
    EXPECT_TRUE(result);
    if (crash == Crash::kBeforeClosing) return std::nullopt;
    const auto closing = office.ledger.next_closing(result->verdict, "", "", base::TimePoint());
    office.stored.push_back(*closing);
    if (crash != Crash::kClosingStored) {
        EXPECT_TRUE(office.ledger.append(*closing));
    }
    return result->published().verdict;
}

/// Submits another candidate while a run is open: it is refused, and no error budget is charged.
void interfere(const Office& office, const GateConfig& config, World world, base::Random& random) {
    const auto up = random_directions(random.next(), world.persons());
    world.propose([&](size_t i) { return up[i]; });
    const auto checked = certification::precheck(
        {config, identity_of("of somebody else"), office.ledger, kPseudonymKey, world.selection},
        world.vault.decisions);
    ASSERT_TRUE(checked && checked->prepared);
    const auto request = checked->prepared->request();
    const auto registration = office.ledger.next_registration(request, base::TimePoint());
    ASSERT_FALSE(registration);
    EXPECT_EQ(registration.error().reason, "run_open");
    const auto ticket = office.ledger.ticket(request);
    ASSERT_FALSE(ticket);
    EXPECT_EQ(ticket.error().reason, "other_run_open");
}

/// Returns the answer for the candidate, through all crashes.
Verdict submit(Office& office, const GateConfig& config, const std::string& name,
               const World& world, base::Random& chaos) {
    for (;;) {
        const Crash crash =
            chaos.bernoulli(0.2) ? static_cast<Crash>(chaos.below(kCrashes)) : Crash::kNone;
        const auto verdict = attempt(office, config, name, world, crash);
        if (crash != Crash::kNone) office.crash();
        if (verdict) return *verdict;
        if (office.ledger.open_run() && chaos.bernoulli(0.05)) {
            interfere(office, config, world, chaos);
        }
    }
}

/// Every charged run is there once, closed and in order, and they add up to the budget.
void expect_account_in_order(const Office& office, unsigned charged, double delta_epoch) {
    unsigned registrations = 0, closings = 0;
    double spent = 0;
    for (const std::string& bytes : office.stored) {
        const auto entry = certification::decode_ledger_entry(bytes);
        ASSERT_TRUE(entry);
        if (const auto* run = std::get_if<certification::Registration>(&entry->body)) {
            EXPECT_EQ(run->run, ++registrations);
            EXPECT_EQ(closings + 1, registrations) << "one at a time";
            spent += run->delta;
        } else if (std::holds_alternative<certification::Closing>(entry->body)) {
            EXPECT_EQ(++closings, registrations);
        }
    }
    EXPECT_EQ(registrations, charged);
    EXPECT_EQ(closings, charged);
    EXPECT_LE(spent, delta_epoch * (1 + 1e-12));
    const auto reopened = DeltaLedger::open(office.stored);
    ASSERT_TRUE(reopened);
    EXPECT_EQ(reopened->entries(), office.ledger.entries());
    EXPECT_EQ(reopened->runs_used(), charged);
}

GateConfig yearly_config() {
    GateConfig config = lender_config();
    config.delta_epoch = kDelta;
    config.runs_per_epoch = kWeeks;
    config.spending = certification::Spending::kByHistory;
    return config;
}

/// Candidates that build on certified ones: the next keeps nine in ten of the directions of the
/// last certified one, and guesses the rest; until then it only guesses.
class Developer {
  public:
    Developer(uint64_t seed, size_t persons) : random_(seed), persons_(persons) {}
    std::vector<bool> next() {
        auto up = random_directions(random_.next(), persons_);
        for (size_t i = 0; i < best_.size(); ++i) {
            if (random_.bernoulli(0.9)) up[i] = best_[i];
        }
        return up;
    }
    void hear(const std::vector<bool>& up, Verdict verdict) {
        if (verdict == Verdict::kCertified) best_ = up;
    }

  private:
    base::Random random_;
    size_t persons_;
    std::vector<bool> best_;
};

/// Simulates a year; true if any candidate was certified. There is no gain, so each certificate
/// would be false.
bool falsely_certified(base::Random& random, const GateConfig& config) {
    World world(random, 300);
    Office office(config);
    Developer developer(random.next(), world.persons());
    unsigned charged = 0;
    bool any = false;
    for (unsigned week = 0; week < kWeeks; ++week) {
        const auto up = developer.next();
        world.propose([&](size_t i) { return up[i]; });
        const Verdict verdict =
            submit(office, config, "week " + std::to_string(week), world, random);
        charged += verdict == Verdict::kCertified || verdict == Verdict::kNoSolutionFound;
        developer.hear(up, verdict);
        any = any || verdict == Verdict::kCertified;
    }
    expect_account_in_order(office, charged, config.delta_epoch);
    EXPECT_EQ(office.ledger.runs_left(), kWeeks - charged);
    return any;
}

int years() {
    const char* text = std::getenv("RAMPART_WEEKLY_YEARS");
    return text == nullptr ? 50 : std::max(1, std::atoi(text));
}

TEST(WeeklyGates, AYearOfThemCertifiesFalselyAtMostAsOftenAsTheEpochMay) {
    const int n = years();
    const double rate =
        rate_of("any false certificate in 52 weeks", n, 61,
                [](base::Random& random) { return falsely_certified(random, yearly_config()); });
    EXPECT_LE(rate, at_most(kDelta, n));
}

TEST(WeeklyGates, WithTheWholeDeltaEveryWeekAlmostEveryYearHasOne) {
    // WRONG: opens an epoch for every week, on the same vault
    GateConfig config = yearly_config();
    config.runs_per_epoch = 1;
    config.spending = certification::Spending::kEqual;
    config.bound = stats::BoundMethod::kStudentT;  // which uses all of delta
    const double rate =
        rate_of("WRONG: an epoch a week on one vault", 20, 62, [&](base::Random& random) {
            World world(random, 300);
            bool any = false;
            for (unsigned week = 0; week < kWeeks && !any; ++week) {
                const auto up = random_directions(random.next(), world.persons());
                world.propose([&](size_t i) { return up[i]; });
                Office office(config);
                any = submit(office, config, "week", world, random) == Verdict::kCertified;
            }
            return any;
        });
    EXPECT_GT(rate, 0.8);
}

TEST(WeeklyGates, SubmittersAtOnceAreServedOneAfterTheOther) {
    constexpr unsigned kSubmitters = 4, kEach = 20;  // 80 submissions for 52 runs
    const GateConfig config = yearly_config();
    base::Random random(63);
    const World world(random, 300);
    Office office(config);
    std::mutex owner;
    unsigned charged = 0, refused = 0;
    std::vector<std::thread> submitters;
    for (unsigned s = 0; s < kSubmitters; ++s) {
        submitters.emplace_back([&, s] {
            base::Random own(base::mix64(64) + s);
            for (unsigned k = 0; k < kEach; ++k) {
                World mine = world;
                const auto up = random_directions(own.next(), mine.persons());
                mine.propose([&](size_t i) { return up[i]; });
                const std::lock_guard lock(owner);
                const Verdict verdict =
                    submit(office, config, fmt::format("{} of {}", k, s), mine, own);
                (verdict == Verdict::kRefused ? refused : charged) += 1;
            }
        });
    }
    for (std::thread& submitter : submitters) submitter.join();
    EXPECT_EQ(charged, kWeeks);
    EXPECT_EQ(refused, kSubmitters * kEach - kWeeks) << "the budget is spent";
    expect_account_in_order(office, kWeeks, config.delta_epoch);
}

constexpr unsigned kQueries = 20;

/// The attack. Twenty candidates are scored, then the one is submitted that moves each person in
/// the direction that scored better: as many runs as queries, and one. `numbers`: WRONG, the scores
/// are the estimates; otherwise they are the content of PublicResult.
bool attack_succeeds(base::Random& random, bool numbers) {
    GateConfig config = lender_config();
    config.runs_per_epoch = kQueries + 1;
    config.spending = certification::Spending::kByHistory;
    World world(random, 600);
    DeltaLedger ledger = ledger_for(config);
    std::vector<double> votes(world.persons(), 0);
    bool any = false;
    for (unsigned query = 0; query <= kQueries; ++query) {
        const bool last = query == kQueries;
        const auto up = random_directions(random.next(), world.persons());
        world.propose([&](size_t i) { return last && votes[i] != 0 ? votes[i] > 0 : up[i]; });
        const auto checked = certification::precheck(
            {config, identity_of(std::to_string(query)), ledger, kPseudonymKey, world.selection},
            world.vault.decisions);
        EXPECT_TRUE(checked);
        if (!checked->prepared) return any;
        const auto request = checked->prepared->request();
        EXPECT_TRUE(ledger.append(*ledger.next_registration(request, base::TimePoint())));
        const auto sealed =
            *certification::run(*checked->prepared, *ledger.ticket(request), world.vault.impact);
        const certification::PublicResult told = sealed.published();
        EXPECT_TRUE(ledger.append(*ledger.next_closing(told.verdict, "", "", base::TimePoint())));
        const double score = numbers ? sealed.groups[0].bound.mean_gain
                                     : (told.verdict == Verdict::kCertified ? 1 : -1);
        for (size_t i = 0; i < votes.size(); ++i) votes[i] += up[i] ? score : -score;
        any = any || told.verdict == Verdict::kCertified;
    }
    return any;
}

TEST(WeeklyGates, TwentyQueriesThroughThePublicAnswersFoolItNotMoreOftenThanDelta) {
    constexpr int kAttacks = 60;
    const double rate =
        rate_of("attack by one-bit answers", kAttacks, 65,
                [](base::Random& random) { return attack_succeeds(random, false); });
    EXPECT_LE(rate, at_most(kDelta, kAttacks));
    const double wrong =
        rate_of("WRONG: attack by published estimates", kAttacks / 2, 65,
                [](base::Random& random) { return attack_succeeds(random, true); });
    EXPECT_GT(wrong, at_most(kDelta, kAttacks / 2));
}

}  // namespace
}  // namespace rampart::test
