#include "rampart/loan_stream/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "rampart/config/table.hpp"
#include "support/places.hpp"
#include "unit/loan_stream/files.hpp"

namespace rampart::loan_stream {
namespace {

using testing::HasSubstr;

base::TimePoint at(std::string_view iso) { return base::parse_iso8601(iso).value(); }

const domain::FeatureValue& feature(const Applicant& applicant, std::string_view name) {
    for (const auto& f : applicant.application.features) {
        if (f.name == name) return f.value;
    }
    static const domain::FeatureValue none = std::string("no such feature");
    return none;
}

double number(const Applicant& applicant, std::string_view name) {
    const auto* value = std::get_if<double>(&feature(applicant, name));
    return value != nullptr ? *value : std::nan("");
}

std::string text(const Applicant& applicant, std::string_view name) {
    const auto* value = std::get_if<std::string>(&feature(applicant, name));
    return value != nullptr ? *value : "(no text)";
}

bool missing(const Applicant& applicant, std::string_view name) {
    return std::holds_alternative<std::monostate>(feature(applicant, name));
}

base::Error error_of(const StreamOptions& options) {
    auto stream = load(options);
    return stream ? base::Error{} : stream.error();
}

/// What every stream promises.
void expect_sound(const Stream& stream) {
    ASSERT_FALSE(stream.applicants.empty());
    std::set<std::string> ids;
    auto previous = stream.start;
    for (const auto& applicant : stream.applicants) {
        const auto& application = applicant.application;
        ASSERT_TRUE(domain::validate(application)) << application.id.value();
        EXPECT_TRUE(ids.insert(application.id.value()).second);
        EXPECT_GE(application.event_time, previous);
        previous = application.event_time;
        EXPECT_EQ(application.features.size(), stream.schema.size());
        for (const auto& f : application.features) {
            EXPECT_TRUE(stream.schema.find(f.name)) << f.name;
            EXPECT_FALSE(applicant.protected_attributes.contains(f.name));
        }
        const auto maturity =
            base::add_months(application.event_time, stream.horizon_months) + stream.grace;
        if (applicant.label) {
            EXPECT_LE(maturity, stream.end);
        } else {
            EXPECT_TRUE(applicant.reports.empty());
            EXPECT_GE(maturity, stream.end);
        }
        for (const auto& report : applicant.reports) {
            EXPECT_GT(report.observed_at, application.event_time);
            EXPECT_TRUE(report.revision > 0 || report.observed_at <= maturity);
        }
        if (!applicant.reports.empty()) {
            EXPECT_EQ(applicant.reports.back().value, *applicant.label ? 1 : 0);
        }
    }
}

TEST(LoanStream, AnUnknownNameIsRefusedWithTheKnownOnes) {
    const auto error = error_of({.name = "mortgages"});
    EXPECT_EQ(error.code, base::ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.message, HasSubstr("mortgages"));
    for (const auto& name : stream_names()) EXPECT_THAT(error.message, HasSubstr(name));
}

TEST(LoanStream, AMissingFileIsNamedTogetherWithTheRemedy) {
    Folder folder;
    for (const auto& [name, file] :
         std::map<std::string, std::string>{{"default-credit-card", "default_credit_card.csv"},
                                            {"sba", "sba_loans.csv"},
                                            {"cards", "card_monthly_status.csv"}}) {
        const auto error = error_of({.name = name, .data_dir = folder.path()});
        EXPECT_EQ(error.code, base::ErrorCode::kNotFound);
        EXPECT_THAT(error.message, HasSubstr(file));
        EXPECT_THAT(error.message, HasSubstr("ops/data --stream " + name));
    }
}

TEST(LoanStream, ATruncatedGzipFileIsAnErrorThatNamesIt) {
    Folder folder;
    folder.write("default_credit_card.csv.gz",
                 std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b", 11));
    const auto error = error_of({.name = "default-credit-card", .data_dir = folder.path()});
    EXPECT_EQ(error.code, base::ErrorCode::kDataLoss);
    EXPECT_THAT(error.message, HasSubstr("default_credit_card.csv.gz"));
}

TEST(LoanStream, AnotherLayoutIsRefusedByTheColumnThatIsNotThere) {
    Folder folder;
    folder.write("default_credit_card.csv", "a,b\n1,2\n");
    const auto error = error_of({.name = "default-credit-card", .data_dir = folder.path()});
    EXPECT_EQ(error.reason, "unknown_layout");
    EXPECT_THAT(error.message, HasSubstr("'SEX'"));
}

TEST(LoanStream, AFileWithoutRowsIsAnError) {
    Folder folder;
    folder.write("default_credit_card.csv", kCreditHeader);
    EXPECT_EQ(error_of({.name = "default-credit-card", .data_dir = folder.path()}).reason,
              "no_applicants");
}

TEST(LoanStream, ABadCellIsNamedByFileLineColumnAndValue) {
    Folder folder;
    const std::string good = credit_row(1, 40, 0);
    for (const auto& [row, column] :
         std::vector<std::pair<std::string, std::string>>{{credit_row(3, 40, 0), "SEX"},
                                                          {credit_row(1, 0, 0), "AGE"},
                                                          {credit_row(1, 40, 2), "default payment"},
                                                          {"x" + good, "LIMIT_BAL"}}) {
        folder.write("default_credit_card.csv", kCreditHeader + good + row);
        const auto error = error_of({.name = "default-credit-card", .data_dir = folder.path()});
        EXPECT_EQ(error.reason, "bad_cell");
        EXPECT_THAT(error.message,
                    HasSubstr("default_credit_card.csv, line 3, column '" + column + "'"));
        EXPECT_THAT(error.message, HasSubstr("ops/data"));
    }
}

TEST(DefaultCreditCard, ClientsComeInFileOrderSpreadOver24Months) {
    Folder folder;
    folder.write("default_credit_card.csv", credit_file(240));
    const auto stream = load({.name = "default-credit-card", .data_dir = folder.path()}).value();
    expect_sound(stream);
    ASSERT_EQ(stream.applicants.size(), 240u);
    EXPECT_EQ(stream.horizon_months, 6);
    EXPECT_EQ(stream.grace, base::Duration::days(30));
    for (size_t i = 0; i < 240; ++i) {
        EXPECT_EQ(stream.applicants[i].application.id.value(), "dcc-" + std::to_string(i + 1));
        EXPECT_EQ(stream.applicants[i].application.person.value(), "c" + std::to_string(i + 1));
        EXPECT_EQ(number(stream.applicants[i], "LIMIT_BAL"), 10000.0 + static_cast<double>(i));
    }
    EXPECT_EQ(base::month_of(stream.applicants[9].application.event_time), "2022-01");
    EXPECT_EQ(base::month_of(stream.applicants[239].application.event_time), "2023-12");
}

TEST(DefaultCreditCard, LabelAndProtectedAttributesAreReadAndAreNoFeatures) {
    Folder folder;
    folder.write("default_credit_card.csv",
                 kCreditHeader + credit_row(1, 29, 1) + credit_row(2, 30, 0));
    const auto stream = load({.name = "default-credit-card", .data_dir = folder.path()}).value();
    const auto& first = stream.applicants[0];
    const auto& second = stream.applicants[1];
    EXPECT_EQ(first.label, false);
    EXPECT_EQ(second.label, true);
    EXPECT_EQ(first.protected_attributes,
              (std::map<std::string, std::string>{{"sex", "male"}, {"age", "under_30"}}));
    EXPECT_EQ(second.protected_attributes,
              (std::map<std::string, std::string>{{"sex", "female"}, {"age", "30_and_over"}}));
    for (const char* name : {"SEX", "AGE", "default payment"})
        EXPECT_FALSE(stream.schema.find(name));
    EXPECT_EQ(text(first, "EDUCATION"), "2");
    EXPECT_EQ(number(first, "PAY_0"), 2);
    EXPECT_EQ(number(first, "PAY_4"), -1);
}

TEST(DefaultCreditCard, ReportsComeAroundSixMonthsWithTheDeclaredShareOfIrregularOnes) {
    Folder folder;
    folder.write("default_credit_card.csv", credit_file(20000));
    const auto stream = load({.name = "default-credit-card", .data_dir = folder.path()}).value();
    size_t never = 0, twice = 0, corrected = 0;
    for (const auto& applicant : stream.applicants) {
        const double truth = *applicant.label ? 1 : 0;
        const auto& reports = applicant.reports;
        if (reports.empty()) {
            ++never;
            continue;
        }
        const auto due = base::add_months(applicant.application.event_time, 6);
        EXPECT_GE(reports[0].observed_at, due - base::Duration::days(10));
        EXPECT_LT(reports[0].observed_at, due + base::Duration::days(21));
        ASSERT_LE(reports.size(), 2u);
        if (reports.size() == 1) {
            EXPECT_EQ(reports[0].value, truth);
        } else if (reports[1].revision == 0) {
            ++twice;
            EXPECT_EQ(reports[0], reports[1]);
        } else {
            ++corrected;
            EXPECT_EQ(reports[0].value, 1 - truth);
            EXPECT_EQ(reports[1].value, truth);
            EXPECT_GE(reports[1].observed_at - reports[0].observed_at, base::Duration::days(14));
            EXPECT_LE(reports[1].observed_at - reports[0].observed_at, base::Duration::days(42));
        }
    }
    // shares of 20,000, within four standard deviations
    EXPECT_NEAR(static_cast<double>(never), 80, 36);
    EXPECT_NEAR(static_cast<double>(twice), 200, 57);
    EXPECT_NEAR(static_cast<double>(corrected), 100, 40);
}

TEST(DefaultCreditCard, TheRowLimitThinsEvenlyAndChangesNoApplicant) {
    Folder folder;
    folder.write("default_credit_card.csv", credit_file(300));
    StreamOptions options{.name = "default-credit-card", .data_dir = folder.path(), .seed = 5};
    const auto whole = load(options).value();
    options.rows = 100;
    const auto thin = load(options).value();
    ASSERT_EQ(thin.applicants.size(), 100u);
    for (size_t i = 0; i < 100; ++i) {
        EXPECT_EQ(thin.applicants[i].application, whole.applicants[3 * i].application);
        EXPECT_EQ(thin.applicants[i].reports, whole.applicants[3 * i].reports);
    }
    options.rows = 1000;  // more than there are
    EXPECT_EQ(load(options).value().applicants.size(), 300u);
}

RC_GTEST_PROP(LoanStreamLaw, SameOptionsGiveTheSameStreamAndTheSeedMattersOnlyToReports,
              (uint64_t seed)) {
    Folder folder;
    folder.write("default_credit_card.csv", credit_file(60));
    StreamOptions options{.name = "default-credit-card", .data_dir = folder.path(), .seed = seed};
    const auto one = load(options).value();
    const auto two = load(options).value();
    options.seed = seed + 1;
    const auto other = load(options).value();
    bool reports_differ = false;
    for (size_t i = 0; i < 60; ++i) {
        RC_ASSERT(one.applicants[i].application == two.applicants[i].application);
        RC_ASSERT(one.applicants[i].reports == two.applicants[i].reports);
        RC_ASSERT(one.applicants[i].application == other.applicants[i].application);
        RC_ASSERT(one.applicants[i].label == other.applicants[i].label);
        reports_differ |= !(one.applicants[i].reports == other.applicants[i].reports);
    }
    RC_ASSERT(reports_differ);
}

Stream load_sba(const Folder& folder, const std::vector<SbaRow>& rows) {
    std::string text = kSbaHeader;
    for (const auto& row : rows) text += row.text();
    folder.write("sba_loans.csv", text);
    return load({.name = "sba", .data_dir = folder.path(), .seed = 3}).value();
}

TEST(Sba, ALoanIsBadIffItWasChargedOffWithin60Months) {
    Folder folder;
    const auto stream = load_sba(
        folder,
        {{.loan = "1", .approved = "3/1/2004", .charged_off = "28-Feb-09", .status = "CHGOFF"},
         {.loan = "2", .approved = "3/2/2004", .charged_off = "3-Mar-09", .status = "CHGOFF"},
         {.loan = "3", .approved = "3/3/2004"},
         {.loan = "4", .approved = "3/4/2004", .charged_off = "1-Jun-05", .status = "P I F"},
         {.loan = "5", .approved = "3/5/2004", .status = "CHGOFF"}});
    expect_sound(stream);
    ASSERT_EQ(stream.applicants.size(), 5u);
    const std::vector<bool> expected{false, true, true, false, false};
    for (size_t i = 0; i < 5; ++i) EXPECT_EQ(stream.applicants[i].label, expected[i]) << i;
    EXPECT_EQ(stream.applicants[0].reports.at(0).observed_at, at("2009-02-28"));
    EXPECT_EQ(stream.applicants[2].reports.at(0).observed_at,
              base::add_months(stream.applicants[2].application.event_time, 60));
    EXPECT_EQ(stream.applicants[3].reports.at(0).observed_at, at("2005-06-01"));
}

TEST(Sba, LoansBefore1997AndLoansWithoutStatusAreLeftOut) {
    Folder folder;
    const auto stream = load_sba(folder, {{.loan = "1", .approved = "12/31/1996"},
                                          {.loan = "2", .approved = "1/1/1997"},
                                          {.loan = "3", .approved = "1/2/1997", .status = ""}});
    ASSERT_EQ(stream.applicants.size(), 1u);
    EXPECT_EQ(stream.applicants[0].application.person.value(), "2");
}

TEST(Sba, LoansAreOrderedByApprovalAndThoseOfADayStayInFileOrderWithinIt) {
    Folder folder;
    const auto stream = load_sba(folder, {{.loan = "1", .approved = "5/2/2001"},
                                          {.loan = "2", .approved = "5/1/2001"},
                                          {.loan = "3", .approved = "5/1/2001"}});
    ASSERT_EQ(stream.applicants.size(), 3u);
    EXPECT_EQ(stream.applicants[0].application.id.value(), "sba-2");
    EXPECT_EQ(stream.applicants[1].application.id.value(), "sba-3");
    EXPECT_EQ(stream.applicants[0].application.event_time, at("2001-05-01T06:00:00Z"));
    EXPECT_EQ(stream.applicants[1].application.event_time, at("2001-05-01T18:00:00Z"));
    EXPECT_EQ(stream.applicants[2].application.event_time, at("2001-05-02T12:00:00Z"));
}

TEST(Sba, WhatIsKnownOnlyAfterwardsIsNoFeature) {
    Folder folder;
    const auto stream = load_sba(folder, {SbaRow{}});
    for (const char* name : {"Term", "ChgOffDate", "ChgOffPrinGr", "MIS_Status", "DisbursementDate",
                             "DisbursementGross", "NewExist", "UrbanRural"}) {
        EXPECT_FALSE(stream.schema.find(name)) << name;
    }
}

TEST(Sba, FeaturesAreDerivedAsDocumented) {
    Folder folder;
    const auto stream =
        load_sba(folder, {{.loan = "1", .bank_state = "IN", .franchise = "78760", .area = "1"},
                          {.loan = "2", .naics = "0", .new_exist = "0", .area = "2"}});
    const auto& first = stream.applicants[0];
    const auto& second = stream.applicants[1];
    EXPECT_EQ(text(first, "NaicsSector"), "45");
    EXPECT_EQ(text(first, "State"), "IN");
    EXPECT_EQ(number(first, "BankInState"), 1);
    EXPECT_EQ(number(second, "BankInState"), 0);
    EXPECT_EQ(number(first, "Franchise"), 1);
    EXPECT_EQ(number(second, "Franchise"), 0);
    EXPECT_DOUBLE_EQ(number(first, "GuaranteedShare"), 0.8);
    EXPECT_EQ(number(first, "RetainedJob"), 3);
    EXPECT_TRUE(missing(second, "NaicsSector"));
    EXPECT_EQ(first.protected_attributes,
              (std::map<std::string, std::string>{{"business", "new"}, {"area", "urban"}}));
    EXPECT_EQ(second.protected_attributes, (std::map<std::string, std::string>{{"area", "rural"}}));
}

TEST(Sba, BadDatesAmountsAndStatusesAreNamed) {
    Folder folder;
    for (const auto& [row, column] :
         std::vector<std::pair<SbaRow, std::string>>{{{.approved = "1997-02-28"}, "ApprovalDate"},
                                                     {{.approved = "2/30/1997"}, "ApprovalDate"},
                                                     {{.charged_off = "6/1/2005"}, "ChgOffDate"},
                                                     {{.charged_off = "1-Jux-05"}, "ChgOffDate"},
                                                     {{.charged_off = "1-Jun--1"}, "ChgOffDate"},
                                                     {{.charged_off = "1-Jun-96"}, "ChgOffDate"},
                                                     {{.status = "PAID"}, "MIS_Status"},
                                                     {{.amount = "0"}, "GrAppv"},
                                                     {{.loan = "1/2"}, "LoanNr_ChkDgt"},
                                                     {{.area = "7"}, "UrbanRural"}}) {
        folder.write("sba_loans.csv", kSbaHeader + row.text());
        const auto error = error_of({.name = "sba", .data_dir = folder.path()});
        EXPECT_EQ(error.reason, "bad_cell") << column;
        EXPECT_THAT(error.message, HasSubstr("line 2, column '" + column + "'"));
    }
}

TEST(Sba, ARepeatedLoanNumberIsAnError) {
    Folder folder;
    folder.write("sba_loans.csv", kSbaHeader + SbaRow{}.text() + SbaRow{}.text());
    EXPECT_EQ(error_of({.name = "sba", .data_dir = folder.path()}).reason, "duplicate_application");
}

Stream load_cards(const Folder& folder, const std::string& applications,
                  const std::string& months) {
    folder.write("card_applications.csv", kCardHeader + applications);
    folder.write("card_monthly_status.csv", "ID,MONTHS_BALANCE,STATUS\n" + months);
    return load({.name = "cards", .data_dir = folder.path(), .seed = 3}).value();
}

TEST(Cards, TheLabelSpeaksOfTheFirstTwelveMonths) {
    Folder folder;
    const auto stream = load_cards(
        folder, card_row(1) + card_row(2) + card_row(3) + card_row(4) + card_row(5) + card_row(6),
        card_months(1, -40, "00000000000010") +      // late in month 13: fine
            card_months(2, -39, "00000000000100") +  // late in month 12
            card_months(3, -38, "XC0") +             // closed early, never late
            card_months(4, -11, "000000000000") +    // twelve months, up to the end
            card_months(5, -10, "00100000000") +     // eleven: its year is not over
            card_months(6, -37, "3"));
    expect_sound(stream);
    ASSERT_EQ(stream.applicants.size(), 6u);
    std::map<std::string, std::optional<bool>> labels;
    for (const auto& a : stream.applicants) labels[a.application.id.value()] = a.label;
    EXPECT_EQ(labels["card-1"], true);
    EXPECT_EQ(labels["card-2"], false);
    EXPECT_EQ(labels["card-3"], true);
    EXPECT_EQ(labels["card-4"], true);
    EXPECT_EQ(labels["card-5"], std::nullopt);
    EXPECT_EQ(labels["card-6"], false);
}

TEST(Cards, LateIsReportedAfterItsMonthAndFineAtTwelveMonths) {
    Folder folder;
    const auto stream =
        load_cards(folder, card_row(1) + card_row(2),
                   card_months(1, -24, "0010") + card_months(2, -23, "000000000000"));
    ASSERT_EQ(stream.applicants.size(), 2u);
    EXPECT_EQ(base::month_of(stream.applicants[0].application.event_time), "2018-12");
    EXPECT_EQ(stream.applicants[0].reports.at(0).observed_at, at("2019-03-01"));
    EXPECT_EQ(stream.applicants[1].reports.at(0).observed_at,
              base::add_months(stream.applicants[1].application.event_time, 12));
}

TEST(Cards, TheProfileIsThePersonAndAccountsWithoutMonthsAreLeftOut) {
    Folder folder;
    const auto stream =
        load_cards(folder, card_row(1) + card_row(2) + card_row(3, "F") + card_row(4),
                   card_months(1, -30, "0") + card_months(2, -29, "0") + card_months(3, -28, "0"));
    ASSERT_EQ(stream.applicants.size(), 3u);
    EXPECT_EQ(stream.applicants[0].application.person, stream.applicants[1].application.person);
    EXPECT_NE(stream.applicants[0].application.person, stream.applicants[2].application.person);
}

TEST(Cards, ProtectedAttributesAndMissingValuesAreAsDocumented) {
    Folder folder;
    const auto stream =
        load_cards(folder, card_row(1, "M", -10956) + card_row(2, "F", -10957, 365243),
                   card_months(1, -30, "0") + card_months(2, -29, "0"));
    const auto& young = stream.applicants[0];
    const auto& old = stream.applicants[1];
    EXPECT_EQ(young.protected_attributes,
              (std::map<std::string, std::string>{{"sex", "male"}, {"age", "under_30"}}));
    EXPECT_EQ(old.protected_attributes,
              (std::map<std::string, std::string>{{"sex", "female"}, {"age", "30_and_over"}}));
    EXPECT_EQ(number(young, "DAYS_EMPLOYED"), -4542);
    EXPECT_TRUE(missing(old, "DAYS_EMPLOYED"));
    EXPECT_TRUE(missing(young, "OCCUPATION_TYPE"));
    EXPECT_EQ(text(young, "NAME_HOUSING_TYPE"), "Rented apartment");
}

TEST(Cards, BadCellsOfEitherFileAreNamed) {
    Folder folder;
    folder.write("card_applications.csv", kCardHeader + card_row(1));
    folder.write("card_monthly_status.csv", "ID,MONTHS_BALANCE,STATUS\n1,0,9\n");
    EXPECT_THAT(error_of({.name = "cards", .data_dir = folder.path()}).message,
                HasSubstr("card_monthly_status.csv, line 2, column 'STATUS'"));
    folder.write("card_monthly_status.csv", "ID,MONTHS_BALANCE,STATUS\n1,1,0\n");
    EXPECT_THAT(error_of({.name = "cards", .data_dir = folder.path()}).message,
                HasSubstr("column 'MONTHS_BALANCE'"));
    folder.write("card_monthly_status.csv", "ID,MONTHS_BALANCE,STATUS\n1,0,0\n");
    folder.write("card_applications.csv", kCardHeader + card_row(1, "?"));
    EXPECT_THAT(error_of({.name = "cards", .data_dir = folder.path()}).message,
                HasSubstr("card_applications.csv, line 2, column 'CODE_GENDER'"));
}

TEST(Simulated, DefaultRatesAreThePublishedOnes) {
    const auto stream = load({.name = "simulated", .rows = 20000, .seed = 7}).value();
    expect_sound(stream);
    const std::map<std::string, std::pair<double, double>> expected{// default rate, share
                                                                    {"white", {0.241, 0.40}},
                                                                    {"black", {0.663, 0.25}},
                                                                    {"hispanic", {0.432, 0.20}},
                                                                    {"asian", {0.193, 0.15}}};
    std::map<std::string, std::pair<double, double>> counts;  // people, defaults
    for (const auto& a : stream.applicants) {
        auto& [people, defaults] = counts[a.protected_attributes.at("race")];
        people += 1;
        defaults += *a.label ? 0 : 1;
    }
    ASSERT_EQ(counts.size(), expected.size());
    for (const auto& [race, facts] : expected) {
        const auto [people, defaults] = counts[race];
        const auto [rate, share] = facts;
        EXPECT_NEAR(defaults / people, rate, 4 * std::sqrt(rate * (1 - rate) / people)) << race;
        EXPECT_NEAR(people / 20000, share, 4 * std::sqrt(share * (1 - share) / 20000)) << race;
    }
}

TEST(Simulated, TheSeedMakesThePopulationAndTheScoreSaysSomethingButNotAll) {
    const auto one = load({.name = "simulated", .rows = 4000, .seed = 1}).value();
    const auto same = load({.name = "simulated", .rows = 4000, .seed = 1}).value();
    const auto other = load({.name = "simulated", .rows = 4000, .seed = 2}).value();
    size_t equal_to_other = 0, good_high = 0, high = 0, good_low = 0, low = 0;
    for (size_t i = 0; i < 4000; ++i) {
        EXPECT_EQ(one.applicants[i].application, same.applicants[i].application);
        equal_to_other +=
            one.applicants[i].application.features == other.applicants[i].application.features;
        if (missing(one.applicants[i], "score")) continue;
        const bool is_high = number(one.applicants[i], "score") > 630;
        (is_high ? high : low) += 1;
        (is_high ? good_high : good_low) += *one.applicants[i].label ? 1 : 0;
    }
    EXPECT_EQ(equal_to_other, 0u);
    const double gain = static_cast<double>(good_high) / static_cast<double>(high) -
                        static_cast<double>(good_low) / static_cast<double>(low);
    EXPECT_GT(gain, 0.3);
    EXPECT_LT(gain, 0.8);
}

/// The product's file and the stream must speak of the same thing.
TEST(Products, EveryFileFitsItsStream) {
    Folder folder;
    folder.write("default_credit_card.csv", credit_file(100));
    folder.write("card_applications.csv", kCardHeader + card_row(1) + card_row(2, "F", -8000));
    folder.write(
        "card_monthly_status.csv",
        "ID,MONTHS_BALANCE,STATUS\n" + card_months(1, -30, "0") + card_months(2, -30, "0"));
    folder.write("sba_loans.csv", kSbaHeader + SbaRow{}.text() +
                                      SbaRow{.loan = "2", .new_exist = "1", .area = "1"}.text() +
                                      SbaRow{.loan = "3", .area = "2"}.text());
    for (const auto& name : stream_names()) {
        SCOPED_TRACE(name);
        const auto stream = load({.name = name, .data_dir = folder.path(), .rows = 2000}).value();
        auto root = config::parse_file(std::filesystem::path(test_support::source_dir()) /
                                       "ops/config/products" / (name + ".toml"))
                        .value();
        EXPECT_EQ(root.string("name"), name);
        auto label = root.table("label");
        EXPECT_EQ(label.string("name"), "repaid");
        EXPECT_EQ(label.integer("horizon_months", 1, 600), stream.horizon_months);
        EXPECT_EQ(base::Duration::days(label.integer("grace_days", 0, 3650)), stream.grace);
        auto impact = root.table("impact");
        EXPECT_FALSE(impact.string("units").empty());
        const double lo = impact.number("lo", -1e9, 1e9), hi = impact.number("hi", lo, 1e9);
        for (const char* key : {"favourable", "unfavourable", "declined"})
            impact.number(key, lo, hi);

        std::map<std::string, std::set<std::string>> declared, seen;
        for (auto& attribute : root.tables("attribute")) {
            const auto values = attribute.strings("values");
            declared[attribute.string("name")] = {values.begin(), values.end()};
        }
        for (const auto& applicant : stream.applicants) {
            for (const auto& [attribute, value] : applicant.protected_attributes)
                seen[attribute].insert(value);
        }
        EXPECT_EQ(declared, seen);

        auto bootstrap = root.table("bootstrap");
        const auto feature_at = stream.schema.find(bootstrap.string("feature"));
        ASSERT_TRUE(feature_at);
        EXPECT_EQ(stream.schema.features()[*feature_at].kind, dataset::FeatureKind::kNumeric);
        const auto points = bootstrap.number_rows("points");
        ASSERT_GE(points.size(), 2u);
        for (size_t i = 0; i < points.size(); ++i) {
            ASSERT_EQ(points[i].size(), 2u);
            EXPECT_TRUE(i == 0 || points[i][0] > points[i - 1][0]) << i;
            EXPECT_GE(points[i][1], 0.35);
            EXPECT_LE(points[i][1], 0.85);
        }
        bootstrap.number("missing", 0.35, 0.85);
        const auto finished = root.finish();
        EXPECT_TRUE(finished) << finished.error().message;
    }
}

}  // namespace
}  // namespace rampart::loan_stream
