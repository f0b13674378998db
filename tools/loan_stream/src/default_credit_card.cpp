// Default of credit card clients (UCI, I-Cheng Yeh 2009): 30,000 clients of a bank in Taiwan, 2005.
//
// The file has no dates: file order becomes event time, 24 months from 2022-01-01. Features are all
// columns except the label and SEX and AGE, which are protected. EDUCATION and MARRIAGE are codes,
// some of them undocumented (0, 5, 6): categories. PAY_* are ordered (months of delay, -2 to 8):
// numbers. 35 rows are exact copies of others; there is no evidence that they are the same person,
// so each row is a person.
#include <array>
#include <string>

#include "source_file.hpp"
#include "sources.hpp"

namespace rampart::loan_stream {
namespace {

constexpr int kMonths = 24;  // months of event time
constexpr int kHorizon = 6;  // months until the outcome is known

const std::vector<std::string_view>& columns() {
    static const std::vector<std::string_view> names{
        "SEX",       "AGE",       "default payment", "EDUCATION", "MARRIAGE",  "LIMIT_BAL",
        "PAY_0",     "PAY_2",     "PAY_3",           "PAY_4",     "PAY_5",     "PAY_6",
        "BILL_AMT1", "BILL_AMT2", "BILL_AMT3",       "BILL_AMT4", "BILL_AMT5", "BILL_AMT6",
        "PAY_AMT1",  "PAY_AMT2",  "PAY_AMT3",        "PAY_AMT4",  "PAY_AMT5",  "PAY_AMT6"};
    return names;
}
enum Column : size_t { kSex, kAge, kDefault, kEducation, kMarriage, kFirstNumber };

base::Result<dataset::FeatureSchema> schema() {
    std::vector<dataset::FeatureSpec> specs{
        {"EDUCATION", dataset::FeatureKind::kCategorical, {"0", "1", "2", "3", "4", "5", "6"}},
        {"MARRIAGE", dataset::FeatureKind::kCategorical, {"0", "1", "2", "3"}}};
    for (size_t c = kFirstNumber; c < columns().size(); ++c) {
        specs.push_back({std::string(columns()[c]), dataset::FeatureKind::kNumeric, {}});
    }
    return dataset::FeatureSchema::create(std::move(specs));
}

base::Result<Draft> read_row(const SourceFile& file, size_t row) {
    RAMPART_TRY(const auto sex, file.integer(kSex, 1, 2));
    RAMPART_TRY(const auto age, file.integer(kAge, 15, 120));
    RAMPART_TRY(const auto defaulted, file.integer(kDefault, 0, 1));
    RAMPART_TRY(const auto education, file.integer(kEducation, 0, 6));
    RAMPART_TRY(const auto marriage, file.integer(kMarriage, 0, 3));

    Draft draft;
    auto& application = draft.applicant.application;
    application.id = domain::ApplicationId(fmt::format("dcc-{}", row));
    application.person = domain::PersonId(fmt::format("c{}", row));
    application.features = {{"EDUCATION", std::to_string(education)},
                            {"MARRIAGE", std::to_string(marriage)}};
    for (size_t c = kFirstNumber; c < columns().size(); ++c) {
        RAMPART_TRY(const double value, file.number(c));
        application.features.push_back({std::string(columns()[c]), value});
    }
    draft.applicant.protected_attributes = {{"sex", sex == 1 ? "male" : "female"},
                                            {"age", age < 30 ? "under_30" : "30_and_over"}};
    draft.applicant.label = defaulted == 0;
    return draft;
}

}  // namespace

base::Result<Source> read_default_credit_card(const StreamOptions& options) {
    Source source{.name = "default-credit-card",
                  .schema = {},
                  .horizon_months = kHorizon,
                  .grace = base::Duration::days(30),
                  .early_days = 10,
                  .late_days = 20,
                  .drafts = {}};
    RAMPART_TRY(source.schema, schema());
    RAMPART_TRY(auto file,
                SourceFile::open(options.data_dir, "default_credit_card", source.name, columns()));
    while (true) {
        RAMPART_TRY(const bool more, file.next());
        if (!more) break;
        RAMPART_TRY(auto draft, read_row(file, source.drafts.size() + 1));
        source.drafts.push_back(std::move(draft));
    }
    RAMPART_TRY(const auto start, base::parse_iso8601("2022-01-01"));
    const auto stop = base::add_months(start, kMonths);
    for (size_t i = 0; i < source.drafts.size(); ++i) {
        auto& draft = source.drafts[i];
        draft.applicant.application.event_time = spread(start, stop, i, source.drafts.size());
        draft.observed_at = base::add_months(draft.applicant.application.event_time, kHorizon);
    }
    return source;
}

}  // namespace rampart::loan_stream
