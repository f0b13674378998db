#include "rampart/certification/validation_figures.hpp"

#include <cmath>
#include <map>
#include <set>

#include "rampart/ope/value_bound.hpp"
#include "sealed_case.hpp"

namespace rampart::certification {
namespace {

ope::ImpactModel model_of(const SealedCase& c, const GroupPlan& group) {
    return {.lo = c.config.impact_lo,
            .hi = c.config.impact_hi,
            .q_approve = group.q_approve,
            .q_decline = group.q_decline,
            .declined = c.config.declined_impact};
}

/// Returns the persons' values with missing impacts replaced by `worst` or the best for the
/// candidate, and the erased persons' values.
std::vector<double> values_of(const SealedCase& c, const GroupPlan& group, bool worst) {
    const auto& d = c.vault.decisions;
    std::map<std::string, double> sums;
    for (const uint32_t i : d.groups[group.index].records) {
        ope::Record record = ope::record_at(d, i);
        const bool gains = record.candidate > record.reference;
        record.impact = d.has_impact[i] != 0 ? c.vault.impact[i]
                        : gains == worst     ? c.config.impact_lo
                                             : c.config.impact_hi;
        sums[d.unit_id[i]] += ope::impact_change(record, model_of(c, group)) + c.config.margin;
    }
    std::vector<double> out;
    for (const auto& [id, value] : sums) out.push_back(value);
    out.insert(out.end(), group.erased, worst ? group.lo : group.hi);
    return out;
}

double per_record(const SealedCase& c, const GroupPlan& group, double bound) {
    return bound * static_cast<double>(group.units + group.erased) /
               static_cast<double>(group.records + group.erased) -
           c.config.margin;
}

TEST(ValidationFigures, IntervalsAreTheBettingBoundsOfBothSidesAtTheirShareOfDelta) {
    const SealedCase c(0.6, [](SealedCase& x) {
        x.config.margin = 2.5;
        x.config.declined_impact = -20;
        x.vault.decisions.erased = {2, {1, 2}};
    });
    const ValidationFigures figures = c.figures();
    const double delta = 0.1 / 4;
    EXPECT_EQ(figures.effect_delta, delta);
    ASSERT_EQ(figures.effects.size(), 2u);
    for (size_t g = 0; g < 2; ++g) {
        const GroupPlan& plan = c.plan.groups[g];
        ASSERT_EQ(plan.beyond_range, 0u) << "or the brute force below would have to count it";
        EXPECT_GT(plan.missing, 0u);
        EXPECT_EQ(plan.erased, g + 1);
        const auto lower = values_of(c, plan, true);
        auto upper = values_of(c, plan, false);
        for (double& v : upper) v = -v;
        const size_t n = plan.units + plan.erased;
        const auto bound = [&](const std::vector<double>& values, double lo) {
            const auto bets = *stats::plan_bets({n, plan.plan_variance}, lo, delta);
            return stats::betting_lower_bound(values, lo, bets, delta);
        };
        const EffectInterval& found = figures.effects[g];
        EXPECT_EQ(found.name, plan.name);
        EXPECT_NEAR(*found.lower, per_record(c, plan, bound(lower, plan.lo)), 1e-3);
        EXPECT_NEAR(*found.upper, per_record(c, plan, -bound(upper, -plan.hi)), 1e-3);
        EXPECT_LT(*found.lower, c.result.groups[g].bound.mean_gain);
        EXPECT_GT(*found.upper, c.result.groups[g].bound.mean_gain);
    }
}

TEST(ValidationFigures, WhatIsMissingCountsTheBestForTheUpperEnd) {
    const auto with = [](double missing_impact) {
        return SealedCase(0.6,
                          [&](SealedCase& x) {
                              auto& d = x.vault.decisions;
                              for (size_t i = 0; i < d.size(); ++i) {
                                  if (d.approved[i] == 0 || d.has_impact[i] != 0 ||
                                      std::isnan(missing_impact))
                                      continue;
                                  const bool gains = d.candidate[i] > d.reference[i];
                                  d.has_impact[i] = 1;
                                  x.vault.impact[i] = gains ? missing_impact : -75 - missing_impact;
                              }
                          })
            .figures();
    };
    const auto missing = with(std::nan("")), best = with(75), worst = with(-150);
    for (size_t g = 0; g < 2; ++g) {
        EXPECT_EQ(missing.effects[g].upper, best.effects[g].upper);
        EXPECT_EQ(missing.effects[g].lower, worst.effects[g].lower);
        EXPECT_LT(worst.effects[g].upper, best.effects[g].upper);
    }
}

TEST(ValidationFigures, EveryWayToEstimateHasAnIntervalAroundItsEstimate) {
    const std::vector<std::function<void(SealedCase&)>> ways{
        [](SealedCase& c) { c.config.records_per_person = 0; },
        [](SealedCase& c) { c.config.records_per_person = 0, c.config.max_weight = 1.2; },
        [](SealedCase& c) { c.config.max_weight = 1.2; },
        [](SealedCase& c) { c.config.at_least = -40; },
        [](SealedCase& c) { c.config.at_least = -40, c.config.records_per_person = 0; },
        [](SealedCase& c) { c.config.missing_gamma = 20; },
        [](SealedCase& c) { c.config.margin = -1, c.config.bound = stats::BoundMethod::kStudentT; },
    };
    for (size_t k = 0; k < ways.size(); ++k) {
        const SealedCase c(0.6, ways[k]);
        const ValidationFigures figures = c.figures();
        for (size_t g = 0; g < 2; ++g) {
            ASSERT_TRUE(figures.effects[g].lower && figures.effects[g].upper) << k;
            EXPECT_LT(*figures.effects[g].lower, c.result.groups[g].bound.mean_gain) << k;
            EXPECT_GT(*figures.effects[g].upper, c.result.groups[g].bound.mean_gain) << k;
        }
    }
}

/// Returns the mean over the group's persons of the mean of a policy's probabilities.
double rate_of(const ope::LoggedDecisions& d, const ope::Group& group,
               const std::vector<double>& policy) {
    std::map<std::string, std::pair<double, double>> persons;
    for (const uint32_t i : group.records) {
        persons[d.unit_id[i]].first += policy[i];
        persons[d.unit_id[i]].second += 1;
    }
    double sum = 0;
    for (const auto& [id, person] : persons) sum += person.first / person.second;
    return sum / static_cast<double>(persons.size());
}

TEST(ValidationFigures, RatesAreMeansOverPersonsAndRatiosAreToTheHighestOfTheAttribute) {
    const SealedCase c(0.6, [](SealedCase& x) {
        for (auto* f : {&x.selection, &x.vault}) {
            auto& d = f->decisions;
            d.groups[0].name = "sex=F";
            d.groups[1].name = "sex=M";
            d.groups.push_back({"age=old", {}});
            for (uint32_t i = 0; i < d.size(); i += 2) d.groups[2].records.push_back(i);
            d.groups.push_back({"land=a", d.groups[0].records});
            for (const uint32_t i : d.groups[1].records) {  // women are approved more often
                d.reference[i] *= 0.9;
                d.candidate[i] *= 0.9;
            }
            if (f == &x.vault) d.erased = {1, {1, 1, 1, 1}};
        }
    });
    const ValidationFigures figures = c.figures();
    ASSERT_EQ(figures.approvals.size(), 4u);
    EXPECT_EQ(figures.rate_delta, 0.1 / 16);
    const auto& d = c.vault.decisions;
    for (size_t g = 0; g < 4; ++g) {
        const auto& [name, candidate, reference] = figures.approvals[g];
        EXPECT_EQ(name, d.groups[g].name);
        EXPECT_NEAR(candidate.rate, rate_of(d, d.groups[g], d.candidate), 1e-12);
        EXPECT_NEAR(reference.rate, rate_of(d, d.groups[g], d.reference), 1e-12);
        EXPECT_LT(candidate.lower, candidate.rate);
        EXPECT_GT(candidate.upper, candidate.rate);
    }
    const ApprovalRate &women = figures.approvals[0].candidate,
                       &men = figures.approvals[1].candidate;
    EXPECT_EQ(men.highest, "sex=F");
    EXPECT_NEAR(*men.ratio, men.rate / women.rate, 1e-12);
    EXPECT_NEAR(*men.ratio_lower, men.lower / women.upper, 1e-12);
    EXPECT_NEAR(*men.ratio_upper, men.upper / women.lower, 1e-12);
    EXPECT_EQ(women.highest, "sex=F");
    EXPECT_EQ(*women.ratio_lower, 1);
    EXPECT_EQ(figures.approvals[2].candidate.highest, "") << "alone in its attribute";
    EXPECT_FALSE(figures.approvals[3].reference.ratio);
}

TEST(ValidationFigures, ABoundOfARateIsTheBettingBoundWithErasedPersonsAtTheWorst) {
    const SealedCase c(0.6, [](SealedCase& x) { x.vault.decisions.erased = {3, {2, 3}}; });
    const auto& d = c.vault.decisions;
    std::map<std::string, std::vector<double>> persons;
    for (const uint32_t i : d.groups[0].records) persons[d.unit_id[i]].push_back(d.candidate[i]);
    std::vector<double> above, below;
    for (const auto& [id, p] : persons) {
        const double rate = stats::moments(p).mean;
        above.push_back(rate - 0.5);
        below.push_back(0.5 - rate);
    }
    for (auto* values : {&above, &below}) values->insert(values->end(), 2, -0.5);
    const double delta = 0.1 / 8;
    const auto bets = *stats::plan_bets({above.size(), 1.0 / 12}, -0.5, delta);
    const auto bound = [&](const std::vector<double>& values) {
        return 0.5 + stats::betting_lower_bound(values, -0.5, bets, delta);
    };
    const ApprovalRate found = c.figures().approvals[0].candidate;
    EXPECT_NEAR(found.lower, bound(above), 1e-5);
    EXPECT_NEAR(found.upper, 1 - bound(below), 1e-5);
}

TEST(ValidationFigures, OfAGroupWhosePersonsAreAllErasedNothingIsKnown) {
    const SealedCase c(0.6, [](SealedCase& x) {
        x.vault.decisions.groups[0].records.clear();
        x.vault.decisions.erased = {60, {60, 0}};
    });
    EXPECT_EQ(c.result.verdict, Verdict::kNoSolutionFound);
    const ValidationFigures figures = c.figures();
    EXPECT_FALSE(figures.effects[0].smallest_seen);
    EXPECT_LE(*figures.effects[0].lower, -10);
    EXPECT_GE(*figures.effects[0].upper, 10);
    const ApprovalRate& rate = figures.approvals[0].candidate;
    EXPECT_EQ(rate.rate, 0);
    EXPECT_EQ(rate.lower, 0);
    EXPECT_EQ(rate.upper, 1);
    EXPECT_FALSE(figures.approvals[0].candidate.ratio_upper.value_or(1) < 1);
}

TEST(ValidationFigures, TheAttributeIsWhatStandsBeforeTheSigns) {
    EXPECT_EQ(attribute_of("sex=F"), "sex");
    EXPECT_EQ(attribute_of("sex=F,age=old"), "sex,age");
    EXPECT_EQ(attribute_of("land=a,b"), "land");
    EXPECT_EQ(attribute_of("women"), "");
    EXPECT_EQ(attribute_of(""), "");
}

/// Positions and lengths of the numbers in a part of the text.
std::vector<std::pair<size_t, size_t>> numbers_in(const std::string& text, size_t from, size_t to) {
    std::vector<std::pair<size_t, size_t>> out;
    for (size_t i = from; i < to; ++i) {
        if (std::string_view(":[,").find(text[i - 1]) == std::string_view::npos) continue;
        if (std::string_view("-0123456789n").find(text[i]) == std::string_view::npos) continue;
        const size_t end = text.find_first_of(",]}", i);
        out.emplace_back(i, end - i);
    }
    return out;
}

TEST(ValidationFigures, EveryFigureThatIsForgedIsFoundThoughTheSignerSignsItAgain) {
    const SealedCase c(1.0);
    const std::string text = c.payload();
    EXPECT_EQ(c.refusal(text), "");
    const size_t from = text.find("\"figures\":"), to = text.find("\"evidence_records\"");
    ASSERT_LT(from, to);
    std::set<std::string> members;
    for (const auto& [at, length] : numbers_in(text, from, to)) {
        std::string forged = text;
        forged.replace(at, length, "0.123");
        EXPECT_NE(c.refusal(forged).find("figures"), std::string::npos)
            << text.substr(at - 30, 30 + length);
        const size_t end = text.rfind("\":", at), begin = text.rfind('"', end - 1) + 1;
        members.insert(text.substr(begin, end - begin));
    }
    for (const char* member : {"effect_delta", "lower", "upper", "smallest_seen", "rate_delta",
                               "rate", "ratio", "ratio_lower", "ratio_upper", "declined_from",
                               "declined_to", "odds_factor", "tipping_gamma"}) {
        EXPECT_TRUE(members.contains(member)) << member;
    }
}

TEST(ValidationFigures, AClaimNamesAConfidenceThatIsNoHigherThanProven) {
    const SealedCase population(1.0);
    EXPECT_EQ(population.certificate().claim.find("With confidence 90 % (run 1 of 12"), 0u);
    // one run of twelve of the vault's own people: 1 - 0.1 / 12 = 0.991666...
    const SealedCase people(1.0, [](SealedCase& x) {
        x.config.records_per_person = 0;
        x.identity.candidate_id = std::string(64, 'a');
    });
    const std::string claim = people.certificate().claim;
    EXPECT_EQ(claim.find("With confidence 99.16 % ("), 0u) << claim;
    EXPECT_NE(claim.find("candidate aaaaaaaaaaaa would"), std::string::npos) << claim;
}

TEST(ValidationFigures, ACertificateWithoutThemKeepsItsWords) {
    const SealedCase c(1.0, [](SealedCase& x) { x.config.records_per_person = 0; });
    std::string text = c.payload();
    const auto cut = [&](std::string_view from, std::string_view to) {
        const size_t begin = text.find(from), end = text.find(to, begin);
        ASSERT_NE(end, std::string::npos) << from;
        text.erase(begin, end - begin);
    };
    cut("\"figures\":", "\"evidence_records\"");
    EXPECT_NE(c.refusal(text).find("the claim"), std::string::npos);
    text.replace(text.find("With confidence 99.16 %"), 23,
                 "With confidence 1 - 0.008333333333333333");
    EXPECT_NE(c.refusal(text).find("the recipe"), std::string::npos);
    cut(" Figures beside the verdict", "\",\"assumptions\"");
    EXPECT_NE(c.refusal(text).find("assumptions"), std::string::npos);
    cut("{\"text\":\"the intervals beside the verdict", "{\"text\":\"the claim is about");
    const std::string level = "0.0001042 for each test";
    text.replace(text.find(level), level.size(), fmt::format("{} for each test", 0.01 / 96));
    EXPECT_EQ(c.refusal(text), "");
}

}  // namespace
}  // namespace rampart::certification
