#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <map>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/model/reasons.hpp"
#include "rampart/model_exchange/reasons.hpp"
#include "rampart/model_exchange/xgboost_json.hpp"
#include "tree_builder.hpp"
#include "ubjson.hpp"

namespace rampart::model_exchange {
namespace {

namespace json = boost::json;
namespace limits = base::limits;
using base::Result;

base::Error unsupported(std::string_view what) {
    return base::make_error(Reason::kUnsupportedModel, "{}", what);
}

Result<const json::object*> object_at(const json::object& in, std::string_view key) {
    const auto* found = in.if_contains(key);
    if (found == nullptr || !found->is_object())
        return bad_model(fmt::format("{} is missing or not an object", key));
    return &found->get_object();
}

Result<const json::array*> array_at(const json::object& in, std::string_view key) {
    const auto* found = in.if_contains(key);
    if (found == nullptr || !found->is_array())
        return bad_model(fmt::format("{} is missing or not a list", key));
    return &found->get_array();
}

std::string_view text_at(const json::object& in, std::string_view key) {
    const auto* found = in.if_contains(key);
    return found != nullptr && found->is_string() ? std::string_view(found->get_string())
                                                  : std::string_view();
}

/// Reads a parameter. XGBoost writes parameters as texts, from version 3.1 on some as lists of one.
Result<double> parameter(const json::object& in, std::string_view key, double otherwise) {
    auto text = text_at(in, key);
    if (text.empty()) return otherwise;
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return bad_model(fmt::format("{} is '{}', not one number", key, text.substr(0, 40)));
    return value;
}

/// Replaces NaN and Infinity, which XGBoost writes and JSON lacks, by null outside of texts.
std::string as_json(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    bool quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (quoted) {
            out += c;
            if (c == '\\' && i + 1 < text.size()) out += text[++i];
            quoted = c != '"';
            continue;
        }
        quoted = c == '"';
        size_t length = 0;
        for (const std::string_view word : {"NaN", "Infinity", "-Infinity", "-NaN"})
            if (text.substr(i, word.size()) == word) length = word.size();
        if (length == 0) {
            out += c;
            continue;
        }
        out += "null";
        i += length - 1;
    }
    return out;
}

/// Reads both of XGBoost's formats, which differ in their first bytes; null if it is neither.
Result<json::value> parse(std::string_view text) {
    if (is_ubjson(text)) return read_ubjson(text);
    json::error_code error;
    auto root = json::parse(as_json(text), error);
    return error ? json::value() : std::move(root);
}

Result<std::vector<double>> numbers_at(const json::object& in, std::string_view key, size_t count) {
    RAMPART_TRY(const auto* list, array_at(in, key));
    if (list->size() != count)
        return bad_model(fmt::format("{}: {} numbers; expected {}", key, list->size(), count));
    std::vector<double> out;
    for (const auto& value : *list) {
        if (value.is_bool()) {
            out.push_back(value.get_bool() ? 1 : 0);
        } else if (value.is_null()) {
            out.push_back(std::nan(""));
        } else if (value.is_number()) {
            out.push_back(value.to_number<double>());
        } else {
            return bad_model(fmt::format("{} contains a value that is not a number", key));
        }
    }
    return out;
}

Result<std::vector<double>> optional_numbers(const json::object& in, std::string_view key,
                                             size_t count) {
    if (!in.contains(key)) return std::vector<double>(count);
    return numbers_at(in, key, count);
}

class XgboostReader {
  public:
    explicit XgboostReader(const dataset::FeatureSchema& schema) : schema_(schema) {}

    Result<ForeignModel> read(std::string_view text) {
        RAMPART_TRY(const auto root, parse(text));
        const auto* object = root.if_object();
        const auto* learner = object == nullptr ? nullptr : object->if_contains("learner");
        if (learner == nullptr || !learner->is_object()) {
            return base::make_error(Reason::kNotAnXgboostModel,
                                    "not a JSON object with a 'learner': give a model, as "
                                    "Booster.save_model writes it to \"model.json\" or "
                                    "\"model.ubj\"");
        }
        RAMPART_RETURN_IF_ERROR(read_learner(learner->get_object()));
        RAMPART_TRY(const auto* booster, object_at(learner->get_object(), "gradient_booster"));
        if (text_at(*booster, "name") != "gbtree") {
            return unsupported(fmt::format("the booster '{}': train with booster=gbtree",
                                           text_at(*booster, "name").substr(0, 40)));
        }
        RAMPART_TRY(const auto* model, object_at(*booster, "model"));
        RAMPART_TRY(const auto* trees, array_at(*model, "trees"));
        if (trees->size() > limits::kMaxTrees)
            return base::make_error(model::Reason::kTooManyTrees, "{} trees; allowed are {}",
                                    trees->size(), limits::kMaxTrees);
        for (const auto& value : *trees) {
            const size_t number = out_.ensemble.trees.size();
            if (!value.is_object())
                return bad_model(fmt::format("tree {} is not an object", number));
            auto tree = read_tree(value.get_object());
            if (!tree) return tree.error().with_context(fmt::format("tree {}", number));
            out_.ensemble.trees.push_back(std::move(*tree));
        }
        RAMPART_RETURN_IF_ERROR(model::validate(out_.ensemble, schema_));
        return std::move(out_);
    }

