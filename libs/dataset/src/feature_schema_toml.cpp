#include "rampart/dataset/feature_schema_toml.hpp"

#include <cmath>
#include <limits>

#include "rampart/base/file.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/config/reasons.hpp"
#include "rampart/config/table.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {
namespace {

using base::Result;
namespace limits = base::limits;

/// Writes a TOML basic string (TOML 1.0.0, "String").
std::string quote(std::string_view text) {
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

/// Replaces control characters other than tabs, which a comment may not contain.
std::string comment(std::string_view text) {
    std::string out = "# ";
    for (const char c : text) {
        const bool control = (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
        out += control ? ' ' : c;
    }
    return out;
}

std::string list(const std::vector<std::string>& values) {
    constexpr size_t kWrap = 96;
    std::string out = "[";
    size_t column = 0;
    for (size_t i = 0; i < values.size(); ++i) {
        const std::string item = quote(values[i]) + (i + 1 < values.size() ? "," : "]");
        const bool wrap = column + item.size() > kWrap;
        out += wrap ? "\n    " : i > 0 ? " " : "";
        column = (wrap ? 4 : column + 1) + item.size();
        out += item;
    }
    return values.empty() ? "[]" : out;
}

Result<FeatureSchema> parse_features(config::Table& root) {
    std::vector<FeatureSpec> features;
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
    }
    RAMPART_RETURN_IF_ERROR(root.finish());
    return FeatureSchema::create(std::move(features));
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

/// Writes a number with a fraction if as an integer it
/// would not fit a double.
std::string toml_number(double value) {
    constexpr double kWhole = 9007199254740992;  // 2^53
    std::string text = number_text(value);
    const bool whole = text.find_first_of(".e") == std::string::npos;
    return whole && std::abs(value) >= kWhole ? text + ".0" : text;
}

std::string label_text(const TableSchema& schema, const std::string& remark) {
    const auto label = quote(schema.label_column);
    if (!schema.label_range) {
        return fmt::format(
            "# The column to predict, and which of its two values is the good one (y = 1).\n"
            "label = {}{}\nfavourable = {}\n\n",
            label, remark, quote(schema.favourable));
    }
    return fmt::format(
        "# The column to predict, a number, and where it can lie.\n"
        "label = {}{}\nlabel_range = {{ lo = {}, hi = {} }}\n\n",
        label, remark, toml_number(schema.label_range->lo), toml_number(schema.label_range->hi));
}

}  // namespace

base::Status validate(const TableSchema& schema) {
    Roles roles;
    RAMPART_RETURN_IF_ERROR(roles.add(schema.label_column, "label"));
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
    return base::ok();
}

Result<TableSchema> parse_table_schema(std::string_view text, std::string_view name) {
    RAMPART_TRY(auto root, config::parse(text, name));
    TableSchema schema;
    schema.label_column = root.string("label");
    if (root.has("label_range")) {
        if (root.has("favourable"))
            root.fail("favourable",
                      "is for a label of two values, label_range for one that is a "
                      "number: give one of them");
        auto range = root.table("label_range");
        constexpr double kMost = std::numeric_limits<double>::max();
        schema.label_range.emplace();
        schema.label_range->lo = range.number("lo", -kMost, kMost);
        schema.label_range->hi = range.number("hi", -kMost, kMost);
    } else {
        schema.favourable = root.string("favourable");
    }
    schema.protected_columns = root.strings("protected");
    if (root.has("weight")) schema.weight_column = root.string("weight");
    schema.missing_tokens = root.strings("missing");
    schema.ignored_columns = root.strings("ignored");
    auto features = parse_features(root);
    if (!features) {
        // the reader's own errors name the file already
        const base::Error& error = features.error();
        return error.is(config::Reason::kBadConfiguration) ? error : error.with_context(name);
    }
    schema.features = *std::move(features);
    if (const auto valid = validate(schema); !valid) return valid.error().with_context(name);
    return schema;
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
    out += label_text(schema, remark(schema.label_column, "  "));
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
    out +=
        "]\n\n# The features, in the model's order: kind = \"numeric\" or \"categorical\" with its "
        "categories.\n";
    for (const auto& spec : schema.features.features()) {
        const bool numeric = spec.kind == FeatureKind::kNumeric;
        out += fmt::format("[[feature]]\nname = {}{}\nkind = \"{}\"\n", quote(spec.name),
                           remark(spec.name, "  "), numeric ? "numeric" : "categorical");
        if (!numeric) out += fmt::format("categories = {}\n", list(spec.categories));
        out += '\n';
    }
    return out;
}

}  // namespace rampart::dataset
