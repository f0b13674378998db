#include "schema_warnings.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "rampart/base/random.hpp"

namespace rampart::dataset {
namespace {

constexpr size_t kFewCodes = 64;  // numbers with no more values may be codes without an order

struct Scored {
    double score;
    bool label;
};

/// Returns P(a row of label 1 scores higher) + P(equal) / 2. Requires both labels.
double auc_of(std::vector<Scored>& rows) {
    std::sort(rows.begin(), rows.end(),
              [](const auto& a, const auto& b) { return a.score < b.score; });
    double pairs = 0, below = 0, ones = 0;
    for (size_t i = 0; i < rows.size();) {
        double zeros_here = 0, ones_here = 0;
        size_t end = i;
        for (; end < rows.size() && rows[end].score == rows[i].score; ++end)
            (rows[end].label ? ones_here : zeros_here) += 1;
        pairs += ones_here * (below + zeros_here / 2);
        below += zeros_here;
        ones += ones_here;
        i = end;
    }
    return pairs / (ones * below);
}

/// Takes missing cells as the least number, and as the greatest.
double of_numbers(const RowSample& sample, size_t column) {
    double best = 0;
    bool any_missing = false;
    for (const double end : {-1.0, 1.0}) {
        std::vector<Scored> rows;
        for (size_t i = 0; i < sample.rows(); ++i) {
            const auto label = sample.label(i);
            const double x = sample.cell(i, column).number;
            any_missing = any_missing || std::isnan(x);
            const double missing_as = end * std::numeric_limits<double>::infinity();
            if (label) rows.push_back({std::isnan(x) ? missing_as : x, *label});
        }
        const double auc = auc_of(rows);
        best = std::max({best, auc, 1 - auc});
        if (!any_missing) break;
    }
    return best;
}

/// Returns the half, 0 or 1, that each row of the sample is in. Halves have as many rows of a
/// label, and do not go by the order of the file, in which labels or values may alternate.
std::vector<uint8_t> halves_of(const RowSample& sample) {
    std::vector<uint8_t> halves(sample.rows());
    std::array<uint64_t, 2> seen{};  // rows by label
    for (size_t i = 0; i < sample.rows(); ++i)
        if (const auto label = sample.label(i)) {
            const uint64_t number = seen[*label]++;
            halves[i] = static_cast<uint8_t>((number ^ base::mix64(number / 2 * 2 + *label)) & 1);
        }
    return halves;
}

/// Scores each half of the sample by the rates of the other.
double of_codes(const RowSample& sample, size_t column, const std::vector<uint8_t>& halves) {
    struct Rate {
        double ones = 0, rows = 0;
    };
    std::array<std::unordered_map<uint64_t, Rate>, 2> rates;
    std::array<Rate, 2> all;
    for (size_t i = 0; i < sample.rows(); ++i) {
        const auto label = sample.label(i);
        if (!label) continue;
        for (auto* rate : {&rates[halves[i]][sample.cell(i, column).text], &all[halves[i]]})
            rate->ones += *label, rate->rows += 1;
    }
    double sum = 0;
    for (size_t half = 0; half < 2; ++half) {
        const Rate& other = all[1 - half];
        const double prior = other.ones / std::max(other.rows, 1.0);
        std::vector<Scored> rows;
        for (size_t i = 0; i < sample.rows(); ++i) {
            const auto label = sample.label(i);
            if (!label || halves[i] != half) continue;
            const auto found = rates[1 - half].find(sample.cell(i, column).text);
            const Rate rate = found == rates[1 - half].end() ? Rate{} : found->second;
            rows.push_back({(rate.ones + prior) / (rate.rows + 1), *label});
        }
        sum += auc_of(rows);
    }
    return sum / 2;
}

/// Returns whether each half of the sample has enough rows of each label.
bool has_enough(const RowSample& sample, const std::vector<uint8_t>& halves) {
    std::array<std::array<size_t, 2>, 2> rows{};
    for (size_t i = 0; i < sample.rows(); ++i)
        if (const auto label = sample.label(i)) ++rows[halves[i]][*label];
    for (const auto& half : rows)
        for (const size_t n : half)
            if (n < kFewestOfALabel / 2) return false;
    return true;
}

/// Splits "customerName" and "date_of birth" into lower-case words.
std::set<std::string, std::less<>> words_of(std::string_view name) {
    std::set<std::string, std::less<>> words;
    std::string word;
    bool lower_before = false;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        const bool upper = std::isupper(byte) != 0;
        if (std::isalnum(byte) == 0 || (upper && lower_before)) {
            if (!word.empty()) words.insert(word);
            word.clear();
        }
        if (std::isalnum(byte) != 0) word += static_cast<char>(std::tolower(byte));
        lower_before = std::islower(byte) != 0;
    }
    if (!word.empty()) words.insert(word);
    return words;
}

template <size_t N>
bool has_one(const std::set<std::string, std::less<>>& words,
             const std::array<std::string_view, N>& list) {
    return std::any_of(list.begin(), list.end(), [&](auto word) { return words.contains(word); });
}

/// Rounds to two digits that count.
double rounded(double x) {
    if (x == 0) return 0;
    const double step = std::pow(10.0, std::floor(std::log10(std::abs(x))) - 1);
    return step >= 1 ? std::round(x / step) * step : std::round(x / step) / std::round(1 / step);
}

}  // namespace