  private:
    struct Arrays {
        std::vector<double> left, right, feature, condition, default_left, gain, cover, type;
        std::map<size_t, std::pair<size_t, size_t>> sets;  // by node: first and count in categories
        std::vector<double> categories;
    };

    base::Status read_learner(const json::object& learner) {
        RAMPART_TRY(const auto* parameters, object_at(learner, "learner_model_param"));
        RAMPART_TRY(const double classes, parameter(*parameters, "num_class", 0));
        RAMPART_TRY(const double targets, parameter(*parameters, "num_target", 1));
        RAMPART_TRY(const double features, parameter(*parameters, "num_feature", 0));
        if (classes > 1 || targets != 1)
            return unsupported("several classes or targets: only models of one output can be read");
        if (!(features >= 1) || features > 1e6 || features != std::floor(features))
            return bad_model("num_feature is missing or not a number of features");
        RAMPART_TRY(const auto* objective, object_at(learner, "objective"));
        out_.objective = std::string(text_at(*objective, "name").substr(0, 100));
        RAMPART_TRY(const double base, parameter(*parameters, "base_score", 0.5));
        RAMPART_RETURN_IF_ERROR(set_base(base));
        if (learner.contains("feature_names")) {
            RAMPART_TRY(const auto* names, array_at(learner, "feature_names"));
            for (const auto& name : *names) {
                if (!name.is_string())
                    return bad_model("feature_names contains a value that is not a text");
                names_.emplace_back(name.get_string());
            }
        }
        RAMPART_TRY(places_,
                    match_features(names_, static_cast<size_t>(features), schema_, out_.notes));
        return base::ok();
    }

    /// Sets the base score. base_score is a prediction of the objective, not the initial margin.
    base::Status set_base(double base) {
        if (out_.objective == "binary:logistic" || out_.objective == "reg:logistic") {
            if (!(base > 0 && base < 1))
                return bad_model(fmt::format("base_score is {}, which is not a probability", base));
            out_.raw = RawScore::kLogOdds;
            out_.ensemble.base_score = -std::log(1 / base - 1);
        } else if (out_.objective == "reg:squarederror" || out_.objective == "reg:absoluteerror" ||
                   out_.objective == "reg:pseudohubererror") {
            out_.raw = RawScore::kValue;
            out_.ensemble.base_score = base;
        } else {
            return unsupported(fmt::format("the objective '{}'", out_.objective));
        }
        return base::ok();
    }

    Result<model::Tree> read_tree(const json::object& tree) {
        RAMPART_TRY(const auto* parameters, object_at(tree, "tree_param"));
        RAMPART_TRY(const double size, parameter(*parameters, "size_leaf_vector", 1));
        if (size > 1) return unsupported("a tree whose leaves are vectors");
        RAMPART_TRY(const Arrays arrays, read_arrays(tree));
        return build_tree(0, [&](int64_t at) { return read_node(arrays, at); });
    }

