#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <map>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/model/reasons.hpp"
#include "rampart/model_exchange/lightgbm_text.hpp"
#include "rampart/model_exchange/reasons.hpp"
#include "tree_builder.hpp"

namespace rampart::model_exchange {
namespace {

namespace limits = base::limits;
using base::Result;

base::Error unsupported(std::string_view what) {
    return base::make_error(Reason::kUnsupportedModel, "{}", what);
}

/// "key=value" lines up to an empty line or the end.
using Section = std::map<std::string_view, std::string_view>;

std::string_view take_line(std::string_view& text) {
    const size_t end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
}

Section take_section(std::string_view& text) {
    Section section;
    while (!text.empty()) {
        const auto line = take_line(text);
        if (line.empty()) break;
        const size_t equals = line.find('=');
        section[line.substr(0, equals)] =
            equals == std::string_view::npos ? std::string_view() : line.substr(equals + 1);
    }
    return section;
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (true) {
        const size_t from = text.find_first_not_of(' ');
        if (from == std::string_view::npos) return words;
        const size_t to = std::min(text.find(' ', from), text.size());
        words.push_back(text.substr(from, to - from));
        text.remove_prefix(to);
    }
}

template <class Number>
Result<std::vector<Number>> numbers_of(const Section& section, std::string_view key, size_t count) {
    const auto found = section.find(key);
    if (found == section.end()) return bad_model(fmt::format("{} is missing", key));
    std::vector<Number> numbers;
    for (const auto word : words_of(found->second)) {
        Number number{};
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (error != std::errc() || end != word.data() + word.size()) {
            return bad_model(fmt::format("{}: '{}' is not a number", key, word.substr(0, 40)));
        }
        numbers.push_back(number);
    }
    if (numbers.size() != count) {
        return bad_model(fmt::format("{}: {} numbers; expected {}", key, numbers.size(), count));
    }
    return numbers;
}

/// Reads like numbers_of, but returns all zeros if the key is absent: for optional fields.
template <class Number>
Result<std::vector<Number>> optional_numbers(const Section& section, std::string_view key,
                                             size_t count) {
    const auto found = section.find(key);
    if (found == section.end() || found->second.empty()) return std::vector<Number>(count);
    return numbers_of<Number>(section, key, count);
}

Result<int64_t> number_of(const Section& section, std::string_view key) {
    RAMPART_TRY(const auto numbers, numbers_of<int64_t>(section, key, 1));
    return numbers.front();
}

/// Treatment of missing values by a threshold. Bits of decision_type: 1 categorical, 2 missing goes
/// left, then which values are missing: none, zero (and NaN), NaN.
enum class MissingType { kNone = 0, kZero = 1, kNan = 2 };
constexpr double kZeroBand = 1e-35f;  // LightGBM treats -kZeroBand to kZeroBand as zero

/// Returns the direction of NaN, if a default direction alone can express it.
Result<bool> missing_left(MissingType type, bool default_left, double threshold) {
    switch (type) {
        case MissingType::kNan:
            return default_left;
        case MissingType::kNone:
            return 0 <= threshold;  // NaN is read as 0
        case MissingType::kZero:
            break;
    }
    const bool same = default_left ? kZeroBand <= threshold : threshold < -kZeroBand;
    if (same) return default_left;
    return unsupported(
        "a split that treats zero as missing and sends it against its threshold: train without "
        "zero_as_missing");
}

class LightGbmReader {
  public:
    explicit LightGbmReader(const dataset::FeatureSchema& schema) : schema_(schema) {}