std::optional<double> auc_alone(const RowSample& sample, size_t column, bool numeric) {
    const auto halves = halves_of(sample);
    if (!has_enough(sample, halves)) return std::nullopt;
    double best = numeric ? of_numbers(sample, column) : 0.5;
    std::set<uint64_t> values;
    for (size_t i = 0; i < sample.rows() && values.size() <= kFewCodes; ++i)
        values.insert(sample.cell(i, column).text);
    if (!numeric || values.size() <= kFewCodes)
        best = std::max(best, of_codes(sample, column, halves));
    return best;
}

std::string personal_by_name(std::string_view name) {
    constexpr std::array<std::string_view, 24> kPersonal{
        "firstname", "lastname", "fullname",  "surname", "forename",  "email",
        "mail",      "phone",    "telephone", "mobile",  "ssn",       "iban",
        "passport",  "address",  "street",    "birth",   "birthday",  "birthdate",
        "dob",       "vorname",  "nachname",  "telefon", "anschrift", "geburtsdatum"};
    constexpr std::array<std::string_view, 9> kWhose{
        "first", "last", "full", "given", "family", "customer", "applicant", "borrower", "person"};
    constexpr std::array<std::string_view, 9> kProtected{"sex",         "gender",     "race",
                                                         "ethnicity",   "ethnic",     "religion",
                                                         "nationality", "disability", "pregnant"};
    const auto words = words_of(name);
    if (has_one(words, kProtected))
        return "is called like a protected characteristic: name it with --protected, or list it "
               "under `ignored`";
    const bool named = words.contains("name") && (words.size() == 1 || has_one(words, kWhose));
    if (named || has_one(words, kPersonal))
        return "is called like personal data: list it under `ignored`, unless it may and should "
               "decide";
    return {};
}

std::vector<double> propose_bands(const RowSample& sample, size_t column, std::string_view name) {
    std::vector<double> numbers;
    for (size_t i = 0; i < sample.rows(); ++i)
        if (const double x = sample.cell(i, column).number; !std::isnan(x)) numbers.push_back(x);
    if (numbers.empty()) return {};
    std::sort(numbers.begin(), numbers.end());
    const double low = numbers.front(), high = numbers.back();
    constexpr double kOldest = 130;
    std::vector<double> wanted{25, 45, 65};
    if (!words_of(name).contains("age") || low < 0 || high > kOldest) {
        wanted.clear();
        for (const size_t quarter : {1, 2, 3})
            wanted.push_back(rounded(numbers[quarter * (numbers.size() - 1) / 4]));
    }
    std::vector<double> bands;
    for (const double bound : wanted)
        if (bound > low && bound <= high && (bands.empty() || bound > bands.back()))
            bands.push_back(bound);
    return bands;
}

}  // namespace rampart::dataset
