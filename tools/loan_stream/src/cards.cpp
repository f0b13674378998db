// Credit card accounts with their monthly status ("Credit Card Approval Prediction").
//
// An account is opened in the month of its smallest MONTHS_BALANCE; month 0 is December 2020.
// Its application is decided in that month; the files contain no day, so the accounts of a
// month are spread over it in file order. Label 0 iff a status 1 to 5 (30 or more days late)
// occurs in its first 12 months; reported at the end of that month. Label 1 is reported at 12
// months. An account opened less than 12 months before the files end has no label, because its
// first year is not over. One that was closed within the year and never late keeps label 1:
// its record is complete.
//
// 36,457 of the 438,557 applications have a monthly status; the others were never booked and are
// omitted. Only 9,728 of the accounts differ in any column but ID: the profile, not the ID,
// identifies the person. CODE_GENDER and DAYS_BIRTH are protected, not features; FLAG_MOBIL is
// constant.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>

#include "rampart/base/digest.hpp"
#include "source_file.hpp"
#include "sources.hpp"

namespace rampart::loan_stream {
namespace {

constexpr int kHorizon = 12;
constexpr int kFirstMonth = -60;          // in the files; the last is month 0
constexpr int64_t kNotEmployed = 365243;  // in DAYS_EMPLOYED

const std::vector<std::string_view>& columns() {
    static const std::vector<std::string_view> names{"ID",
                                                     "CODE_GENDER",
                                                     "DAYS_BIRTH",
                                                     "DAYS_EMPLOYED",
                                                     "FLAG_MOBIL",
                                                     "FLAG_OWN_CAR",
                                                     "FLAG_OWN_REALTY",
                                                     "NAME_INCOME_TYPE",
                                                     "NAME_EDUCATION_TYPE",
                                                     "NAME_FAMILY_STATUS",
                                                     "NAME_HOUSING_TYPE",
                                                     "OCCUPATION_TYPE",
                                                     "CNT_CHILDREN",
                                                     "CNT_FAM_MEMBERS",
                                                     "AMT_INCOME_TOTAL",
                                                     "FLAG_WORK_PHONE",
                                                     "FLAG_PHONE",
                                                     "FLAG_EMAIL"};
    return names;
}
enum Column : size_t {
    kId,
    kGender,
    kBirth,
    kEmployed,
    kMobile,
    kFirstCategory,
    kFirstNumber = kFirstCategory + 7
};

base::Result<dataset::FeatureSchema> schema() {
    using enum dataset::FeatureKind;
    return dataset::FeatureSchema::create({
        {"FLAG_OWN_CAR", kCategorical, {"N", "Y"}},
        {"FLAG_OWN_REALTY", kCategorical, {"N", "Y"}},
        {"NAME_INCOME_TYPE",
         kCategorical,
         {"Working", "Commercial associate", "Pensioner", "State servant", "Student"}},
        {"NAME_EDUCATION_TYPE",
         kCategorical,
         {"Lower secondary", "Secondary / secondary special", "Incomplete higher",
          "Higher education", "Academic degree"}},
        {"NAME_FAMILY_STATUS",
         kCategorical,
         {"Married", "Single / not married", "Civil marriage", "Separated", "Widow"}},
        {"NAME_HOUSING_TYPE",
         kCategorical,
         {"House / apartment", "With parents", "Municipal apartment", "Rented apartment",
          "Office apartment", "Co-op apartment"}},
        {"OCCUPATION_TYPE",
         kCategorical,
         {"Laborers", "Core staff", "Sales staff", "Managers", "Drivers", "High skill tech staff",
          "Accountants", "Medicine staff", "Cooking staff", "Security staff", "Cleaning staff",
          "Private service staff", "Low-skill Laborers", "Secretaries", "Waiters/barmen staff",
          "Realty agents", "HR staff", "IT staff"}},
        {"CNT_CHILDREN", kNumeric, {}},
        {"CNT_FAM_MEMBERS", kNumeric, {}},
        {"AMT_INCOME_TOTAL", kNumeric, {}},
        {"FLAG_WORK_PHONE", kNumeric, {}},
        {"FLAG_PHONE", kNumeric, {}},
        {"FLAG_EMAIL", kNumeric, {}},
        {"DAYS_EMPLOYED", kNumeric, {}},
    });
}

/// Months as in the files: 0 is the last, -60 the first.
struct Account {
    int opened = 1;
    int first_late = 1;  // 1: never

