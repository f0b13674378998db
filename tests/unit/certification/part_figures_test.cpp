// Effects by half of the period and by logging policy, and who is in no group.
#include <map>

#include "rampart/ope/value_bound.hpp"
#include "sealed_case.hpp"

namespace rampart::certification {
namespace {

/// Halves by position, two loggers, a few people in no group, some in both halves.
void divide(SealedCase& c) {
    auto& d = c.vault.decisions;
    d.logger_ids.push_back("second logger");
    for (uint32_t i = 0; i < d.size(); ++i) {
        d.second_half.push_back(i >= 201 ? 1 : 0);
        d.logger[i] = i % 5 == 0 ? 1 : 0;
    }
    std::erase_if(d.groups[0].records, [](uint32_t i) { return i >= 380; });
}

TEST(PartFigures, AreTheMeansAndBoundsOfTheRecordsOfEachPart) {
    const SealedCase c(0.5, divide);
    const ValidationFigures figures = c.figures();
    ASSERT_EQ(figures.parts.size(), 8u);
    const auto& d = c.vault.decisions;
    for (const PartEffect& part : figures.parts) {
        const size_t g = part.group == "women" ? 0 : 1;
        const GroupPlan& plan = c.plan.groups[g];
        const ope::ImpactModel model{.lo = -150,
                                     .hi = 75,
                                     .q_approve = plan.q_approve,
                                     .q_decline = plan.q_decline,
                                     .declined = 0.0};
        std::map<std::string, double> worst, best;
        size_t records = 0;
        for (const uint32_t i : d.groups[g].records) {
            const bool in = part.part == "first half"    ? d.second_half[i] == 0
                            : part.part == "second half" ? d.second_half[i] == 1
                                                         : d.logger_ids[d.logger[i]] == part.part;
            if (!in) continue;
            ++records;
            ope::Record record = ope::record_at(d, i);
            const bool gains = record.candidate > record.reference, known = d.has_impact[i] != 0;
            record.impact = known ? c.vault.impact[i] : gains ? -150 : 75;
            worst[d.unit_id[i]] += ope::impact_change(record, model);
            record.impact = known ? c.vault.impact[i] : gains ? 75 : -150;
            best[d.unit_id[i]] -= ope::impact_change(record, model);
        }
        std::vector<double> low, high;
        for (const auto& [id, value] : worst) low.push_back(value);
        for (const auto& [id, value] : best) high.push_back(value);
        EXPECT_EQ(part.records, records);
        EXPECT_EQ(part.persons, low.size());
        const double per_record = static_cast<double>(low.size()) / static_cast<double>(records);
        EXPECT_NEAR(*part.estimate, stats::moments(low).mean * per_record, 1e-9);
        EXPECT_NEAR(*part.lower, stats::t_lower_bound(stats::moments(low), 0.05) * per_record,
                    1e-9);
        EXPECT_NEAR(*part.upper, -stats::t_lower_bound(stats::moments(high), 0.05) * per_record,
                    1e-9);
    }
    EXPECT_EQ(figures.ungrouped_records, 10u);
    EXPECT_EQ(figures.ungrouped_persons, 5u);
}

TEST(PartFigures, OneLoggerAndUnknownHalvesHaveNoneAndTheEvidenceIsAsBefore) {
    const SealedCase c(0.5);
    EXPECT_TRUE(c.figures().parts.empty());
    EXPECT_EQ(c.payload().find("\"ungrouped_"), std::string::npos);
    EXPECT_EQ(c.sealed.evidence.find("second_half"), std::string::npos);
    const SealedCase zeros(0.5, [](SealedCase& x) {
        x.vault.decisions.second_half.assign(x.vault.decisions.size(), 0);
    });
    EXPECT_EQ(zeros.plan.vault_digest, c.plan.vault_digest);
    EXPECT_EQ(zeros.sealed.evidence, c.sealed.evidence);
    const SealedCase one(0.5, [](SealedCase& x) {
        x.vault.decisions.second_half.assign(x.vault.decisions.size(), 0);
        x.vault.decisions.second_half.back() = 1;
    });
    EXPECT_NE(one.plan.vault_digest, c.plan.vault_digest) << "registered with the run";
}

TEST(PartFigures, AHalfThatIsForgedInTheEvidenceOrTheFiguresIsFound) {
    const SealedCase c(0.5, divide);
    const std::string mark = ",\"second_half\":true";
    std::string evidence = c.sealed.evidence;
    ASSERT_NE(evidence.find(mark), std::string::npos);
    evidence.erase(evidence.find(mark), mark.size());
    EXPECT_FALSE(verify(c.sealed.certificate, evidence, c.key.public_key()));
    std::string text = c.payload();
    for (const auto& [from, to] :
         {std::pair{"\"part\":\"first half\"", "\"part\":\"second half\""},
          std::pair{"\"ungrouped_records\":10", "\"ungrouped_records\":11"},
          std::pair{"\"ungrouped_persons\":5", "\"ungrouped_persons\":4"}}) {
        std::string forged = text;
        ASSERT_NE(forged.find(from), std::string::npos) << from;
        forged.replace(forged.find(from), std::string_view(from).size(), to);
        EXPECT_NE(c.refusal(forged).find("figures"), std::string::npos) << from;
    }
    const size_t parts = text.find("\"parts\":");
    for (const char* member :
         {"\"records\":", "\"persons\":", "\"estimate\":", "\"lower\":", "\"upper\":"}) {
        std::string forged = text;
        const size_t at = forged.find(member, parts) + std::string_view(member).size();
        forged.replace(at, forged.find_first_of(",}", at) - at, "7");
        EXPECT_NE(c.refusal(forged).find("figures"), std::string::npos) << member;
    }
}

TEST(PartFigures, TheMiddleOfThePeriodIsOfTheFirstHalf) {
    const auto at = [](int64_t seconds) { return base::TimePoint::from_micros(seconds * 1000000); };
    EXPECT_FALSE(in_second_half(at(10), at(10), at(20)));
    EXPECT_FALSE(in_second_half(at(15), at(10), at(20)));
    EXPECT_TRUE(in_second_half(at(16), at(10), at(20)));
    EXPECT_FALSE(in_second_half(at(10), at(10), at(10)));
}

}  // namespace
}  // namespace rampart::certification
