#include "rampart/dataset/infer_schema.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <unordered_set>

#include "cell_memo.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/dataset/category_limit.hpp"
#include "rampart/dataset/csv.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {
namespace {

using base::Result;
namespace limits = base::limits;
using Texts = std::set<std::string, std::less<>>;

constexpr std::array<std::string_view, 7> kMissingAnywhere{"?",   "NA",   "N/A", "NaN",
                                                           "nan", "null", "NULL"};
constexpr std::array<std::string_view, 8> kMissingAmongNumbers{
    "-", ".", "None", "none", "Missing", "missing", "Unknown", "unknown"};
constexpr size_t kFewValues = 12;          // integer codes that may be categories
constexpr size_t kMaxTracked = 1'000'000;  // largest number of values whose repeats are counted
constexpr size_t kMostNumbers = 4096;      // different values that are kept of a column of numbers
constexpr size_t kMostBytes = 2 << 20;     // bytes of texts that are kept of a column
constexpr size_t kIdRows = 20;             // with fewer rows a column is never taken for an id
constexpr double kHardlyRepeats = 0.9;

template <size_t N>
bool is_in(const std::array<std::string_view, N>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Recognises "inf", "-Infinity", …: what programs write for 1/0.
bool is_infinity(std::string_view cell) {
    if (cell.starts_with('-') || cell.starts_with('+')) cell.remove_prefix(1);
    std::string lower(cell.substr(0, 9));
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower == "inf" || lower == "infinity";
}

/// Truncates to about 40 bytes, at a character boundary.
std::string shortened(std::string_view text) {
    constexpr size_t kShown = 40;
    if (text.size() <= kShown) return std::string(text);
    size_t end = 0;
    while (end < kShown) end += std::max<size_t>(base::utf8_length(text.substr(end)), 1);
    return std::string(text.substr(0, end)) + "…";
}

/// Statistics of a column from one pass.
class ColumnSummary {
  public:
    void add(std::string_view cell) {
        const Seen* known = seen_.find(cell);
        const Seen seen = known != nullptr ? *known : count_text(cell);
        ++rows_;
        if (seen.what == Seen::kMissing) ++missing_;
        if (seen.what == Seen::kDoubtful) ++doubtful_;
        if (seen.what == Seen::kInfinite) ++infinite_;
        if (seen.what != Seen::kValue && seen.what != Seen::kNumber) {
            if (known == nullptr) seen_.keep(cell, seen);
            return;
        }
        if (tracked_ < kMaxTracked) {
            ++tracked_;
            if (known == nullptr) different_.insert(std::hash<std::string_view>{}(cell));
        }
        if (seen.what == Seen::kNumber) add_number(seen.number);
        if (known == nullptr) seen_.keep(cell, seen);
    }

    bool numeric() const { return all_numbers_ && !values_.empty(); }
    const Texts& missing_words() const { return missing_words_; }
    const Texts& doubtful_words() const { return doubtful_words_; }
    /// Returns the values, sorted, without words for missing; some of them, if there are too many.
    const Texts& values() const { return values_; }
    /// Returns a number of values that the column exceeds; 0: values() has all of them.
    size_t kept_of_more() const { return kept_of_more_; }
    bool empty() const { return values_.empty() && doubtful_words_.empty(); }
    /// Returns whether all rows have one value. (One value in some rows and missing in others still
    /// separates the rows.)
    bool constant() const { return values_.size() + doubtful_words_.size() == 1 && !has_missing_; }
    double low() const { return low_; }  // minimum of the numbers
    double high() const { return high_; }
    bool anything_missing() const { return missing_ + doubtful_ + infinite_ > 0; }
    size_t rows() const { return rows_; }
    size_t infinite() const { return infinite_; }  // number of infinite cells
    const std::string& first_text() const { return first_text_; }
    bool has_few_codes() const { return numeric() && whole_ && values_.size() <= kFewValues; }
    bool is_almost_unique() const {
        return tracked_ >= kIdRows && static_cast<double>(different_.size()) >=
                                          kHardlyRepeats * static_cast<double>(tracked_);
    }
    bool row_number() const {
        return numeric() && whole_ && tracked_ >= kIdRows && (rising_ || falling_);
    }
    /// Returns the evidence for the column's kind.
    std::string evidence() const {
        const size_t empty = missing_ + (numeric() ? doubtful_ + infinite_ : 0);
        const double share = 100 * static_cast<double>(empty) / static_cast<double>(rows_);
        std::string out =
            numeric() ? fmt::format("numbers from {} to {}", number_text(low_), number_text(high_))
            : first_text_.empty() ? std::string("no numbers")
                                  : fmt::format("'{}' is not a number", first_text_);
        if (share >= 1) out += fmt::format("; {:.0f} % missing", share);
        if (share > 0 && share < 1) out += fmt::format("; {:.1g} % missing", share);
        if (numeric() && infinite_ > 0)
            out += fmt::format("; infinite in {} cell{}, read as missing", infinite_,
                               infinite_ == 1 ? "" : "s");
        return out;
    }

  private:
    struct Seen {
        enum What : uint8_t { kMissing, kDoubtful, kInfinite, kValue, kNumber } what = kMissing;
        double number = 0;
    };

    /// Counts a text that may be new.
    Seen count_text(std::string_view cell) {
        const auto number = parse_number(cell);  // words for missing are not numbers
        if (!number) {
            if (cell.empty() || is_in(kMissingAnywhere, cell)) {
                has_missing_ = true;
                if (!cell.empty()) missing_words_.emplace(cell);
                return {Seen::kMissing};
            }
            if (is_in(kMissingAmongNumbers, cell)) {
                doubtful_words_.emplace(cell);
                return {Seen::kDoubtful};
            }
            if (is_infinity(cell)) {
                doubtful_words_.emplace(cell);
                return {Seen::kInfinite};
            }
            if (all_numbers_) first_text_ = shortened(cell);
            all_numbers_ = false;
        }
        keep_value(cell);
        return number ? Seen{Seen::kNumber, *number} : Seen{Seen::kValue};
    }

    void keep_value(std::string_view cell) {
        const size_t most = all_numbers_ ? kMostNumbers : kMostCategories;
        if (values_.contains(cell)) return;
        if (values_.size() >= most || bytes_ > kMostBytes) {
            if (kept_of_more_ == 0) kept_of_more_ = values_.size();
            return;
        }
        values_.emplace(cell);
        bytes_ += cell.size();
    }

    void add_number(double number) {
        whole_ = whole_ && number == std::floor(number);
        low_ = any_number_ ? std::min(low_, number) : number;
        high_ = any_number_ ? std::max(high_, number) : number;
        if (any_number_) {
            rising_ = rising_ && number > last_;
            falling_ = falling_ && number < last_;
        }
        any_number_ = true;
        last_ = number;
    }

    bool all_numbers_ = true, whole_ = true, any_number_ = false, rising_ = true, falling_ = true;
    bool has_missing_ = false;
    double last_ = 0, low_ = 0, high_ = 0;
    size_t rows_ = 0, missing_ = 0, doubtful_ = 0, infinite_ = 0;
    std::string first_text_;
    Texts missing_words_, doubtful_words_, values_;
    size_t kept_of_more_ = 0, bytes_ = 0;
    size_t tracked_ = 0;
    std::unordered_set<size_t> different_;
    CellMemo<Seen> seen_{512};
};

bool is_id_name(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower.empty() || lower == "id" || lower == "uuid" || lower == "rownames" ||
           lower == "index" || lower.starts_with("id_") || lower.ends_with("_id") ||
           lower.ends_with("_no");
}

/// Returns whether a column of texts has more values than a feature may have, and they repeat.
bool has_too_many_categories(const ColumnSummary& summary) {
    return !summary.numeric() && !summary.is_almost_unique() && summary.kept_of_more() > 0;
}

std::string reason_to_ignore(std::string_view name, const ColumnSummary& summary) {
    if (name.empty()) return "has no name";
    if (summary.empty()) return "has no values";
    if (summary.constant()) return "has one value only";
    if (summary.row_number())
        return "whole numbers that only increase or only decrease: a row number or id";
    if (summary.is_almost_unique() && (!summary.numeric() || is_id_name(name))) {
        return "almost no value repeats: an id or free text";
    }
    if (has_too_many_categories(summary)) {
        return fmt::format("more than {} categories", summary.kept_of_more());
    }
    for (const auto& value : summary.values()) {
        if (!summary.numeric() && value.size() > limits::kMaxTextBytes) {
            return fmt::format("texts of more than {} bytes", limits::kMaxTextBytes);
        }
    }
    return {};
}

/// Returns the words for missing in this column: the unconditional ones, and the doubtful ones if
/// all other values are numbers.
Texts missing_tokens(const std::vector<ColumnSummary>& summaries) {
    Texts tokens;
    for (const auto& summary : summaries) {
        tokens.insert(summary.missing_words().begin(), summary.missing_words().end());
        if (!summary.numeric()) continue;
        tokens.insert(summary.doubtful_words().begin(), summary.doubtful_words().end());
    }
    return tokens;
}

FeatureSpec categorical(const std::string& name, const ColumnSummary& summary,
                        const Texts& missing) {
    Texts values = summary.values();
    values.insert(summary.doubtful_words().begin(), summary.doubtful_words().end());
    FeatureSpec spec{name, FeatureKind::kCategorical, {}};
    std::set<double> numbers;
    for (const auto& value : values) {
        const auto number = parse_number(value);
        if (missing.contains(value) || (number && !numbers.insert(*number).second)) continue;
        spec.categories.push_back(value);
    }
    return spec;
}

base::Status check_numeric_label(const ColumnRoles& roles, const ColumnSummary& summary) {
    if (!summary.numeric()) {
        return base::make_error(base::Reason::kBadLabel,
                                "label '{}' is not a column of numbers (it has '{}'); for a label "
                                "with two values name the favourable one with --label and "
                                "--favourable",
                                roles.label_column, summary.first_text());
    }
    if (summary.anything_missing()) {
        return base::make_error(base::Reason::kBadLabel,
                                "label '{}' is missing in some rows; leave rows without an "
                                "outcome out of the file",
                                roles.label_column);
    }
    if (summary.low() == summary.high()) {
        return base::make_error(Reason::kOneLabel,
                                "label '{}' is {} in every row: there is nothing to learn",
                                roles.label_column, summary.low());
    }
    if (!roles.label_range) return base::ok();
    const auto [lo, hi] = *roles.label_range;
    if (summary.low() >= lo && summary.high() <= hi) return base::ok();
    return base::make_error(Reason::kLabelOutsideRange,
                            "label '{}' goes from {} to {}, outside the range from {} to {}; "
                            "widen the range, or leave rows out",
                            roles.label_column, summary.low(), summary.high(), lo, hi);
}

base::Status check_label(const ColumnRoles& roles, const ColumnSummary& summary) {
    if (roles.numeric_label) return check_numeric_label(roles, summary);
    std::set<std::string> values;
    const auto canonical = [](std::string_view text) {
        const auto number = parse_number(text);
        return number ? number_text(*number) : std::string(text);
    };
    for (const auto& value : summary.values()) values.insert(canonical(value));
    values.insert(summary.doubtful_words().begin(), summary.doubtful_words().end());
    constexpr size_t kShown = 10;
    const std::vector<std::string> shown(
        values.begin(), std::next(values.begin(), std::min(values.size(), kShown)));
    if (values.size() != 2) {
        return base::make_error(base::Reason::kBadLabel,
                                "label '{}' has {}{} different values ({}{}); it must have "
                                "two",
                                roles.label_column, summary.kept_of_more() > 0 ? "over " : "",
                                values.size(), fmt::join(shown, ", "),
                                values.size() > kShown ? ", …" : "");
    }
    if (!values.contains(canonical(roles.favourable))) {
        return base::make_error(Reason::kNoFavourableLabel,
                                "label '{}' never has the favourable value '{}'; it "
                                "has {}",
                                roles.label_column, roles.favourable, fmt::join(shown, " and "));
    }
    return base::ok();
}

base::Status check_roles(const ColumnRoles& roles, const std::vector<std::string>& columns) {
    std::vector<std::string> named = roles.protected_columns;
    named.push_back(roles.label_column);
    if (roles.weight_column) named.push_back(*roles.weight_column);
    named.insert(named.end(), roles.ignored_columns.begin(), roles.ignored_columns.end());
    for (const auto& name : named) {
        if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
            return base::make_error(Reason::kMissingColumn,
                                    "the file has no column '{}'; it has {}", name,
                                    fmt::join(columns, ", "));
        }
    }
    return base::ok();
}

/// Sets the range of the label's numbers: as configured, or as observed.
void set_range(const ColumnRoles& roles, const ColumnSummary& summary, SchemaDraft& draft) {
    draft.schema.label_range =
        roles.label_range.value_or(NumericRange{summary.low(), summary.high()});
    auto& remark = draft.remarks[roles.label_column];
    remark = summary.evidence();
    if (!roles.label_range) remark += "; if others are possible, widen label_range to them";
}

std::string infinity_note(std::string_view name, const ColumnSummary& summary) {
    return fmt::format(
        "'{}' is infinite in {} of {} rows: these cells count as missing, here and "
        "in training; where they have to count as the greatest number, write one "
        "into the file",
        name, summary.infinite(), summary.rows());
}

/// Says that a column is lost which a person would expect among the features.
std::string many_categories_note(std::string_view name, const ColumnSummary& summary) {
    return fmt::format(
        "'{}' has more than {} categories and is left out: merge categories that are alike, split "
        "the column in two, or replace it by a column of numbers",
        name, summary.kept_of_more());
}

/// Sorts the columns without a role into features and ignored ones.
Result<SchemaDraft> draft_schema(const ColumnRoles& roles, const std::vector<std::string>& columns,
                                 const std::vector<ColumnSummary>& summaries,
                                 const ColumnSummary& label) {
    SchemaDraft draft;
    TableSchema& schema = draft.schema;
    schema.label_column = roles.label_column;
    schema.favourable = roles.favourable;
    if (roles.numeric_label) set_range(roles, label, draft);
    schema.protected_columns = roles.protected_columns;
    schema.weight_column = roles.weight_column;
    schema.ignored_columns = roles.ignored_columns;
    const Texts missing = missing_tokens(summaries);
    schema.missing_tokens.assign(missing.begin(), missing.end());
    Texts taken(roles.protected_columns.begin(), roles.protected_columns.end());
    taken.insert(roles.label_column);
    if (roles.weight_column) taken.insert(*roles.weight_column);
    taken.insert(roles.ignored_columns.begin(), roles.ignored_columns.end());

    std::vector<FeatureSpec> features;
    for (size_t i = 0; i < columns.size(); ++i) {
        const std::string& name = columns[i];
        if (taken.contains(name)) continue;
        if (const auto reason = reason_to_ignore(name, summaries[i]); !reason.empty()) {
            schema.ignored_columns.push_back(name);
            draft.remarks[name] = reason;
            if (has_too_many_categories(summaries[i]))
                draft.notes.push_back(many_categories_note(name, summaries[i]));
        } else if (summaries[i].numeric()) {
            features.push_back({name, FeatureKind::kNumeric, {}});
            draft.remarks[name] = summaries[i].evidence();
            if (summaries[i].infinite() > 0)
                draft.notes.push_back(infinity_note(name, summaries[i]));
            if (!summaries[i].has_few_codes()) continue;
            draft.remarks[name] += fmt::format(
                "; if these are codes without an order: kind = \"categorical\", categories = "
                "[\"{}\"]",
                fmt::join(summaries[i].values(), "\", \""));
        } else {
            features.push_back(categorical(name, summaries[i], missing));
            draft.remarks[name] = summaries[i].evidence();
            if (!features.back().categories.empty()) continue;
            features.pop_back();
            schema.ignored_columns.push_back(name);
            draft.remarks[name] = "has no values but words for missing";
        }
    }
    RAMPART_TRY(schema.features, FeatureSchema::create(std::move(features)));
    RAMPART_RETURN_IF_ERROR(validate(schema));
    return draft;
}

}  // namespace

Result<SchemaDraft> infer_schema(const std::filesystem::path& path, const ColumnRoles& roles) {
    RAMPART_TRY(auto csv, CsvReader::open(path));
    const std::string file = fmt::format("'{}'", path.string());
    const auto& columns = csv.columns();
    if (const auto known = check_roles(roles, columns); !known)
        return known.error().with_context(file);
    std::vector<ColumnSummary> summaries(columns.size());
    while (true) {
        RAMPART_TRY(const bool more, csv.next());
        if (!more) break;
        const auto cells = csv.cells();
        for (size_t i = 0; i < cells.size(); ++i) summaries[i].add(cells[i]);
    }
    const auto label = static_cast<size_t>(
        std::find(columns.begin(), columns.end(), roles.label_column) - columns.begin());
    if (const auto valid = check_label(roles, summaries[label]); !valid) {
        return valid.error().with_context(file);
    }
    auto draft = draft_schema(roles, columns, summaries, summaries[label]);
    if (!draft) return draft.error().with_context(file);
    return draft;
}

}  // namespace rampart::dataset
