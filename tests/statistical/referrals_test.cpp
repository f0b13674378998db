// Referrals, which people answer: E[wealth] <= 1 and the estimate's coverage, beside the mistake of
// taking a referral that people approved for an approval.
#include <functional>

#include "monte_carlo.hpp"
#include "support/vector_gate.hpp"

namespace rampart::test {
namespace {

using ope::Referral;
using Shares = std::array<double, 3>;  // decline, approve, refer

/// An applicant, what was drawn, and what became of it.
struct Person {
    Shares p{}, candidate{}, reference{};
    double mean_impact = 0, answers_yes = 0;
    size_t drawn = 0;  // index into the shares
    Referral referral = Referral::kNone;
    double impact = 0;  // the loan's

    double change(size_t action) const { return candidate[action] - reference[action]; }
    double effect() const { return (change(1) + change(2) * answers_yes) * mean_impact; }
};

/// How applicants and policies are.
struct World {
    double good = 60, bad = -60;
    double unanswered = 0;
    bool more_approvals = false;  // the candidate takes from declines what it gives to approvals
};

double between(base::Random& random, double lo, double hi) { return random.uniform(lo, hi); }

/// Answers follow what people can see of the applicant, and the policy cannot.
Person draw_person(base::Random& random, const World& world) {
    Person out;
    const bool good = random.bernoulli(0.5);
    out.mean_impact = good ? world.good : world.bad;
    out.answers_yes = good ? 0.95 : 0.05;
    const double tilt = good ? 0.05 : -0.05;
    const double a = between(random, 0.3, 0.4) + tilt, r = between(random, 0.25, 0.35) - tilt;
    out.p = {1 - a - r, a, r};
    const double s = between(random, 0.35, 0.45), s_refer = between(random, 0.2, 0.3);
    out.reference = out.candidate = {1 - s - s_refer, s, s_refer};
    const size_t to = world.more_approvals ? 1 : random.below(3);
    const size_t from = world.more_approvals ? 0 : (to + 1 + random.below(2)) % 3;
    const double step = 0.45 * std::min({1 - s - s_refer, s, s_refer});
    out.candidate[to] += step;
    out.candidate[from] -= step;
    const double u = random.uniform();
    out.drawn = u < a ? 1 : u < a + r ? 2 : 0;
    out.impact = random.bernoulli((out.mean_impact + 150) / 225) ? 75 : -150;
    if (out.drawn == 2) {
        const bool yes = random.bernoulli(out.answers_yes);
        out.referral = random.bernoulli(world.unanswered) ? Referral::kUnanswered
                       : yes                              ? Referral::kApproved
                                                          : Referral::kDeclined;
    }
    return out;
}

std::vector<Person> draw_people(base::Random& random, size_t n, const World& world) {
    std::vector<Person> out;
    for (size_t i = 0; i < n; ++i) out.push_back(draw_person(random, world));
    return out;
}

double effect_of(const std::vector<Person>& people) {
    double sum = 0;
    for (const Person& one : people) sum += one.effect();
    return sum / static_cast<double>(people.size());
}

/// WRONG: an approved referral weighs as an approval, a declined one as a decline.
Person as_if_never_referred(Person person) {
    if (person.drawn == 2) person.drawn = person.referral == Referral::kApproved ? 1 : 0;
    person.referral = Referral::kNone;
    return person;
}

/// The value of a record from its definition: a decline has impact 0.
struct Values {
    std::array<double, 3> q{};  // control variates
    double lo = 0, margin = 0;

