#include "rampart/dataset/infer_schema.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "cell_memo.hpp"
#include "column_summary.hpp"
#include "label_reader.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/csv.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"
#include "row_sample.hpp"
#include "schema_warnings.hpp"

namespace rampart::dataset {
namespace {

using base::Result;
constexpr double kLeaks = 0.98;        // an AUC of one feature above it is too good
constexpr size_t kFewGroupValues = 8;  // a protected column with no more is not pooled

bool is_id_name(std::string_view name) {
    std::string lower(name);
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower.empty() || lower == "id" || lower == "uuid" || lower == "rownames" ||
           lower == "index" || lower.starts_with("id_") || lower.ends_with("_id") ||
           lower.ends_with("_no");
}

/// Returns whether a column of texts has more values than a feature may have, and they repeat.
bool has_too_many_categories(const ColumnSummary& summary) {
    // words like "none" are categories of a column of texts, too
    const bool more = summary.values().size() + summary.doubtful_words().size() > kMostCategories;
    return !summary.numeric() && !summary.is_almost_unique() &&
           (more || summary.kept_of_more() > 0);
}

/// Returns how many of too many categories are known.
size_t kept_of(const ColumnSummary& summary) {
    return summary.kept_of_more() > 0 ? summary.kept_of_more() : kMostCategories;
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
        return fmt::format("more than {} categories", kept_of(summary));
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

base::Status check_roles(const ColumnRoles& roles, const std::string& label,
                         const std::vector<std::string>& columns) {
    std::vector<std::string> named = roles.protected_columns;
    named.push_back(label);
    if (roles.weight_column) named.push_back(*roles.weight_column);
    named.insert(named.end(), roles.ignored_columns.begin(), roles.ignored_columns.end());
    for (const auto& name : named) {
        if (std::find(columns.begin(), columns.end(), name) == columns.end()) {
            return base::make_error(Reason::kMissingColumn,
                                    "the file has no column '{}'; it has {}{}", name,
                                    fmt::join(columns, ", "), name == label ? hint(label) : "");
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
        name, kept_of(summary));
}

/// What the pass over the file has found.
struct Table {
    std::vector<std::string> columns;
    std::vector<ColumnSummary> summaries;
    RowSample sample;

    size_t place_of(std::string_view column) const {
        return static_cast<size_t>(std::find(columns.begin(), columns.end(), column) -
                                   columns.begin());
    }
};

/// Returns the number of groups in the sample that the draft would make.
size_t count_groups(const Table& table, const TableSchema& schema) {
    std::set<std::string> groups;
    for (size_t row = 0; row < table.sample.rows(); ++row) {
        std::string group;
        for (const auto& name : schema.protected_columns) {
            const auto& cell = table.sample.cell(row, table.place_of(name));
            const auto* rule = schema.rule_of(name);
            group += rule != nullptr && !std::isnan(cell.number)
                         ? band_name(rule->bands, cell.number) + ","
                         : fmt::format("{},", cell.text);
        }
        groups.insert(std::move(group));
        if (groups.size() > limits::kMaxGroups) break;
    }
    return groups.size();
}

/// Returns whether a value of the column has at least `rows` rows, as the sample says.
bool has_frequent_value(const Table& table, size_t column, double rows) {
    std::map<uint64_t, size_t> counts;
    for (size_t row = 0; row < table.sample.rows(); ++row)
        ++counts[table.sample.cell(row, column).text];
    counts.erase(0);
    const double scale = static_cast<double>(table.sample.seen()) /
                         static_cast<double>(std::max<size_t>(table.sample.rows(), 1));
    return std::any_of(counts.begin(), counts.end(), [&](const auto& value) {
        return static_cast<double>(value.second) * scale >= rows;
    });
}

/// Gives bands to protected columns of many numbers, and pools to those of many texts if there are
/// too many groups without.
void propose_groups(const Table& table, SchemaDraft& draft) {
    auto& schema = draft.schema;
    const auto warn = [&](const std::string& column, std::string text) {
        draft.warnings.push_back({SchemaWarning::Kind::kManyGroups, column, std::move(text)});
    };
    for (const auto& name : schema.protected_columns) {
        const size_t at = table.place_of(name);
        const auto& summary = table.summaries[at];
        if (!summary.numeric() || summary.values().size() <= kFewValues) continue;
        auto bands = propose_bands(table.sample, at, name);
        if (bands.empty()) continue;
        warn(name, fmt::format("protected column '{}' has numbers from {} to {}, each of which "
                               "would be a group: the draft bands them at {}",
                               name, number_text(summary.low()), number_text(summary.high()),
                               fmt::join(bands, ", ")));
        schema.rules.push_back({.column = name, .bands = std::move(bands)});
    }
    if (count_groups(table, schema) <= limits::kMaxGroups) return;
    constexpr size_t kFewestPooled = 100;
    const size_t below = std::max<size_t>(kFewestPooled, table.sample.seen() / 100);
    bool pooled = false;
    for (const auto& name : schema.protected_columns) {
        const size_t at = table.place_of(name);
        if (schema.rule_of(name) != nullptr ||
            table.summaries[at].values().size() <= kFewGroupValues ||
            !has_frequent_value(table, at, 2 * static_cast<double>(below)))
            continue;
        warn(name, fmt::format("protected column '{}' has so many values that there are more than "
                               "{} groups: the draft pools those with fewer than {} rows",
                               name, limits::kMaxGroups, below));
        schema.rules.push_back({.column = name, .pool_below = below, .pool = "other"});
        pooled = true;
    }
    if (!pooled && !schema.protected_columns.empty())
        warn(schema.protected_columns.front(),
             fmt::format("the protected columns make more than {} groups: protect fewer, or merge "
                         "their values in the file",
                         limits::kMaxGroups));
}

/// Adds a warning if the column separates the labels by itself.
void warn_of_leak(const Table& table, size_t at, SchemaDraft& draft) {
    using Kind = SchemaWarning::Kind;
    const auto& name = table.columns[at];
    const auto& sample = table.sample;
    const auto rows = sample.labelled();
    const auto missing = sample.missing(at);
    for (const size_t label : {0, 1}) {
        if (std::min(rows[0], rows[1]) < kFewestOfALabel || missing[label] != rows[label] ||
            missing[1 - label] != 0)
            continue;
        draft.warnings.push_back(
            {Kind::kMissingByLabel, name,
             fmt::format(
                 "'{}' is missing in all {} rows where the label is {}favourable, and in no "
                 "other: it is known only afterwards; list it under `ignored`",
                 name, rows[label], label == 1 ? "" : "not ")});
        return;
    }
    const auto auc = auc_alone(sample, at, table.summaries[at].numeric());
    if (!auc || *auc <= kLeaks) return;
    draft.warnings.push_back(
        {Kind::kLeak, name,
         fmt::format("'{}' alone separates the labels, with an AUC of {:.4f} on {} of {} rows: if "
                     "it is known only after the decision, list it under `ignored`",
                     name, *auc, sample.rows(), sample.seen())});
}

/// Adds warnings on features, in the file's order, and repeats them in their remarks.
void warn(const Table& table, SchemaDraft& draft) {
    using Kind = SchemaWarning::Kind;
    for (size_t at = 0; at < table.columns.size(); ++at) {
        const auto& name = table.columns[at];
        if (!draft.schema.features.find(name)) continue;
        warn_of_leak(table, at, draft);
        if (table.summaries[at].may_be_id())
            draft.warnings.push_back(
                {Kind::kIdentifier, name,
                 fmt::format("'{}' has whole numbers of which nearly all differ: if it is an "
                             "identifier, list it under `ignored`",
                             name)});
        if (const auto why = personal_by_name(name); !why.empty())
            draft.warnings.push_back(
                {Kind::kPersonalData, name, fmt::format("'{}' {}", name, why)});
    }
    for (const auto& warning : draft.warnings) {
        auto& remark = draft.remarks[warning.column];
        remark += (remark.empty() ? "" : "; ") + warning.text;
    }
}

/// Sorts the columns without a role into features and ignored ones.
Result<SchemaDraft> draft_schema(const ColumnRoles& roles, const LabelText& said,
                                 const Table& table) {
    const auto& columns = table.columns;
    const auto& summaries = table.summaries;
    const auto& label = summaries[table.place_of(said.column)];
    SchemaDraft draft;
    TableSchema& schema = draft.schema;
    schema.label_column = said.column;
    schema.condition = said.condition;
    schema.favourable = roles.favourable;
    if (roles.numeric_label) set_range(roles, label, draft);
    schema.protected_columns = roles.protected_columns;
    schema.weight_column = roles.weight_column;
    schema.ignored_columns = roles.ignored_columns;
    const Texts missing = missing_tokens(summaries);
    schema.missing_tokens.assign(missing.begin(), missing.end());
    Texts taken(roles.protected_columns.begin(), roles.protected_columns.end());
    taken.insert(said.column);
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
    propose_groups(table, draft);
    warn(table, draft);
    RAMPART_RETURN_IF_ERROR(validate(schema));
    return draft;
}

/// Says which label each row has, 1: favourable.
class RowLabels {
  public:
    explicit RowLabels(const TableSchema& schema)
        : reader_(schema), numbers_(schema.condition && schema.condition->compares_numbers()) {}

    /// Returns nullopt for a missing label. "none" is missing among numbers, a text among texts.
    Result<std::optional<bool>> of(std::string_view cell) {
        if (cell.empty() || is_in(kMissingAnywhere, cell)) return std::optional<bool>();
        if (numbers_ && (is_in(kMissingAmongNumbers, cell) || is_infinity(cell)))
            return std::optional<bool>();
        if (const bool* known = memo_.find(cell)) return std::optional(*known);
        RAMPART_TRY(const auto value, reader_.value(cell));
        const bool favourable = value == reader_.favourable();
        ++rows_[favourable];
        memo_.keep(cell, favourable);
        return std::optional(favourable);
    }
    bool both() const { return rows_[0] > 0 && rows_[1] > 0; }

  private:
    LabelReader reader_;
    bool numbers_;
    CellMemo<bool> memo_;
    std::array<size_t, 2> rows_{};  // texts by label
};

Result<LabelText> label_of(const ColumnRoles& roles) {
    if (roles.numeric_label) return LabelText{roles.label_column, std::nullopt};
    RAMPART_TRY(auto label, parse_label(roles.label_column));
    if (label.condition && roles.favourable != "true" && roles.favourable != "false")
        return base::make_error(Reason::kBadFavourable,
                                "favourable is '{}'; of the condition '{}' it is \"true\" or "
                                "\"false\": which of them is good for the applicant?",
                                roles.favourable, roles.label_column);
    return label;
}

base::Status check_condition(const LabelText& label, const RowLabels& rows) {
    if (rows.both()) return base::ok();
    return base::make_error(Reason::kOneLabel,
                            "the condition '{}' does not tell rows apart: it holds in all of them, "
                            "or in none",
                            to_text(label));
}

/// Reads the whole file.
base::Status read_all(CsvReader& csv, const std::string& file, size_t label_at, bool two_values,
                      RowLabels& labels, Table& table) {
    std::vector<bool> missing(table.columns.size());
    while (true) {
        RAMPART_TRY(const bool more, csv.next());
        if (!more) return base::ok();
        const auto cells = csv.cells();
        for (size_t i = 0; i < cells.size(); ++i) missing[i] = table.summaries[i].add(cells[i]);
        std::optional<bool> favourable;
        if (two_values) {
            auto known = labels.of(cells[label_at]);
            if (!known)
                return known.error().with_context(fmt::format("{}, line {}", file, csv.line()));
            favourable = *known;
        }
        table.sample.add(cells, missing, favourable);
    }
}

}  // namespace

std::string_view word_of(SchemaWarning::Kind kind) {
    switch (kind) {
        case SchemaWarning::Kind::kLeak:
            return "leak";
        case SchemaWarning::Kind::kMissingByLabel:
            return "missing_by_label";
        case SchemaWarning::Kind::kIdentifier:
            return "identifier";
        case SchemaWarning::Kind::kPersonalData:
            return "personal_data";
        default:
            return "many_groups";
    }
}

Result<SchemaDraft> infer_schema(const std::filesystem::path& path, const ColumnRoles& roles) {
    RAMPART_TRY(const auto label, label_of(roles));
    RAMPART_TRY(auto csv, CsvReader::open(path));
    const std::string file = fmt::format("'{}'", path.string());
    const size_t width = csv.columns().size();
    if (const auto known = check_roles(roles, label.column, csv.columns()); !known)
        return known.error().with_context(file);
    Table table{csv.columns(), std::vector<ColumnSummary>(width), RowSample(width)};
    TableSchema says;
    says.label_column = label.column;
    says.condition = label.condition;
    says.favourable = roles.favourable;
    RowLabels labels(says);
    const size_t label_at = table.place_of(label.column);
    RAMPART_RETURN_IF_ERROR(read_all(csv, file, label_at, !roles.numeric_label, labels, table));
    const auto valid = label.condition ? check_condition(label, labels)
                                       : check_label(roles, table.summaries[label_at]);
    if (!valid) return valid.error().with_context(file);
    auto draft = draft_schema(roles, label, table);
    if (!draft) return draft.error().with_context(file);
    return draft;
}

}  // namespace rampart::dataset
