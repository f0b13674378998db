#include "rampart/dataset/feature_schema_toml.hpp"

#include <cmath>
#include <limits>

#include "number_reader.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/config/table.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"
#include "rule_checks.hpp"
#include "schema_file.hpp"

namespace rampart::dataset {
namespace {

using base::Result;
namespace limits = base::limits;

std::string quote(std::string_view text) { return toml_quote(text); }
std::string list(const std::vector<std::string>& values) { return toml_list(values); }

/// Replaces control characters other than tabs, which a comment may not contain.
std::string comment(std::string_view text) {
    std::string out = "# ";
    for (const char c : text) {
        const bool control = (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
        out += control ? ' ' : c;
    }
    return out;
}

constexpr double kMost = std::numeric_limits<double>::max();

NumericRange parse_range(config::Table& table) {
    const auto ends = table.numbers("range", -kMost, kMost);
    if (ends.size() == 2) return {ends[0], ends[1]};
    table.fail("range", "has two numbers, the least and the greatest that are allowed");
    return {};
}

ColumnRule parse_rule(config::Table& table) {
    constexpr int64_t kMostRows = limits::kMaxRows;
    ColumnRule rule;
    rule.column = table.string("name");
    const auto date = table.choice("date", {"ISO", "YYYYMM", "DD.MM.YYYY", "MM/DD/YYYY"}, "");
    for (const auto form :
         {DateForm::kIso, DateForm::kYearMonth, DateForm::kDayMonthYear, DateForm::kMonthDayYear})
        if (date == word_of(form)) rule.date = form;
    if (table.has("range")) rule.range = parse_range(table);
    if (table.has("outside")) {
        if (!rule.range) table.fail("outside", "needs `range`");
        rule.outside_is_error = table.choice("outside", {"missing", "error"}, "missing") == "error";
    }
    rule.bands = table.numbers("bands", -kMost, kMost);
    rule.pool_below = static_cast<size_t>(table.integer("pool_below", 1, kMostRows, 0));
    rule.pool = table.string("pool", rule.pool_below > 0 ? "other" : "");
    rule.keep = table.strings("keep");
    rule.empty = table.string("empty", "");
    return rule;
}

void parse_label_keys(config::Table& root, TableSchema& schema) {
    auto label = parse_label(root.string("label"));
    if (label) {
        schema.label_column = std::move(label->column);
        schema.condition = std::move(label->condition);
    } else {
        root.fail("label", label.error().message);
    }
    schema.leave_out_unlabelled =
        root.choice("label_missing", {"error", "leave_out"}, "error") == "leave_out";
    if (!root.has("label_range")) {
        schema.favourable = root.string("favourable");
        return;
    }
    if (root.has("favourable"))
        root.fail("favourable",
                  "is for a label of two values, label_range for one that is a "
                  "number: give one of them");
    auto range = root.table("label_range");
    schema.label_range.emplace();
    schema.label_range->lo = range.number("lo", -kMost, kMost);
    schema.label_range->hi = range.number("hi", -kMost, kMost);
}

/// Assigns one role to each column.
class Roles {
  public:
    base::Status add(std::string_view column, std::string_view role) {
        // the empty name is a file's unnamed column: it can only be ignored
        if ((column.empty() && role != "ignored") || column.size() > limits::kMaxNameBytes ||
            !base::is_utf8(column)) {
            return base::make_error(Reason::kBadColumnName,
                                    "{} column '{}': a name has 1 to {} bytes of UTF-8", role,
                                    base::is_utf8(column) ? column : "?", limits::kMaxNameBytes);
        }
        const auto [known, fresh] = role_of_.emplace(column, role);
        if (fresh) return base::ok();
        return base::make_error(Reason::kTwoRoles,
                                "column '{}' is listed as {} and as {}; give it one role", column,
                                known->second, role);
    }

  private:
    std::map<std::string, std::string, std::less<>> role_of_;
};

std::string label_lines(const TableSchema& schema, const std::string& remark) {
    const auto label = quote(schema.label_text());
    const std::string missing =
        schema.leave_out_unlabelled
            ? "# Rows without a label are left out and counted; \"error\" refuses the file.\n"
              "label_missing = \"leave_out\"\n"
            : "";
    if (schema.label_range) {
        return fmt::format(
            "# The column to predict, a number, and where it can lie.\n"
            "label = {}{}\nlabel_range = {{ lo = {}, hi = {} }}\n{}\n",
            label, remark, toml_number(schema.label_range->lo), toml_number(schema.label_range->hi),
            missing);
    }
    return fmt::format("# {} the good one (y = 1).\nlabel = {}{}\nfavourable = {}\n{}\n",
                       schema.condition
                           ? "The condition to predict, and which of \"true\" and \"false\" is"
                           : "The column to predict, and which of its two values is",
                       label, remark, quote(schema.favourable), missing);
}

std::string number_list(const std::vector<double>& numbers) {
    std::string out = "[";
    for (const double x : numbers) out += (out.size() > 1 ? ", " : "") + toml_number(x);
    return out + ']';
}

std::string rule_lines(const ColumnRule& rule, const std::string& remark) {
    std::string out = fmt::format("[[column]]\nname = {}{}\n", quote(rule.column), remark);
    if (rule.date) out += fmt::format("date = \"{}\"\n", word_of(*rule.date));
    if (rule.range)
        out += fmt::format("range = {}\noutside = \"{}\"\n",
                           number_list({rule.range->lo, rule.range->hi}),
                           rule.outside_is_error ? "error" : "missing");
    if (!rule.bands.empty()) out += fmt::format("bands = {}\n", number_list(rule.bands));
    if (rule.pool_below > 0)
        out += fmt::format("pool_below = {}\npool = {}\n", rule.pool_below, quote(rule.pool));
    if (!rule.keep.empty()) out += fmt::format("keep = {}\n", list(rule.keep));
    if (!rule.empty.empty()) out += fmt::format("empty = {}\n", quote(rule.empty));
    return out + '\n';
}

base::Status check_label(const TableSchema& schema) {
    if (schema.condition && schema.label_range)
        return base::make_error(Reason::kBadLabelRange,
                                "label '{}' is a condition, and label_range is for numbers",
                                schema.label_text());
    if (schema.condition && schema.favourable != "true" && schema.favourable != "false")
        return base::make_error(Reason::kBadFavourable,
                                "favourable is '{}'; of the condition '{}' it is \"true\" or "
                                "\"false\": which of them is good for the applicant?",
                                schema.favourable, schema.label_text());
    if (schema.label_range) {
        const auto [lo, hi] = *schema.label_range;
        if (!std::isfinite(lo) || !std::isfinite(hi) || !std::isfinite(hi - lo) || !(lo < hi)) {
            return base::make_error(Reason::kBadLabelRange,
                                    "label_range from {} to {}: give two finite "
                                    "numbers, the first below the second",
                                    lo, hi);
        }
        if (!schema.favourable.empty()) {
            return base::make_error(Reason::kBadFavourable,
                                    "favourable is '{}' and label_range is given; a label "
                                    "has one of them",
                                    schema.favourable);
        }
    } else if (schema.favourable.empty() || !base::is_utf8(schema.favourable)) {
        return base::make_error(Reason::kBadFavourable,
                                "favourable is empty or not UTF-8; it names the label "
                                "value that becomes y = 1");
    }
    return base::ok();
}

/// Reads what is only for applications that a service takes.
FeatureTerms parse_terms(config::Table& table, FeatureKind kind) {
    FeatureTerms terms;
    if (table.has("default")) {
        if (kind == FeatureKind::kNumeric)
            terms.absent = table.number("default", -kMost, kMost);
        else
            terms.absent = table.string("default");
    }
    if (table.boolean("optional", false)) {
        if (terms.absent)
            table.fail("optional", "is true, and there is a default: give one of both");
        terms.absent = std::monostate();
    }
    terms.was = table.strings("was");
    terms.retired = table.boolean("retired", false);
    if (!table.has("accepted_until")) return terms;
    const auto until = base::parse_iso8601(table.string("accepted_until"));
    if (until)
        terms.accepted_until = *until;
    else
        table.fail("accepted_until", until.error().message);
    return terms;
}

/// Says where the keys of a service's schema belong.
void refuse_terms(config::Table& table) {
    for (const char* key : {"default", "optional", "was", "retired", "accepted_until"}) {
        if (table.has(key))
            table.fail(key,
                       "is about applications, and stands in the schema of a service; leave it "
                       "out of the schema of a table");
    }
}

}  // namespace

/// Writes a TOML basic string (TOML 1.0.0, "String").
std::string toml_quote(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
        } else {
            out += c;
        }
    }
    return out + '"';
}

