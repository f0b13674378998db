// The gate where the candidate is made of a sample of the development set: a seeded sample of whole
// persons, of whom frequent customers are the worse risks, on a stream in which no candidate
// changes anything.
#include <algorithm>
#include <array>

#include "monte_carlo.hpp"
#include "rampart/training_set/person_sample.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::test {
namespace {

using training_set::PersonSample;

constexpr double kDelta = 0.1;
constexpr size_t kPersons = 1500, kMaxRows = 1500;
constexpr int kRules = 200;  // among which the candidate's is the best by the rows read
const std::string kSalt = "a salt of sixteen bytes or more";

/// A person of the stream; an approval of the first application brings +1 or -1, at evens.
struct Person {
    domain::PersonId id;
    size_t applications = 1;
    bool approved = false;
    double impact = 0;
    std::array<bool, kRules> raised{};  // whether the rule raises P(approve)
};

std::vector<Person> stream(base::Random& random) {
    std::vector<Person> people;
    const auto round = random.below(1'000'000'000);  // other persons in each stream
    for (size_t i = 0; i < kPersons; ++i) {
        Person one{domain::PersonId(fmt::format("{}-{}", round, i)),
                   1,
                   random.bernoulli(0.5),
                   random.bernoulli(0.5) ? 1.0 : -1.0,
                   {}};
        one.applications = one.impact > 0 ? 1 : 1 + random.below(5);
        for (bool& raised : one.raised) raised = random.bernoulli(0.5);
        people.push_back(std::move(one));
    }
    return people;
}

/// Returns the rule with the largest estimated gain on these people.
int best_rule(const std::vector<Person>& people) {
    std::array<double, kRules> gain{};
    for (const auto& one : people) {
        if (!one.approved) continue;
        for (size_t k = 0; k < kRules; ++k) gain[k] += one.raised[k] ? one.impact : -one.impact;
    }
    return static_cast<int>(std::max_element(gain.begin(), gain.end()) - gain.begin());
}

ope::LoggedFeedback log_of(const std::vector<Person>& people, int rule, const char* prefix) {
    ope::LoggedFeedback f;
    for (size_t i = 0; i < people.size(); ++i) {
        Draft draft{.p = 0.5, .candidate = 0.25, .reference = 0.5, .person = i};
        if (people[i].raised[static_cast<size_t>(rule)]) draft.candidate = 0.75;
        draft.approved = people[i].approved;
        draft.impact = people[i].impact;
        add(f, draft, prefix);
    }
    return f;
}

enum class SampleOf { kDevelopmentSide, kAll };

/// Makes the best candidate of a sample, and takes it to the gate.
bool certifies(base::Random& random, SampleOf side, uint64_t seed, size_t max_rows = kMaxRows) {
    std::vector<Person> vault, sampled;
    const auto people = stream(random);
    PersonSample sample(PersonSample::key_of(kSalt, seed), max_rows);
    const auto is_read = [&](const Person& one) {
        return side == SampleOf::kAll || !training_set::in_vault(kSalt, one.id);
    };
    for (const auto& one : people)
        for (size_t n = 0; n < one.applications && is_read(one); ++n)
            sample.add(sample.place_of(one.id));
    EXPECT_LT(sample.rows(), sample.rows_there());
    for (const auto& one : people) {
        if (is_read(one) && sample.holds(sample.place_of(one.id))) sampled.push_back(one);
        if (training_set::in_vault(kSalt, one.id)) vault.push_back(one);
    }
    const int rule = best_rule(sampled);
    certification::GateConfig config = lender_config();
    config.impact_lo = -1;
    config.impact_hi = 1;
    return certified(config, log_of(sampled, rule, "c"), log_of(vault, rule, "v"));
}

TEST(SampledDevelopment, FalseCertificatesStayWithinDelta) {
    constexpr int kRepetitions = 1000;
    const double rate = rate_of("candidate of a sample", kRepetitions, 71, [](auto& random) {
        return certifies(random, SampleOf::kDevelopmentSide, 1);
    });
    EXPECT_LE(rate, at_most(kDelta, kRepetitions));
    EXPECT_GT(rate, 0.005) << "a gate that never opens would prove nothing";
}

/// A sample of nearly all persons, those of the vault among them.
TEST(SampledDevelopment, ASampleAcrossTheSplitCertifiesNoise) {
    constexpr int kRepetitions = 300;
    const double rate = rate_of("candidate of a sample of all", kRepetitions, 72, [](auto& random) {
        return certifies(random, SampleOf::kAll, 1, 7 * kMaxRows / 4);
    });
    EXPECT_GT(rate, at_most(kDelta, kRepetitions));
}

/// Rows weigh alike in the sample: over seeds, its mean is that of all, up to chance and to the
/// last person, who has to fit with all rows.
TEST(SampledDevelopment, ItsMeanIsThatOfAllPersonsWithoutWeights) {
    constexpr int kSeeds = 400;
    base::Random random(5);
    const auto people = stream(random);
    double all = 0, rows = 0, spread = 0, mean = 0;
    for (const auto& one : people) {
        all += static_cast<double>(one.applications) * one.impact;
        rows += static_cast<double>(one.applications);
    }
    for (int seed = 0; seed < kSeeds; ++seed) {
        PersonSample sample(PersonSample::key_of(kSalt, static_cast<uint64_t>(seed)), kMaxRows);
        for (const auto& one : people)
            for (size_t n = 0; n < one.applications; ++n) sample.add(sample.place_of(one.id));
        double sum = 0;
        for (const auto& one : people)
            if (sample.holds(sample.place_of(one.id)))
                sum += static_cast<double>(one.applications) * one.impact;
        const double of_sample = sum / static_cast<double>(sample.rows());
        mean += of_sample / kSeeds;
        spread += of_sample * of_sample / kSeeds;
    }
    const double error = std::sqrt((spread - mean * mean) / kSeeds);
    std::printf("    mean of samples %.4f, of all %.4f, standard error %.4f\n", mean, all / rows,
                error);
    EXPECT_NEAR(mean, all / rows, 4 * error + 5.0 / kMaxRows);
    EXPECT_LT(error, 0.01);
}

}  // namespace
}  // namespace rampart::test