    Result<ForeignModel> read(std::string_view text) {
        if (take_line(text) != "tree") {
            return base::make_error(
                Reason::kNotALightgbmModel,
                "the first line is not 'tree': give a text model, as Booster.save_model writes it");
        }
        RAMPART_RETURN_IF_ERROR(read_header(take_section(text)));
        RAMPART_RETURN_IF_ERROR(read_pandas_categories(text));
        while (!text.empty()) {
            // blank lines, then a tree or the end of trees
            const auto rest = text;
            const auto line = take_line(text);
            if (line.empty()) continue;
            if (line == "end of trees") return finish();
            if (!line.starts_with("Tree="))
                return bad_model("'Tree=' or 'end of trees' is missing");
            text = rest;
            const size_t number = out_.ensemble.trees.size();
            if (number >= limits::kMaxTrees) {
                return base::make_error(model::Reason::kTooManyTrees, "more than {} trees",
                                        limits::kMaxTrees);
            }
            auto tree = read_tree(take_section(text));
            if (!tree) return tree.error().with_context(fmt::format("tree {}", number));
            out_.ensemble.trees.push_back(std::move(*tree));
        }
        return bad_model("the file ends before 'end of trees': it is truncated");
    }

  private:
    /// One tree, as arrays by node and by leaf.
    struct Arrays {
        std::vector<int64_t> feature, type, left, right, cat_boundaries;
        std::vector<double> threshold, gain, inner_count, leaf_value, leaf_count;
        std::vector<uint32_t> cat_threshold;
    };

    base::Status read_header(const Section& header) {
        if (header.contains("average_output"))
            return unsupported(
                "a random forest, which averages its trees: train with boosting=gbdt");
        RAMPART_TRY(const int64_t classes, number_of(header, "num_class"));
        RAMPART_TRY(const int64_t per_iteration, number_of(header, "num_tree_per_iteration"));
        if (classes != 1 || per_iteration != 1)
            return unsupported("several classes: only models of one output can be read");
        RAMPART_TRY(const int64_t last, number_of(header, "max_feature_idx"));
        const auto names = header.find("feature_names");
        if (names == header.end()) return bad_model("feature_names is missing");
        for (const auto word : words_of(names->second)) names_.emplace_back(word);
        if (last < 0 || static_cast<size_t>(last) + 1 != names_.size())
            return bad_model(fmt::format("max_feature_idx is {}, and there are {} feature names",
                                         last, names_.size()));
        RAMPART_RETURN_IF_ERROR(read_objective(header));
        RAMPART_TRY(places_, match_features(names_, names_.size(), schema_, out_.notes));
        return base::ok();
    }

    base::Status read_objective(const Section& header) {
        const auto found = header.find("objective");
        const auto words =
            found == header.end() ? std::vector<std::string_view>() : words_of(found->second);
        const auto name = words.empty() ? std::string_view("custom") : words.front();
        out_.objective = std::string(name.substr(0, 100));
        for (const auto word : words) {
            if (word == "sqrt") return unsupported("reg_sqrt, which transforms the label");
            if (word.starts_with("sigmoid:") && word != "sigmoid:1")
                return unsupported(fmt::format("'{}': train with sigmoid=1", word.substr(0, 40)));
        }
        const auto one_of = [&](std::initializer_list<std::string_view> all) {
            return std::find(all.begin(), all.end(), name) != all.end();
        };
        if (one_of({"binary", "cross_entropy", "xentropy"})) {
            out_.raw = RawScore::kLogOdds;
        } else if (one_of({"regression", "regression_l1", "huber", "fair", "quantile", "mape"})) {
            out_.raw = RawScore::kValue;
        } else if (one_of({"poisson", "gamma", "tweedie"})) {
            out_.raw = RawScore::kLogarithm;
        } else if (name == "custom") {
            out_.raw = RawScore::kLogOdds;
            out_.notes.push_back("the model names no objective: its raw score is read as log-odds");
        } else {
            return unsupported(fmt::format("the objective '{}'", out_.objective));
        }
        return base::ok();
    }

    /// Reads the last line of models that Python saved: categories by data frame column, or null.
    base::Status read_pandas_categories(std::string_view text) {
        constexpr std::string_view kKey = "\npandas_categorical:";
        const size_t at = text.rfind(kKey);
        if (at == std::string_view::npos) return base::ok();
        auto rest = text.substr(at + kKey.size());
        boost::system::error_code error;
        const auto value = boost::json::parse(take_line(rest), error);
        if (error) return bad_model("pandas_categorical is not JSON");
        if (!value.is_array()) return base::ok();
        for (const auto& list : value.get_array()) {
            auto& texts = pandas_.emplace_back();
            if (!list.is_array()) return bad_model("pandas_categorical is not a list of lists");
            for (const auto& category : list.get_array()) {
                texts.push_back(category.is_string() ? std::string(category.get_string())
                                                     : boost::json::serialize(category));
            }
        }
        return base::ok();
    }