std::string toml_list(const std::vector<std::string>& values) {
    constexpr size_t kWrap = 96;
    std::string out = "[";
    size_t column = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        const std::string item = toml_quote(values[i]) + (i + 1 < values.size() ? "," : "]");
        const bool wrap = column + item.size() > kWrap;
        out += wrap ? "\n    " : i > 0 ? " " : "";
        column = (wrap ? 4 : column + 1) + item.size();
        out += item;
    }
    return values.empty() ? "[]" : out;
}

/// Writes a number with a fraction if as an integer it
/// would not fit a double.
std::string toml_number(double value) {
    if (value == 0) return "0";                  // an integer has no -0
    constexpr double kWhole = 9007199254740992;  // 2^53
    std::string text = number_text(value);
    const bool whole = text.find_first_of(".e") == std::string::npos;
    return whole && std::abs(value) >= kWhole ? text + ".0" : text;
}

std::string feature_head(const FeatureSpec& spec) {
    const bool numeric = spec.kind == FeatureKind::kNumeric;
    return fmt::format("[[feature]]\nname = {}\nkind = \"{}\"\n{}", quote(spec.name),
                       numeric ? "numeric" : "categorical",
                       numeric ? "" : fmt::format("categories = {}\n", list(spec.categories)));
}

void parse_features(config::Table& root, TableSchema& schema, std::vector<FeatureSpec>& features,
                    std::vector<FeatureTerms>* terms) {
    for (auto& table : root.tables("feature")) {
        FeatureSpec& spec = features.emplace_back();
        spec.name = table.string("name");
        if (table.choice("kind", {"numeric", "categorical"}, "") == "categorical") {
            spec.kind = FeatureKind::kCategorical;
            spec.categories = table.strings("categories");
        } else if (!table.has("kind")) {
            table.fail("kind", "is required: \"numeric\" or \"categorical\"");
        }
        if (table.has("categories") && spec.kind == FeatureKind::kNumeric) {
            table.fail("categories", "is only for kind = \"categorical\"");
        }
        if (terms != nullptr)
            terms->push_back(parse_terms(table, spec.kind));
        else
            refuse_terms(table);
        if (!table.has("derived")) continue;
        auto derived = parse_derivation(table.string("derived"));
        if (derived)
            schema.derived[spec.name] = *std::move(derived);
        else
            table.fail("derived", derived.error().message);
    }
}

