#include "rampart/gate_log/decision_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "made_up_log.hpp"

namespace rampart::gate_log {
namespace {

using ::testing::HasSubstr;

class DecisionFileTest : public ::testing::Test, protected test::LogFolder {
  protected:
    std::string error_of(const std::string& csv) const {
        const auto read = this->read(csv, settings());
        return read ? "" : read.error().reason + ": " + read.error().message;
    }
    const std::string header_{test::kHeader};
};

TEST_F(DecisionFileTest, LaysOutBothSidesByColumnsAndGroups) {
    const auto log = read(header_ +
                              "b,p2,2026-01-02,vault,old,0.25,decline,0.5,0.25,,M\n"
                              "a,p1,2026-01-01,vault,new,0.5,approve,0.75,0.5,-0.5,\n"
                              "c,p3,2026-01-03,development,old,1,approve,1,1,,F\n",
                          settings())
                         .value();
    const auto& vault = log.vault.decisions;
    EXPECT_EQ(vault.record_id, (std::vector<std::string>{"a", "b"})) << "by time";
    EXPECT_EQ(vault.unit_id, (std::vector<std::string>{"p1", "p2"}));
    EXPECT_EQ(vault.p_approve, (std::vector<double>{0.5, 0.25}));
    EXPECT_EQ(vault.candidate, (std::vector<double>{0.75, 0.5}));
    EXPECT_EQ(vault.reference, (std::vector<double>{0.5, 0.25}));
    EXPECT_EQ(vault.approved, (std::vector<uint8_t>{1, 0}));
    EXPECT_EQ(vault.has_impact, (std::vector<uint8_t>{1, 0}));
    EXPECT_EQ(vault.logger_ids, (std::vector<std::string>{"new", "old"}));
    ASSERT_EQ(vault.groups.size(), 2u) << "both sides have the same groups";
    EXPECT_EQ(vault.groups[0].name, "sex=F");
    EXPECT_TRUE(vault.groups[0].records.empty()) << "an unknown attribute is in no group";
    EXPECT_EQ(vault.groups[1].records, std::vector<uint32_t>{1});
    EXPECT_EQ(log.vault.impact[0], -0.5);
    EXPECT_TRUE(std::isnan(log.vault.impact[1]));
    EXPECT_EQ(log.development.decisions.record_id, std::vector<std::string>{"c"});
    EXPECT_EQ(vault.second_half, (std::vector<uint8_t>{0, 1}));
    EXPECT_EQ(base::to_iso8601(log.period_to), "2026-01-02T00:00:00Z");
}

TEST_F(DecisionFileTest, EveryDecisionOfTheVaultIsReadOrLeftOutForOneReason) {
    auto limited = settings();
    limited.gate.max_age_months = 1;
    const auto log = read(header_ +
                              "a,p1,2026-01-01,vault,new,0.5,approve,0.75,0.5,-0.5,F\n"
                              "b,p2,2026-03-02,vault,old,0.25,decline,0.5,0.25,,M\n"
                              "c,p2,2026-03-03,vault,old,0.25,decline,0.5,0.25,,M\n"
                              "d,p3,2026-03-04,vault,new,0.5,approve,0.75,0.5,-0.5,\n"
                              "e,p4,2026-03-05,vault,old,0.25,decline,0.5,0.25,,F\n"
                              "f,p5,2026-01-01,development,old,1,approve,1,1,,F\n"
                              "g,p5,2026-03-03,development,old,1,approve,1,1,,F\n",
                          limited)
                         .value();
    EXPECT_EQ(log.decisions, 5u) << "those of the other side are not counted";
    EXPECT_EQ(log.vault.decisions.size(), 3u);
    EXPECT_EQ(log.in_no_group, 1u);
    using certification::LeftOut;
    EXPECT_THAT(log.left_out,
                ::testing::ElementsAre(LeftOut{"too_old", "", 1}, LeftOut{"too_old", "sex=F", 1},
                                       LeftOut{"later_record", "", 1},
                                       LeftOut{"later_record", "sex=M", 1}));
    ASSERT_EQ(log.loggers.size(), 2u);
    EXPECT_EQ(log.loggers[0].id, "old");
    EXPECT_EQ(log.loggers[0].records, 2u);
    EXPECT_EQ(base::to_iso8601(log.loggers[0].last), "2026-03-05T00:00:00Z");
}

TEST_F(DecisionFileTest, OnlyTheFirstRecordOfAPersonCounts) {
    const auto log = read(header_ +
                              "b,p1,2026-01-02,vault,old,0.5,approve,0.5,0.5,1,F\n"
                              "a,p1,2026-01-01,vault,old,0.5,decline,0.5,0.5,,F\n",
                          settings())
                         .value();
    EXPECT_EQ(log.vault.decisions.record_id, std::vector<std::string>{"a"});
    EXPECT_EQ(log.later_records, 1u);
}

TEST_F(DecisionFileTest, RecordsThatWereReadBeforeAreLeftOutAndWhoseTheyWereIsKnown) {
    const std::string csv = header_ +
                            "a,p1,2026-01-01,vault,old,0.5,decline,0.5,0.5,,F\n"
                            "b,p1,2026-01-03,vault,old,0.5,approve,0.5,0.5,1,F\n"
                            "c,p2,2026-01-02,vault,old,0.5,approve,0.5,0.5,1,F\n"
                            "d,p3,2026-01-01,development,old,0.5,approve,0.5,0.5,1,F\n";
    const auto until = base::parse_iso8601("2026-01-02").value();
    const auto log = read(csv, settings(), {}, until).value();
    EXPECT_EQ(log.vault.decisions.record_id, std::vector<std::string>{"b"});
    EXPECT_EQ(log.later_records, 0u);
    EXPECT_EQ(log.persons_read, (std::set<std::string>{"p1", "p2"}));
    EXPECT_EQ(log.development.decisions.record_id, std::vector<std::string>{"d"});
    EXPECT_EQ(base::to_iso8601(log.period_from), "2026-01-03T00:00:00Z");
}

TEST_F(DecisionFileTest, GroupsAreThoseOfTheSettingsInTheirOrder) {
    const auto settings = this->settings(
        "[gate]\n[impact]\nminimum = -1.0\nmaximum = 1.0\n[groups]\ncolumns = [\"sex\", \"age\"]\n"
        "names = [\"sex=M\", \"sex=F,age=low\", \"age=none\"]\n[erased]\nvault = 2\n"
        "vault_groups = [2, 1, 0]\n");
    const auto log = read(
        "record,person,time,side,logger,p_approve,action,candidate,reference,impact,sex,age\n"
        "a,p1,2026-01-01,vault,old,0.5,decline,0.5,0.5,,F,low\n"
        "b,p2,2026-01-02,vault,old,0.5,decline,0.5,0.5,,M,low\n"
        "c,p3,2026-01-03,vault,old,0.5,decline,0.5,0.5,,F,\n",
        settings);
    const auto& vault = log.value().vault.decisions;
    ASSERT_EQ(vault.groups.size(), 3u);
    EXPECT_EQ(vault.groups[0].name, "sex=M");
    EXPECT_EQ(vault.groups[0].records, std::vector<uint32_t>{1});
    EXPECT_EQ(vault.groups[1].name, "sex=F,age=low");
    EXPECT_EQ(vault.groups[1].records, std::vector<uint32_t>{0});
    EXPECT_TRUE(vault.groups[2].records.empty());
    EXPECT_EQ(vault.erased, (ope::ErasedCounts{2, {2, 1, 0}}));
    EXPECT_EQ(log->development.decisions.erased, ope::ErasedCounts{});
}

TEST_F(DecisionFileTest, WhatPeopleReversedCountsForWhatWasDrawn) {
    const std::string head =
        "record,person,time,side,logger,p_approve,action,candidate,reference,impact,sex,"
        "overridden\n";
    const auto log = read(head +
                              "a,p1,2026-01-01,vault,old,0.5,decline,0.5,0.5,1,F,yes\n"
                              "b,p2,2026-01-02,vault,old,0.5,approve,0.5,0.5,,F,yes\n"
                              "c,p3,2026-01-03,vault,old,0.5,approve,0.5,0.5,1,F,no\n",
                          settings())
                         .value();
    EXPECT_EQ(log.vault.decisions.overridden, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(log.vault.decisions.approved, (std::vector<uint8_t>{0, 1, 1}));
    EXPECT_EQ(log.vault.impact[0], 1);
    EXPECT_THAT(error_of(head + "a,p1,2026-01-01,vault,old,0.5,approve,0.5,0.5,1,F,yes\n"),
                HasSubstr("impact.declined"));
    EXPECT_THAT(error_of(head + "a,p1,2026-01-01,vault,old,0.5,approve,0.5,0.5,1,F,perhaps\n"),
                HasSubstr("column 'overridden'"));
}

TEST_F(DecisionFileTest, TheFirstOfAPersonIsCountedFromTheAgeLimitOn) {
    auto settings = this->settings();
    settings.gate.max_age_months = 1;
    const auto log = read(header_ +
                              "a,p1,2026-01-01,vault,old,0.5,decline,0.5,0.5,,F\n"
                              "b,p1,2026-03-01,vault,old,0.5,approve,0.5,0.5,1,F\n"
                              "c,p2,2026-03-02,vault,old,0.5,approve,0.5,0.5,1,F\n",
                          settings)
                         .value();
    EXPECT_EQ(log.vault.decisions.record_id, (std::vector<std::string>{"b", "c"}));
}

TEST_F(DecisionFileTest, APersonOnBothSidesIsRefused) {
    EXPECT_THAT(error_of(header_ + "a,p1,2026-01-01,vault,old,0.5,decline,0.5,0.5,,F\n"
                                   "b,p1,2026-01-02,development,old,0.5,approve,0.5,0.5,1,F\n"),
                HasSubstr("person_on_both_sides: person 'p1'"));
}

TEST_F(DecisionFileTest, WithoutASideAKeyDividesThePersons) {
    std::string csv = "record,person,time,logger,p_approve,action,candidate,reference,impact,sex\n";
    for (int i = 0; i < 1000; ++i)
        csv += fmt::format("r{},p{},2026-01-01,old,0.5,decline,0.5,0.5,,F\n", i, i);
    EXPECT_THAT(error_of(csv), HasSubstr("missing_log_column"));
    const std::string key = "0123456789abcdef";
    const auto log = read(csv, settings(), key).value();
    EXPECT_NEAR(static_cast<double>(log.vault.decisions.size()), 400, 60);
    for (const auto& person : log.vault.decisions.unit_id)
        ASSERT_TRUE(training_set::in_vault(key, domain::PersonId(person)));
    EXPECT_EQ(read(csv, settings(), "short").error().reason, "bad_split_key");
}

TEST_F(DecisionFileTest, AReferralHasItsProbabilitiesAndWhatFollowedFromTheAnswer) {
    const std::string head =
        "record,person,time,side,logger,p_approve,action,candidate,reference,impact,sex,p_refer,"
        "candidate_refer,reference_refer";
    const std::string line = "a,p1,2026-01-01,vault,old,0.25,refer,0.5,0.25,";
    const auto referral = [&](const std::string& rest, const std::string& more = "") {
        const auto log = read(head + more + "\n" + line + rest + "\n", settings()).value();
        return std::pair(log.vault.decisions.referral(0), log.vault.impact[0]);
    };
    EXPECT_EQ(referral("0.5,F,0.5,0.25,0.5"), std::pair(ope::Referral::kApproved, 0.5));
    EXPECT_EQ(referral(",F,0.5,0.25,0.5").first, ope::Referral::kUnanswered);
    EXPECT_EQ(referral("-1,F,0.5,0.25,0.5,approve", ",answer").first, ope::Referral::kApproved);
    EXPECT_EQ(referral("0,F,0.5,0.25,0.5,decline", ",answer").first, ope::Referral::kDeclined);
    const auto log = read(head + "\n" + line + "0.5,F,0.5,0.25,0.5\n", settings()).value();
    EXPECT_EQ(log.vault.decisions.p_refer, std::vector<double>{0.5});
    EXPECT_EQ(log.vault.decisions.candidate_refer, std::vector<double>{0.25});
    EXPECT_EQ(log.vault.decisions.reference_refer, std::vector<double>{0.5});
    EXPECT_EQ(log.vault.decisions.approved, std::vector<uint8_t>{0});
    EXPECT_THAT(error_of(header_ + line + ",F\n"), HasSubstr("column 'action'"));
    EXPECT_THAT(error_of("record,person,time,side,logger,p_approve,action,candidate,reference,"
                         "impact,sex,p_refer\n" +
                         line + ",F,0.5\n"),
                HasSubstr("candidate_refer"));
    EXPECT_THAT(error_of(head + ",answer\n" + line + "0.5,F,0.5,0.25,0.5,\n"),
                HasSubstr("no answer"));
    EXPECT_THAT(error_of(head + "\n" + line + "0.5,F,0,0.25,0.5\n"), HasSubstr("bad_propensity"));
}

TEST_F(DecisionFileTest, ABadCellIsNamedByLineAndColumn) {
    const auto with = [&](const std::string& line) {
        return error_of(header_ + "a,p1,2026-01-01,vault,old,0.5,decline,0.5,0.5,,F\n" + line);
    };
    EXPECT_EQ(with(""), "");
    EXPECT_THAT(with("b,p2,2026-01-01,vault,old,1.5,approve,0.5,0.5,1,F\n"),
                HasSubstr("bad_log_cell: line 3, column 'p_approve': '1.5' must be a number"));
    EXPECT_THAT(with("b,p2,2026-01-01,vault,old,nan,approve,0.5,0.5,1,F\n"),
                HasSubstr("column 'p_approve'"));
    EXPECT_THAT(with("b,p2,2026-01-01,vault,old,0.5,approve,,0.5,1,F\n"),
                HasSubstr("column 'candidate'"));
    EXPECT_THAT(with("b,p2,yesterday,vault,old,0.5,approve,0.5,0.5,1,F\n"),
                HasSubstr("column 'time'"));
    EXPECT_THAT(with("b,p2,2026-01-01,both,old,0.5,approve,0.5,0.5,1,F\n"),
                HasSubstr("column 'side'"));
    EXPECT_THAT(with("b,p2,2026-01-01,vault,old,0.5,granted,0.5,0.5,1,F\n"),
                HasSubstr("column 'action'"));
    EXPECT_THAT(with("b,p2,2026-01-01,vault,old,0.5,approve,0.5,0.5,2,F\n"),
                HasSubstr("column 'impact'"));
    EXPECT_THAT(with("b,p2,2026-01-01,vault,old,0.5,decline,0.5,0.5,1,F\n"),
                HasSubstr("impact.declined"));
    EXPECT_EQ(with("b,p2,2026-01-01,vault,old,0.5,decline,0.5,0.5,0,F\n"), "");
    EXPECT_THAT(with("b,,2026-01-01,vault,old,0.5,decline,0.5,0.5,,F\n"),
                HasSubstr("column 'person'"));
    EXPECT_THAT(with("b,p2,2026-01-01,vault,old,0,approve,0.5,0.5,1,F\n"),
                HasSubstr("bad_propensity"));
    EXPECT_THAT(error_of(header_), HasSubstr("no_records"));
    EXPECT_THAT(error_of("record,person\n1,2\n"), HasSubstr("missing_log_column"));
}

}  // namespace
}  // namespace rampart::gate_log