    Result<ForeignModel> finish() {
        RAMPART_RETURN_IF_ERROR(model::validate(out_.ensemble, schema_));
        return std::move(out_);
    }

    Result<model::Tree> read_tree(const Section& section) {
        RAMPART_TRY(const int64_t leaves, number_of(section, "num_leaves"));
        if (leaves < 1 || static_cast<size_t>(leaves) > limits::kMaxLeaves) {
            return base::make_error(Reason::kTooManyLeaves, "{} leaves; allowed are 1 to {}",
                                    leaves, limits::kMaxLeaves);
        }
        if (const auto linear = section.find("is_linear");
            linear != section.end() && linear->second != "0") {
            return unsupported("a linear tree: train with linear_tree=false");
        }
        RAMPART_TRY(const Arrays arrays, read_arrays(section, static_cast<size_t>(leaves)));
        return build_tree(leaves > 1 ? 0 : -1, [&](int64_t at) { return read_node(arrays, at); });
    }

    static Result<Arrays> read_arrays(const Section& section, size_t leaves) {
        Arrays a;
        const size_t inner = leaves - 1;
        RAMPART_TRY(a.leaf_value, numbers_of<double>(section, "leaf_value", leaves));
        RAMPART_TRY(a.leaf_count, optional_numbers<double>(section, "leaf_count", leaves));
        if (inner == 0) return a;
        RAMPART_TRY(a.feature, numbers_of<int64_t>(section, "split_feature", inner));
        RAMPART_TRY(a.threshold, numbers_of<double>(section, "threshold", inner));
        RAMPART_TRY(a.type, numbers_of<int64_t>(section, "decision_type", inner));
        RAMPART_TRY(a.left, numbers_of<int64_t>(section, "left_child", inner));
        RAMPART_TRY(a.right, numbers_of<int64_t>(section, "right_child", inner));
        RAMPART_TRY(a.gain, optional_numbers<double>(section, "split_gain", inner));
        RAMPART_TRY(a.inner_count, optional_numbers<double>(section, "internal_count", inner));
        RAMPART_TRY(const int64_t sets, number_of(section, "num_cat"));
        if (sets == 0) return a;
        if (sets < 0 || static_cast<size_t>(sets) > inner) return bad_model("num_cat is wrong");
        RAMPART_TRY(a.cat_boundaries,
                    numbers_of<int64_t>(section, "cat_boundaries", static_cast<size_t>(sets) + 1));
        const auto words = section.find("cat_threshold");
        const size_t count = words == section.end() ? 0 : words_of(words->second).size();
        RAMPART_TRY(a.cat_threshold, optional_numbers<uint32_t>(section, "cat_threshold", count));
        int64_t last = 0;
        for (const int64_t boundary : a.cat_boundaries) {
            if (boundary < last || static_cast<size_t>(boundary) > count)
                return bad_model("cat_boundaries are out of order or beyond cat_threshold");
            last = boundary;
        }
        return a;
    }

    /// Reads a node; nodes are numbered from 0, leaves -1, -2, …
    Result<ForeignNode> read_node(const Arrays& a, int64_t number) const {
        ForeignNode out;
        if (number < 0) {
            const auto leaf = static_cast<size_t>(-1 - number);
            if (leaf >= a.leaf_value.size()) return bad_model("there is no such leaf");
            out.leaf = true;
            out.node.value = a.leaf_value[leaf];
            out.node.cover = a.leaf_count[leaf];
            return out;
        }
        const auto at = static_cast<size_t>(number);
        if (at >= a.feature.size()) return bad_model("there is no such node");
        RAMPART_TRY(const size_t feature, schema_feature(a.feature[at]));
        out.node.feature = static_cast<int32_t>(feature);
        out.node.gain = a.gain[at];
        out.node.cover = a.inner_count[at];
        out.left = a.left[at];
        out.right = a.right[at];
        if ((a.type[at] & 1) != 0) {
            out.categorical = true;
            RAMPART_TRY(out.categories, read_set(a, a.threshold[at], feature));
            return out;
        }
        const int64_t missing = a.type[at] >> 2 & 3;
        if (missing == 3) return bad_model("decision_type has an unknown kind of missing values");
        RAMPART_TRY(out.node.threshold, float_at_most(a.threshold[at]));
        RAMPART_TRY(out.node.default_left, missing_left(static_cast<MissingType>(missing),
                                                        (a.type[at] & 2) != 0, a.threshold[at]));
        return out;
    }