base::Status validate(const TableSchema& schema) {
    Roles roles;
    RAMPART_RETURN_IF_ERROR(roles.add(schema.label_column, "label"));
    RAMPART_RETURN_IF_ERROR(check_label(schema));
    for (const auto& spec : schema.features.features()) {
        RAMPART_RETURN_IF_ERROR(roles.add(spec.name, "feature"));
    }
    for (const auto& name : schema.protected_columns) {
        RAMPART_RETURN_IF_ERROR(roles.add(name, "protected"));
    }
    if (schema.weight_column) RAMPART_RETURN_IF_ERROR(roles.add(*schema.weight_column, "weight"));
    for (const auto& name : schema.ignored_columns)
        RAMPART_RETURN_IF_ERROR(roles.add(name, "ignored"));
    if (schema.features.size() == 0) {
        return base::make_error(Reason::kNoFeatures, "the schema lists no [[feature]]");
    }
    RAMPART_RETURN_IF_ERROR(check_derived(schema));
    return check_rules(schema);
}

base::Status check_for_applications(const TableSchema& schema) {
    for (const auto& spec : schema.features.features()) {
        const auto made = schema.derived.find(spec.name);
        const auto* rule = schema.rule_of(spec.name);
        if (made == schema.derived.end() && rule == nullptr) continue;
        const bool derived = made != schema.derived.end(), date = !derived && rule->date;
        return base::make_error(
            Reason::kNotForApplications,
            "feature '{}' is {} in the schema: a service takes the features of an application as "
            "they are; declare it there without `{}`, and send {}",
            spec.name,
            derived ? "derived, " + to_text(made->second) + ","
            : date  ? "read as a date"
                    : "limited by a range",
            derived ? "derived"
            : date  ? "date"
                    : "range",
            derived ? "its value"
            : date  ? "the days since 1970-01-01"
                    : "null for what is outside");
    }
    return base::ok();
}