    bool late_in_first_year() const { return first_late <= 0 && first_late < opened + kHorizon; }
    bool first_year_seen() const { return opened + kHorizon <= 1; }
};
using Accounts = std::unordered_map<int64_t, Account>;

base::Result<Accounts> read_accounts(const StreamOptions& options) {
    enum StatusColumn : size_t { kAccount, kMonth, kState };
    RAMPART_TRY(auto file, SourceFile::open(options.data_dir, "card_monthly_status", "cards",
                                            {"ID", "MONTHS_BALANCE", "STATUS"}));
    Accounts accounts;
    while (true) {
        RAMPART_TRY(const bool more, file.next());
        if (!more) return accounts;
        RAMPART_TRY(const auto id, file.integer(kAccount, 0, 1'000'000'000));
        RAMPART_TRY(const auto month, file.integer(kMonth, kFirstMonth, 0));
        const auto status = file.cell(kState);
        if (status.size() != 1 ||
            std::string_view("XC012345").find(status) == std::string_view::npos) {
            return file.bad_cell(kState, "one of X, C and 0 to 5");
        }
        auto& account = accounts[id];
        account.opened = std::min(account.opened, static_cast<int>(month));
        if (status[0] >= '1' && status[0] <= '5') {
            account.first_late = std::min(account.first_late, static_cast<int>(month));
        }
    }
}

base::Result<std::vector<domain::Feature>> features_of(const SourceFile& file) {
    std::vector<domain::Feature> features;
    for (size_t c = kFirstCategory; c < kFirstNumber; ++c) {
        const auto cell = file.cell(c);
        features.push_back(
            {std::string(columns()[c]), cell.empty() ? domain::FeatureValue{} : std::string(cell)});
    }
    for (size_t c = kFirstNumber; c < columns().size(); ++c) {
        RAMPART_TRY(const double value, file.number(c));
        features.push_back({std::string(columns()[c]), value});
    }
    RAMPART_TRY(const auto employed, file.integer(kEmployed, -100'000, kNotEmployed));
    features.push_back({"DAYS_EMPLOYED", employed == kNotEmployed ? domain::FeatureValue{}
                                                                  : static_cast<double>(employed)});
    return features;
}

/// Identifies the person by every column except the ID.
domain::PersonId person_of(const SourceFile& file) {
    base::Sha256 digest;
    for (size_t c = kGender; c < columns().size(); ++c) digest.update_field(file.cell(c));
    return domain::PersonId("p" + digest.finish().hex().substr(0, 31));
}

base::Result<Draft> read_row(const SourceFile& file, int64_t id, const Account& account) {
    const auto gender = file.cell(kGender);
    if (gender != "M" && gender != "F") return file.bad_cell(kGender, "M or F");
    RAMPART_TRY(const auto birth, file.integer(kBirth, -45'000, -3'650));
    Draft draft;
    auto& application = draft.applicant.application;
    application.id = domain::ApplicationId(fmt::format("card-{}", id));
    application.person = person_of(file);
    RAMPART_TRY(application.features, features_of(file));
    // 30 years of 365.25 days
    draft.applicant.protected_attributes = {{"sex", gender == "M" ? "male" : "female"},
                                            {"age", birth > -10'957 ? "under_30" : "30_and_over"}};
    if (account.first_year_seen()) draft.applicant.label = !account.late_in_first_year();
    return draft;
}

/// Spreads the accounts of a month over it, and sets the time of the report.
base::Status set_times(std::vector<Draft>& drafts, const std::vector<Account>& accounts) {
    RAMPART_TRY(const auto last_month, base::parse_iso8601("2020-12-01"));
    std::map<int, size_t> a_month, used;
    for (const auto& account : accounts) ++a_month[account.opened];
    for (size_t i = 0; i < drafts.size(); ++i) {
        const auto& account = accounts[i];
        const auto month = base::add_months(last_month, account.opened);
        auto& time = drafts[i].applicant.application.event_time;
        time = spread(month, base::add_months(month, 1), used[account.opened]++,
                      a_month[account.opened]);
        drafts[i].observed_at = account.late_in_first_year()
                                    ? base::add_months(last_month, account.first_late + 1)
                                    : base::add_months(time, kHorizon);
    }
    return base::ok();
}

}  // namespace

base::Result<Source> read_cards(const StreamOptions& options) {
    Source source{.name = "cards",
                  .schema = {},
                  .horizon_months = kHorizon,
                  .grace = base::Duration::days(30),
                  .drafts = {}};
    RAMPART_TRY(source.schema, schema());
    RAMPART_TRY(const auto accounts, read_accounts(options));
    RAMPART_TRY(auto file,
                SourceFile::open(options.data_dir, "card_applications", source.name, columns()));
    std::vector<Account> of_drafts;
    while (true) {
        RAMPART_TRY(const bool more, file.next());
        if (!more) break;
        RAMPART_TRY(const auto id, file.integer(kId, 0, 1'000'000'000));
        const auto account = accounts.find(id);
        if (account == accounts.end()) continue;
        RAMPART_TRY(auto draft, read_row(file, id, account->second));
        source.drafts.push_back(std::move(draft));
        of_drafts.push_back(account->second);
    }
    RAMPART_RETURN_IF_ERROR(set_times(source.drafts, of_drafts));
    return source;
}

}  // namespace rampart::loan_stream