    Result<size_t> schema_feature(int64_t feature) const {
        if (feature < 0 || static_cast<size_t>(feature) >= places_.size())
            return bad_model(fmt::format("splits feature {} of {}", feature, places_.size()));
        const auto place = places_[static_cast<size_t>(feature)];
        if (place) return *place;
        return base::make_error(base::Reason::kUnknownFeature,
                                "the model reads '{}', which the schema does not have: add it",
                                names_[static_cast<size_t>(feature)].substr(0, 100));
    }

    Result<std::vector<uint64_t>> read_set(const Arrays& a, double index, size_t feature) const {
        const auto& spec = schema_.features()[feature];
        if (spec.kind != dataset::FeatureKind::kCategorical) {
            return base::make_error(
                model::Reason::kWrongSplitKind,
                "the model splits '{}' by categories, but it is numeric in the schema: make it "
                "categorical and list its categories",
                spec.name);
        }
        if (!(index >= 0) || index + 1 >= static_cast<double>(a.cat_boundaries.size()))
            return bad_model("there is no such category set");
        const auto set = static_cast<size_t>(index);
        const CategoryCodes codes(schema_, feature);
        std::vector<uint64_t> bits((codes.count() + 63) / 64, 0);
        const auto first = static_cast<size_t>(a.cat_boundaries[set]);
        const auto end = static_cast<size_t>(a.cat_boundaries[set + 1]);
        for (size_t w = first; w < end; ++w) {
            for (size_t b = 0; b < 32; ++b) {
                if ((a.cat_threshold[w] >> b & 1) == 0) continue;
                RAMPART_TRY(const size_t code, code_of(codes, feature, (w - first) * 32 + b));
                bits[code / 64] |= uint64_t{1} << code % 64;
            }
        }
        return bits;
    }

    Result<size_t> code_of(const CategoryCodes& codes, size_t feature, size_t number) const {
        if (pandas_.empty()) return codes.of_number(static_cast<int64_t>(number));
        RAMPART_TRY(const size_t column, pandas_column(feature));
        const auto& texts = pandas_[column];
        if (number >= texts.size())
            return bad_model(
                fmt::format("category {} of {} in pandas_categorical", number, texts.size()));
        return codes.of_text(texts[number]);
    }

    /// Returns the list of a feature. The lists belong to the categorical columns of the data
    /// frame, in the order of its columns.
    Result<size_t> pandas_column(size_t feature) const {
        size_t column = 0, categorical = 0;
        for (const auto& place : places_) {
            if (place == feature) column = categorical;
            if (place && schema_.features()[*place].kind == dataset::FeatureKind::kCategorical)
                ++categorical;
        }
        if (categorical == pandas_.size()) return column;
        return base::make_error(model::Reason::kWrongSplitKind,
                                "the model has {} categorical columns, but {} of its "
                                "features are categorical in the schema: "
                                "make the same ones categorical",
                                pandas_.size(), categorical);
    }

    const dataset::FeatureSchema& schema_;
    ForeignModel out_;
    std::vector<std::string> names_;
    std::vector<std::optional<size_t>> places_;  // schema index of each of the model's features
    std::vector<std::vector<std::string>> pandas_;
};

}  // namespace

base::Result<ForeignModel> read_lightgbm(std::string_view text,
                                         const dataset::FeatureSchema& schema) {
    return LightGbmReader(schema).read(text);
}

}  // namespace rampart::model_exchange