Result<TableSchema> parse_schema_file(std::string_view text, std::string_view name,
                                      std::vector<FeatureTerms>* terms) {
    RAMPART_TRY(auto root, config::parse(text, name));
    TableSchema schema;
    parse_label_keys(root, schema);
    schema.protected_columns = root.strings("protected");
    if (root.has("weight")) schema.weight_column = root.string("weight");
    schema.missing_tokens = root.strings("missing");
    schema.ignored_columns = root.strings("ignored");
    for (auto& table : root.tables("column")) schema.rules.push_back(parse_rule(table));
    std::vector<FeatureSpec> specs;
    parse_features(root, schema, specs, terms);
    RAMPART_RETURN_IF_ERROR(root.finish());
    auto features = FeatureSchema::create(std::move(specs));
    if (!features) return features.error().with_context(name);
    schema.features = *std::move(features);
    if (const auto valid = validate(schema); !valid) return valid.error().with_context(name);
    return schema;
}

Result<TableSchema> parse_table_schema(std::string_view text, std::string_view name) {
    return parse_schema_file(text, name, nullptr);
}

Result<TableSchema> read_table_schema(const std::filesystem::path& path) {
    RAMPART_TRY(const auto text, base::read_file(path, kMaxSchemaBytes));
    return parse_table_schema(text, path.string());
}

std::string write_table_schema(const TableSchema& schema,
                               const std::map<std::string, std::string>& remarks) {
    const auto remark = [&](const std::string& column, std::string_view before) {
        const auto found = remarks.find(column);
        return found == remarks.end() ? std::string()
                                      : std::string(before) + comment(found->second);
    };
    std::string out =
        "# What the columns of the table are for. Each column of the file has one place here.\n\n";
    out += label_lines(schema, remark(schema.label_column, "  "));
    out += "# A row's group is the combination of these columns' values. Never features.\n";
    out += fmt::format("protected = {}\n\n", list(schema.protected_columns));
    if (schema.weight_column) {
        out += fmt::format("# Weight of a row.\nweight = {}\n\n", quote(*schema.weight_column));
    }
    out += "# Cells that mean: missing. The empty cell always does.\n";
    out += fmt::format("missing = {}\n\n", list(schema.missing_tokens));
    out +=
        "# Columns that are not used. To use one, delete it here and add a [[feature]].\nignored = "
        "[\n";
    for (const auto& column : schema.ignored_columns) {
        out += fmt::format("    {},{}\n", quote(column), remark(column, "  "));
    }
    out += "]\n\n";
    if (!schema.rules.empty())
        out += "# How columns are read: dates, allowed ranges, bands and pools of groups.\n";
    for (const auto& rule : schema.rules) out += rule_lines(rule, remark(rule.column, "  "));
    out +=
        "# The features, in the model's order: kind = \"numeric\" or \"categorical\" with its "
        "categories.\n";
    for (const auto& spec : schema.features.features()) {
        const bool numeric = spec.kind == FeatureKind::kNumeric;
        out += fmt::format("[[feature]]\nname = {}{}\nkind = \"{}\"\n", quote(spec.name),
                           remark(spec.name, "  "), numeric ? "numeric" : "categorical");
        if (const auto made = schema.derived.find(spec.name); made != schema.derived.end())
            out += fmt::format("derived = {}\n", quote(to_text(made->second)));
        if (!numeric) out += fmt::format("categories = {}\n", list(spec.categories));
        out += '\n';
    }
    return out;
}

}  // namespace rampart::dataset