    double offset(const Person& x) const { return x.change(1) * q[1] + x.change(2) * q[2]; }
    double at(const Person& x, size_t action, double impact) const {
        if (action == 0) return offset(x);
        return x.change(action) / x.p[action] * (impact - q[action]) + offset(x);
    }
    double smallest(const Person& x) const {
        double least = at(x, 0, 0);
        for (const size_t action : {size_t{1}, size_t{2}}) {
            least = std::min({least, at(x, action, -150), at(x, action, 75)});
        }
        return least;
    }
    double of(const Person& x) const {
        if (smallest(x) + margin < lo) {  // the least that any impacts give
            double least = margin;
            for (const size_t action : {size_t{1}, size_t{2}})
                least += x.change(action) * (x.change(action) > 0 ? -150 : 75);
            return least;
        }
        double impact = x.referral == Referral::kDeclined ? 0 : x.impact;
        if (x.referral == Referral::kUnanswered) impact = x.change(2) > 0 ? -150 : 75;
        return at(x, x.drawn, impact) + margin;
    }
};

ope::LoggedFeedback feedback_of(const std::vector<Person>& people, const std::string& prefix) {
    ope::LoggedFeedback f;
    auto& d = f.decisions;
    for (size_t i = 0; i < people.size(); ++i) {
        const Person& x = people[i];
        add(f,
            {.p = x.p[1],
             .candidate = x.candidate[1],
             .reference = x.reference[1],
             .approved = x.drawn == 1,
             .impact = x.impact,
             .missing = false,
             .person = i},
            prefix);
        d.p_refer.push_back(x.p[2]);
        d.candidate_refer.push_back(x.candidate[2]);
        d.reference_refer.push_back(x.reference[2]);
        d.referred.push_back(static_cast<uint8_t>(x.referral));
        if (x.referral != Referral::kApproved) continue;
        d.has_impact.back() = 1;
        f.impact.back() = x.impact;
    }
    return f;
}

certification::GateConfig referral_config() {
    certification::GateConfig config = lender_config();
    config.records_per_person = 1;
    config.referrals = true;
    config.max_missing_rate = 1;
    config.bet_cap = 0.4;
    return config;
}

/// Mean impact of an action among the people who have one.
double mean_of_action(const std::vector<Person>& people, size_t action) {
    double sum = 0, n = 0;
    for (const Person& x : people) {
        if (x.drawn != action || x.referral == Referral::kUnanswered) continue;
        sum += x.referral == Referral::kDeclined ? 0 : x.impact;
        n += 1;
    }
    return sum / n;
}

TEST(ReferralWealth, OfTheDefinitionIsThatOfTheGate) {
    int certified = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
        SCOPED_TRACE(seed);
        base::Random random(base::mix64(170 + seed));
        const World world{.good = 70, .bad = -20, .unanswered = random.uniform(0, 0.1)};
        const auto development = draw_people(random, 500, world);
        const auto vault = draw_people(random, 200 + random.below(2000), world);
        auto config = referral_config();
        config.margin = random.uniform(0, 12);
        auto ledger = ledger_for(config);
        const auto selection = feedback_of(development, "c"), tested = feedback_of(vault, "v");
        const auto checked = certification::precheck(
            {config, lender_identity(), ledger, kPseudonymKey, selection}, tested.decisions);
        ASSERT_TRUE(checked && checked->prepared) << checked->result.message;
        const auto request = checked->prepared->request();
        ASSERT_TRUE(ledger.append(*ledger.next_registration(request, base::TimePoint())));
        const auto real =
            *certification::run(*checked->prepared, *ledger.ticket(request), tested.impact);
        const auto& plan = checked->prepared->plan().groups[0];
        EXPECT_NEAR(plan.q_approve, mean_of_action(development, 1), 1e-9);
        EXPECT_NEAR(plan.q_refer, mean_of_action(development, 2), 1e-9);
        const Values values{{0, plan.q_approve, plan.q_refer}, plan.lo, config.margin};
        VectorPlan bets;
        bets.bets = plan.bets.bets;
        Wealth wealth(bets);
        for (const Person& x : vault) wealth.add(std::min(values.of(x), plan.hi));
        const double expected = std::log(wealth.now()),
                     log_wealth = real.groups[0].bound.log_wealth;
        EXPECT_NEAR(expected, log_wealth, 1e-9 * std::max(1.0, std::abs(expected)));
        certified += real.verdict == certification::Verdict::kCertified;
    }
    EXPECT_GT(certified, 5);
    EXPECT_LT(certified, 35);
}

struct Mean {
    double mean = 0, error = 0;
};

Mean mean_wealth(const std::string& name, int worlds, const World& world,
                 const std::function<Person(const Person&)>& read) {
    double sum = 0, squares = 0;
    for (int w = 0; w < worlds; ++w) {
        base::Random random(base::mix64(171) + static_cast<uint64_t>(w));
        const auto development = draw_people(random, 200, world);
        const auto vault = draw_people(random, 60, world);
        Values values{{0, mean_of_action(development, 1), mean_of_action(development, 2)},
                      -1e300,
                      -effect_of(vault)};  // exactly at the boundary
        VectorPlan plan;
        std::vector<double> planned;
        for (const Person& x : development) {
            plan.lo = std::min(plan.lo, 1.25 * values.smallest(x) + std::min(0.0, values.margin));
            planned.push_back(values.of(read(x)));
        }
        values.lo = plan.lo;
        plan.variance = VectorGate::variance(planned);
        VectorGate(referral_config()).set_bets(plan, 60, 0.5);
        Wealth wealth(plan);
        for (const Person& x : vault) wealth.add(values.of(read(x)));
        sum += wealth.now();
        squares += wealth.now() * wealth.now();
    }
    Mean out{sum / worlds, 0};
    out.error = std::sqrt((squares / worlds - out.mean * out.mean) / (worlds - 1));
    std::printf("    %-60s %.4f ± %.4f  (%d worlds)\n", name.c_str(), out.mean, out.error, worlds);
    return out;
}

TEST(ReferralWealth, IsAtMostOneOnAverageExactlyAtTheBoundary) {
    const auto as_logged = [](const Person& x) { return x; };
    for (const World& world : {World{}, World{.more_approvals = true}, World{.unanswered = 0.05}}) {
        const auto mean = mean_wealth("referrals at the boundary", 30'000, world, as_logged);
        EXPECT_LE(mean.mean, 1 + 4 * mean.error);
        EXPECT_GT(mean.mean, world.unanswered == 0 ? 0.9 : 0.1);
    }
}

TEST(ReferralWealth, OfApprovedReferralsTakenForApprovalsIsTooLarge) {
    const auto mean = mean_wealth("WRONG: approved referrals weigh as approvals", 10'000,
                                  {.more_approvals = true}, as_if_never_referred);
    EXPECT_GT(mean.mean, 1 + 4 * mean.error);
}

/// Share of logs whose interval of 95 % has the true effect, and the mean error of the estimate.
struct Coverage {
    double share = 0, bias = 0, error = 0;
};

Coverage coverage_of(const std::function<ope::Record(const ope::Record&)>& read) {
    constexpr int kLogs = 3000;
    const ope::ImpactModel model{
        .lo = -150, .hi = 75, .q_approve = 5, .declined = 0, .q_refer = 20};
    Coverage out;
    double squares = 0;
    for (int k = 0; k < kLogs; ++k) {
        base::Random random(base::mix64(172) + static_cast<uint64_t>(k));
        const auto people = draw_people(random, 300, {.more_approvals = true});
        const auto log = feedback_of(people, "v");
        std::vector<double> values;
        for (uint32_t i = 0; i < people.size(); ++i) {
            ope::Record record = ope::record_at(log.decisions, i);
            if (log.decisions.has_impact[i] != 0) record.impact = log.impact[i];
            values.push_back(ope::impact_change(read(record), model));
        }
        const auto sample = stats::moments(values);
        const double error = sample.mean - effect_of(people);
        out.share += std::abs(error) <= 1.968 * std::sqrt(sample.variance / 300) ? 1.0 / kLogs : 0;
        out.bias += error / kLogs;
        squares += error * error / kLogs;
    }
    out.error = std::sqrt(squares / kLogs);
    std::printf("    %-60s %.4f, bias %.3f ± %.3f\n", "coverage of 95 %", out.share, out.bias,
                out.error);
    return out;
}

TEST(ReferralEstimate, CoversTheEffectAndTheWrongOneDoesNot) {
    const auto right = coverage_of([](const ope::Record& r) { return r; });
    EXPECT_NEAR(right.bias, 0, 4 * right.error);
    EXPECT_GE(right.share, 0.95 - 4 * std::sqrt(0.95 * 0.05 / 3000));
    EXPECT_LE(right.share, 0.98);  // the spread between persons is not an error of the estimate
    const auto wrong = coverage_of([](ope::Record r) {
        if (r.referral == Referral::kApproved) r.approved = true;
        r.referral = Referral::kNone;
        return r;
    });
    EXPECT_GT(std::abs(wrong.bias), 10 * wrong.error);
    EXPECT_LT(wrong.share, 0.9);
}

}  // namespace
}  // namespace rampart::test
