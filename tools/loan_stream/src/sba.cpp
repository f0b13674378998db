// Loans guaranteed by the US Small Business Administration: approvals 1997-01-01 to 2006-02-24, the
// status recorded to 2014.
//
// Label 0 iff the loan was charged off within 60 months of its approval: by ChgOffDate, even if
// MIS_Status differs (194 rows are "P I F" with a charge-off date). The one CHGOFF row without a
// date counts as charged off in the last month of the horizon: half of all charge-offs are earlier,
// and a wrong 0 is the conservative error. Rows without a status are dropped (106), and all before
// 1997 (rows of 1980 and 1981 are in the file because they were charged off).
//
// Omitted because they are known only afterwards: Term (rewritten when a loan ends: label
// leakage), ChgOffDate, ChgOffPrinGr, MIS_Status, DisbursementDate and DisbursementGross (paid
// out after the decision, and more than once for credit lines). Omitted as names: City, Zip,
// Bank. NewExist and UrbanRural serve as protected attributes and are not features. FranchiseCode
// 0 and 1 both mean none.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>

#include "source_file.hpp"
#include "sources.hpp"

namespace rampart::loan_stream {
namespace {

constexpr int kHorizon = 60;
constexpr int kFirstYear = 1997;

const std::vector<std::string_view>& columns() {
    static const std::vector<std::string_view> names{
        "LoanNr_ChkDgt", "ApprovalDate", "ChgOffDate",  "MIS_Status",    "NewExist",  "UrbanRural",
        "NAICS",         "State",        "BankState",   "FranchiseCode", "RevLineCr", "LowDoc",
        "NoEmp",         "CreateJob",    "RetainedJob", "GrAppv",        "SBA_Appv"};
    return names;
}
enum Column : size_t {
    kLoan,
    kApproved,
    kChargedOff,
    kStatus,
    kNewExist,
    kUrbanRural,
    kNaics,
    kState,
    kBankState,
    kFranchise,
    kRevLine,
    kLowDoc,
    kEmployees,
    kCreated,
    kRetained,
    kAmount,
    kGuaranteed
};

base::Result<dataset::FeatureSchema> schema() {
    using enum dataset::FeatureKind;
    return dataset::FeatureSchema::create({
        {"NaicsSector", kCategorical, {"11", "21", "22", "23", "31", "32", "33", "42",
                                       "44", "45", "48", "49", "51", "52", "53", "54",
                                       "55", "56", "61", "62", "71", "72", "81", "92"}},
        {"State", kCategorical, {"AK", "AL", "AR", "AZ", "CA", "CO", "CT", "DC", "DE", "FL", "GA",
                                 "HI", "IA", "ID", "IL", "IN", "KS", "KY", "LA", "MA", "MD", "ME",
                                 "MI", "MN", "MO", "MS", "MT", "NC", "ND", "NE", "NH", "NJ", "NM",
                                 "NV", "NY", "OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX",
                                 "UT", "VA", "VT", "WA", "WI", "WV", "WY"}},
        {"RevLineCr", kCategorical, {"N", "Y", "0", "T"}},
        {"LowDoc", kCategorical, {"N", "Y"}},
        {"GrAppv", kNumeric, {}},
        {"GuaranteedShare", kNumeric, {}},
        {"NoEmp", kNumeric, {}},
        {"CreateJob", kNumeric, {}},
        {"RetainedJob", kNumeric, {}},
        {"Franchise", kNumeric, {}},
        {"BankInState", kNumeric, {}},
    });
}

base::Result<base::TimePoint> make_date(int year, int month, int day) {
    return base::parse_iso8601(fmt::format("{:04}-{:02}-{:02}", year, month, day));
}

/// Parses "2/28/1997".
base::Result<base::TimePoint> approval_date(const SourceFile& file) {
    const auto cell = file.cell(kApproved);
    std::array<int, 3> parts{};
    const char* at = cell.data();
    const char* const end = cell.data() + cell.size();
    for (size_t i = 0; i < parts.size(); ++i) {
        const auto [rest, error] = std::from_chars(at, end, parts[i]);
        const bool separated = i + 1 == parts.size() ? rest == end : rest != end && *rest == '/';
        if (error != std::errc() || !separated)
            return file.bad_cell(kApproved, "a date like 2/28/1997");
        at = rest == end ? end : rest + 1;
    }
    auto date = make_date(parts[2], parts[0], parts[1]);
    if (!date) return file.bad_cell(kApproved, "a date like 2/28/1997");
    return date;
}

/// Parses "18-Apr-02"; the record ends in 2014, so 70 to 99 are of the last century.
base::Result<base::TimePoint> charge_off_date(const SourceFile& file) {
    static constexpr std::array<std::string_view, 12> kMonths{
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto cell = file.cell(kChargedOff);
    const auto bad = [&] { return file.bad_cell(kChargedOff, "a date like 18-Apr-02"); };
    const size_t dash = cell.find('-');
    if (dash == std::string_view::npos || cell.size() != dash + 7 || cell[dash + 4] != '-')
        return bad();
    int day = 0, year = 0;
    const auto month = std::find(kMonths.begin(), kMonths.end(), cell.substr(dash + 1, 3));
    const auto day_end = std::from_chars(cell.data(), cell.data() + dash, day);
    const auto year_end = std::from_chars(cell.data() + dash + 5, cell.data() + cell.size(), year);
    if (month == kMonths.end() || day_end.ptr != cell.data() + dash || year < 0 ||
        year_end.ptr != cell.data() + cell.size()) {
        return bad();
    }
    auto date = make_date(year + (year >= 70 ? 1900 : 2000),
                          static_cast<int>(month - kMonths.begin()) + 1, day);
    if (!date) return bad();
    return date;
}

/// Passes on a code outside the schema's list (unseen is missing); an empty code is missing.
domain::FeatureValue category(std::string_view cell) {
    if (cell.empty()) return {};
    return std::string(cell);
}

base::Result<std::vector<domain::Feature>> features_of(const SourceFile& file) {
    RAMPART_TRY(const double amount, file.number(kAmount));
    RAMPART_TRY(const double guaranteed, file.number(kGuaranteed));
    RAMPART_TRY(const double employees, file.number(kEmployees));
    RAMPART_TRY(const double created, file.number(kCreated));
    RAMPART_TRY(const double retained, file.number(kRetained));
    RAMPART_TRY(const double franchise, file.number(kFranchise));
    if (!(amount > 0)) return file.bad_cell(kAmount, "an amount above 0");
    const auto naics = file.cell(kNaics);
    return std::vector<domain::Feature>{
        {"NaicsSector", naics.size() < 2 ? domain::FeatureValue{} : category(naics.substr(0, 2))},
        {"State", category(file.cell(kState))},
        {"RevLineCr", category(file.cell(kRevLine))},
        {"LowDoc", category(file.cell(kLowDoc))},
        {"GrAppv", amount},
        {"GuaranteedShare", guaranteed / amount},
        {"NoEmp", employees},
        {"CreateJob", created},
        {"RetainedJob", retained},
        {"Franchise", franchise > 1 ? 1.0 : 0.0},
        {"BankInState", file.cell(kBankState) == file.cell(kState) ? 1.0 : 0.0},
    };
}

base::Result<std::map<std::string, std::string>> protected_of(const SourceFile& file) {
    static constexpr std::array<const char*, 3> kAreas{"undefined", "urban", "rural"};
    RAMPART_TRY(const auto business, file.integer(kNewExist, 0, 2));
    RAMPART_TRY(const auto area, file.integer(kUrbanRural, 0, 2));
    std::map<std::string, std::string> values{{"area", kAreas[static_cast<size_t>(area)]}};
    if (business != 0) values["business"] = business == 1 ? "existing" : "new";  // 0: not known
    return values;
}

/// Returns a loan with the day of approval as its time and, if it was charged off, that day as
/// observed_at; otherwise observed_at stays 0.
base::Result<Draft> read_row(const SourceFile& file, base::TimePoint approved) {
    const auto loan = file.cell(kLoan);
    if (!domain::check_id("loan number", loan)) return file.bad_cell(kLoan, "a loan number");
    Draft draft;
    auto& application = draft.applicant.application;
    application.id = domain::ApplicationId(fmt::format("sba-{}", loan));
    application.person = domain::PersonId(std::string(loan));
    application.event_time = approved;
    RAMPART_TRY(application.features, features_of(file));
    RAMPART_TRY(draft.applicant.protected_attributes, protected_of(file));
    if (!file.cell(kChargedOff).empty()) {
        RAMPART_TRY(draft.observed_at, charge_off_date(file));
        if (draft.observed_at < approved) return file.bad_cell(kChargedOff, "after the approval");
    } else if (file.cell(kStatus) == "CHGOFF") {
        draft.observed_at = base::add_months(approved, kHorizon) - base::Duration::days(30);
    }
    return draft;
}

/// Spreads the loans of a day over it in file order; then sets label and report from the times.
void set_times(std::vector<Draft>& drafts) {
    std::map<base::TimePoint, size_t> a_day, used;
    for (const auto& draft : drafts) ++a_day[draft.applicant.application.event_time];
    for (auto& draft : drafts) {
        auto& time = draft.applicant.application.event_time;
        const auto day = time;
        time = spread(day, day + base::Duration::days(1), used[day]++, a_day[day]);
        const auto horizon = base::add_months(time, kHorizon);
        const bool ever = draft.observed_at != base::TimePoint();
        const bool charged_off = ever && draft.observed_at < horizon;
        draft.applicant.label = !charged_off;
        if (!charged_off) draft.observed_at = horizon;
        draft.observed_at = std::max(draft.observed_at, day + base::Duration::days(1));
    }
}

}  // namespace

base::Result<Source> read_sba(const StreamOptions& options) {
    Source source{.name = "sba",
                  .schema = {},
                  .horizon_months = kHorizon,
                  .grace = base::Duration::days(60),
                  .drafts = {}};
    RAMPART_TRY(source.schema, schema());
    RAMPART_TRY(const auto first, make_date(kFirstYear, 1, 1));
    RAMPART_TRY(auto file, SourceFile::open(options.data_dir, "sba_loans", source.name, columns()));
    while (true) {
        RAMPART_TRY(const bool more, file.next());
        if (!more) break;
        const auto status = file.cell(kStatus);
        if (status != "" && status != "P I F" && status != "CHGOFF") {
            return file.bad_cell(kStatus, "'P I F', 'CHGOFF' or empty");
        }
        RAMPART_TRY(const auto approved, approval_date(file));
        if (status.empty() || approved < first) continue;
        RAMPART_TRY(auto draft, read_row(file, approved));
        source.drafts.push_back(std::move(draft));
    }
    set_times(source.drafts);
    return source;
}

}  // namespace rampart::loan_stream
