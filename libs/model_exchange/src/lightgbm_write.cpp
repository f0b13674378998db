#include <algorithm>
#include <boost/json.hpp>
#include <cctype>
#include <cmath>

#include "rampart/model_exchange/lightgbm_text.hpp"
#include "rampart/model_exchange/reasons.hpp"

namespace rampart::model_exchange {
namespace {

constexpr int kCategorical = 1, kDefaultLeft = 2, kMissingIsNan = 2 << 2;

/// Returns a feature's name for the file. LightGBM writes names without white space, and cannot
/// read names that JSON would have to escape.
base::Result<std::string> name_text(std::string_view name) {
    std::string out(name);
    for (char& c : out) {
        if (std::isspace(static_cast<unsigned char>(c)) != 0) c = '_';
        if (std::string_view(",[]{}\":").find(c) == std::string_view::npos) continue;
        return base::make_error(Reason::kUnsupportedName,
                                "LightGBM does not allow '{}' in a feature's name: rename '{}'", c,
                                name);
    }
    return out;
}

template <class Number>
void append(std::string& line, Number number) {
    fmt::format_to(std::back_inserter(line), "{}{}", line.ends_with('=') ? "" : " ", number);
}

/// The lines of one tree.
class TreeText {
  public:
    TreeText(const model::Tree& tree, const dataset::FeatureSchema& schema, double base)
        : tree_(tree), schema_(schema), base_(base) {
        int32_t inner = 0, leaves = 0;
        for (const auto& node : tree.nodes)
            numbers_.push_back(node.feature < 0 ? ~leaves++ : inner++);
        leaves_ = leaves;
    }

    std::string write() {
        for (size_t i = 0; i < tree_.nodes.size(); ++i) {
            tree_.nodes[i].feature < 0 ? add_leaf(tree_.nodes[i]) : add_split(tree_.nodes[i]);
        }
        auto out = fmt::format("num_leaves={}\nnum_cat={}\n", leaves_, sets_);
        if (leaves_ > 1) {
            for (const auto* line : {&feature_, &gain_, &threshold_, &type_, &left_, &right_})
                out += *line + "\n";
        }
        out += value_ + "\n";
        if (leaves_ > 1) {
            for (const auto* line :
                 {&leaf_weight_, &leaf_count_, &inner_value_, &inner_weight_, &inner_count_})
                out += *line + "\n";
        }
        if (sets_ > 0) out += boundaries_ + "\n" + words_ + "\n";
        return out + "is_linear=0\nshrinkage=1\n\n\n";
    }

  private:
    static long long count_of(const model::TreeNode& node) {
        return std::llround(std::min(node.cover, 2e9));
    }

    void add_leaf(const model::TreeNode& node) {
        append(value_, node.value + base_);
        append(leaf_weight_, node.cover);
        append(leaf_count_, count_of(node));
    }

    void add_split(const model::TreeNode& node) {
        append(feature_, node.feature);
        append(gain_, node.gain);
        append(inner_value_, 0);
        append(inner_weight_, node.cover);
        append(inner_count_, count_of(node));
        auto left = numbers_[static_cast<size_t>(node.left)];
        auto right = numbers_[static_cast<size_t>(node.right)];
        if (node.categories < 0) {
            append(threshold_, static_cast<double>(node.threshold));
            append(type_, kMissingIsNan + (node.default_left ? kDefaultLeft : 0));
        } else {
            // a missing category goes right in LightGBM: if it goes left here, the sides are
            // exchanged
            append(threshold_, sets_);
            append(type_, kCategorical);
            add_set(node);
            if (node.default_left) std::swap(left, right);
        }
        append(left_, left);
        append(right_, right);
    }

    void add_set(const model::TreeNode& node) {
        const auto& set = tree_.category_sets[static_cast<size_t>(node.categories)];
        const auto& spec = schema_.features()[static_cast<size_t>(node.feature)];
        const size_t codes = spec.categories.size();
        std::vector<uint32_t> words(codes / 32 + 1, 0);
        for (size_t code = 0; code < codes; ++code) {
            const bool in = code / 64 < set.size() && (set[code / 64] >> code % 64 & 1) != 0;
            if (in != node.default_left) words[code / 32] |= 1u << code % 32;
        }
        for (const uint32_t word : words) append(words_, word);
        words_count_ += words.size();
        append(boundaries_, words_count_);
        ++sets_;
    }

    const model::Tree& tree_;
    const dataset::FeatureSchema& schema_;
    double base_;
    std::vector<int32_t> numbers_;  // LightGBM's number of each node
    int32_t leaves_ = 0;
    int sets_ = 0;
    size_t words_count_ = 0;
    std::string feature_ = "split_feature=", gain_ = "split_gain=", threshold_ = "threshold=",
                type_ = "decision_type=", left_ = "left_child=", right_ = "right_child=",
                value_ = "leaf_value=", leaf_weight_ = "leaf_weight=", leaf_count_ = "leaf_count=",
                inner_value_ = "internal_value=", inner_weight_ = "internal_weight=",
                inner_count_ = "internal_count=", boundaries_ = "cat_boundaries=0",
                words_ = "cat_threshold=";
};

/// Returns the categories of the categorical features in the form of Python's data frames.
std::string pandas_categories(const dataset::FeatureSchema& schema) {
    boost::json::array lists;
    for (const auto& spec : schema.features()) {
        if (spec.kind != dataset::FeatureKind::kCategorical) continue;
        boost::json::array list;
        for (const auto& category : spec.categories) list.emplace_back(category);
        lists.emplace_back(std::move(list));
    }
    return lists.empty() ? "null" : boost::json::serialize(lists);
}

}  // namespace

base::Result<std::string> write_lightgbm(const model::Ensemble& ensemble,
                                         const dataset::FeatureSchema& schema) {
    std::string names = "feature_names=", infos = "feature_infos=";
    for (const auto& spec : schema.features()) {
        RAMPART_TRY(const auto name, name_text(spec.name));
        append(names, name);
        std::string codes;
        for (size_t c = 0; c < spec.categories.size(); ++c)
            codes += fmt::format("{}{}", c == 0 ? "" : ":", c);
        append(infos, codes.empty() ? "[-1e+300:1e+300]" : codes);
    }
    std::vector<model::Tree> trees = ensemble.trees;
    if (trees.empty()) trees.push_back({.nodes = {{}}, .category_sets = {}});
    for (const auto& node : trees.front().nodes) {
        if (std::abs(node.value + ensemble.base_score) <= model::kMaxRawValue) continue;
        return base::make_error(Reason::kScoreTooLarge,
                                "a leaf of the first tree and the base score are {} together; "
                                "allowed is a magnitude up to {}",
                                node.value + ensemble.base_score, model::kMaxRawValue);
    }
    std::string sizes = "tree_sizes=", body;
    for (size_t t = 0; t < trees.size(); ++t) {
        const auto text = fmt::format(
            "Tree={}\n{}", t, TreeText(trees[t], schema, t == 0 ? ensemble.base_score : 0).write());
        append(sizes, text.size());
        body += text;
    }
    return fmt::format(
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\n"
        "max_feature_idx={}\nobjective=binary sigmoid:1\n{}\n{}\n{}\n\n{}end of trees\n\n"
        "feature_importances:\n\nparameters:\n\nend of parameters\n\npandas_categorical:{}\n",
        schema.size() - 1, names, infos, sizes, body, pandas_categories(schema));
}

}  // namespace rampart::model_exchange