    static Result<Arrays> read_arrays(const json::object& tree) {
        Arrays a;
        RAMPART_TRY(const auto* left, array_at(tree, "left_children"));
        const size_t n = left->size();
        RAMPART_TRY(a.left, numbers_at(tree, "left_children", n));
        RAMPART_TRY(a.right, numbers_at(tree, "right_children", n));
        RAMPART_TRY(a.feature, numbers_at(tree, "split_indices", n));
        RAMPART_TRY(a.condition, numbers_at(tree, "split_conditions", n));
        RAMPART_TRY(a.default_left, numbers_at(tree, "default_left", n));
        RAMPART_TRY(a.gain, optional_numbers(tree, "loss_changes", n));
        RAMPART_TRY(a.cover, optional_numbers(tree, "sum_hessian", n));
        RAMPART_TRY(a.type, optional_numbers(tree, "split_type", n));
        if (!tree.contains("categories_nodes")) return a;
        RAMPART_TRY(const auto* nodes, array_at(tree, "categories_nodes"));
        RAMPART_TRY(const auto of, numbers_at(tree, "categories_nodes", nodes->size()));
        RAMPART_TRY(const auto first, numbers_at(tree, "categories_segments", of.size()));
        RAMPART_TRY(const auto count, numbers_at(tree, "categories_sizes", of.size()));
        RAMPART_TRY(const auto* categories, array_at(tree, "categories"));
        RAMPART_TRY(a.categories, numbers_at(tree, "categories", categories->size()));
        const auto most = static_cast<double>(a.categories.size());
        for (size_t i = 0; i < of.size(); ++i) {
            const bool fits = of[i] >= 0 && of[i] < static_cast<double>(n) && first[i] >= 0 &&
                              count[i] >= 0 && first[i] + count[i] <= most;
            if (!fits) return bad_model("the lists of categories are inconsistent");
            a.sets[static_cast<size_t>(of[i])] = {static_cast<size_t>(first[i]),
                                                  static_cast<size_t>(count[i])};
        }
        return a;
    }

    Result<ForeignNode> read_node(const Arrays& a, int64_t number) const {
        if (number < 0 || static_cast<size_t>(number) >= a.left.size())
            return bad_model("there is no such node");
        const auto at = static_cast<size_t>(number);
        ForeignNode out;
        out.node.cover = a.cover[at];
        if (a.left[at] == -1 && a.right[at] == -1) {
            out.leaf = true;
            out.node.value = static_cast<double>(static_cast<float>(a.condition[at]));
            return out;
        }
        const auto child = [&](double x) {
            return x >= 0 && x < static_cast<double>(a.left.size()) ? static_cast<int64_t>(x) : -1;
        };
        out.left = child(a.left[at]);
        out.right = child(a.right[at]);
        RAMPART_TRY(const size_t feature, schema_feature(a.feature[at]));
        out.node.feature = static_cast<int32_t>(feature);
        out.node.gain = a.gain[at];
        out.node.default_left = a.default_left[at] != 0;
        if (a.type[at] == 1) {
            out.categorical = true;
            RAMPART_TRY(out.categories, read_set(a, at, feature));
            return out;
        }
        RAMPART_TRY(out.node.threshold, float_below(static_cast<float>(a.condition[at])));
        return out;
    }

    Result<size_t> schema_feature(double feature) const {
        if (!(feature >= 0) || feature >= static_cast<double>(places_.size()))
            return bad_model(fmt::format("splits feature {} of {}", feature, places_.size()));
        const auto at = static_cast<size_t>(feature);
        if (places_[at]) return *places_[at];
        return base::make_error(
            base::Reason::kUnknownFeature,
            "the model reads '{}', which the schema does not have: add it",
            names_.empty() ? fmt::format("f{}", at) : names_[at].substr(0, 100));
    }

    /// Reads a category set: the listed categories go right, all others left.
    Result<std::vector<uint64_t>> read_set(const Arrays& a, size_t node, size_t feature) const {
        const auto& spec = schema_.features()[feature];
        if (spec.kind != dataset::FeatureKind::kCategorical) {
            return base::make_error(
                model::Reason::kWrongSplitKind,
                "the model splits '{}' by categories, but it is numeric in the schema: make it "
                "categorical and list its categories",
                spec.name);
        }
        const auto found = a.sets.find(node);
        if (found == a.sets.end()) return bad_model("a categorical split without categories");
        const CategoryCodes codes(schema_, feature);
        std::vector<uint64_t> bits((codes.count() + 63) / 64, 0);
        for (size_t code = 0; code < codes.count(); ++code)
            bits[code / 64] |= uint64_t{1} << code % 64;
        const auto [first, count] = found->second;
        for (size_t i = first; i < first + count; ++i) {
            if (!(std::abs(a.categories[i]) < 1e9)) return bad_model("a category out of range");
            RAMPART_TRY(const size_t code, codes.of_number(static_cast<int64_t>(a.categories[i])));
            bits[code / 64] &= ~(uint64_t{1} << code % 64);
        }
        return bits;
    }

    const dataset::FeatureSchema& schema_;
    ForeignModel out_;
    std::vector<std::string> names_;
    std::vector<std::optional<size_t>> places_;  // schema index of each of the model's features
};

}  // namespace

base::Result<ForeignModel> read_xgboost(std::string_view text,
                                        const dataset::FeatureSchema& schema) {
    return XgboostReader(schema).read(text);
}

}  // namespace rampart::model_exchange
