#include "tree_builder.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/dataset/text.hpp"
#include "rampart/model_exchange/reasons.hpp"

namespace rampart::model_exchange {

namespace limits = base::limits;

base::Error bad_model(std::string_view what) {
    return base::make_error(Reason::kBadModel, "{}", what);
}

base::Result<model::Tree> build_tree(
    int64_t root, const std::function<base::Result<ForeignNode>(int64_t)>& read) {
    model::Tree tree;
    std::vector<int64_t> numbers{root};
    for (size_t next = 0; next < numbers.size(); ++next) {
        // a tree with a cycle never ends, and is refused here
        if (numbers.size() > 2 * limits::kMaxLeaves - 1) {
            return base::make_error(Reason::kTooManyLeaves,
                                    "more than {} leaves, or a cycle of nodes", limits::kMaxLeaves);
        }
        auto found = read(numbers[next]);
        if (!found) return found.error().with_context(fmt::format("node {}", numbers[next]));
        if (!found->leaf) {
            found->node.left = static_cast<int32_t>(numbers.size());
            found->node.right = found->node.left + 1;
            numbers.insert(numbers.end(), {found->left, found->right});
        }
        if (found->categorical) {
            found->node.categories = static_cast<int32_t>(tree.category_sets.size());
            tree.category_sets.push_back(std::move(found->categories));
        }
        tree.nodes.push_back(found->node);
    }
    return tree;
}

base::Result<float> float_at_most(double x) {
    constexpr float kMost = std::numeric_limits<float>::max();
    if (!(x >= -static_cast<double>(kMost)) || std::isinf(x)) {
        return base::make_error(Reason::kBadThreshold, "the threshold {} is below every float", x);
    }
    if (x >= static_cast<double>(kMost)) return kMost;
    const auto near = static_cast<float>(x);
    return static_cast<double>(near) <= x ? near : std::nextafter(near, -kMost);
}

base::Result<float> float_below(float x) {
    constexpr float kMost = std::numeric_limits<float>::max();
    if (!(x > -kMost) || std::isinf(x)) {
        return base::make_error(Reason::kBadThreshold, "no float is below the threshold {}", x);
    }
    return std::nextafter(x, -kMost);
}

CategoryCodes::CategoryCodes(const dataset::FeatureSchema& schema, size_t feature)
    : schema_(schema), feature_(feature) {
    const auto& categories = schema.features()[feature].categories;
    by_position_ = std::none_of(categories.begin(), categories.end(), [](const auto& text) {
        return dataset::parse_number(text).has_value();
    });
}

size_t CategoryCodes::count() const { return schema_.features()[feature_].categories.size(); }

base::Error CategoryCodes::unknown(std::string_view category) const {
    return base::make_error(
        base::Reason::kUnknownCategory,
        "the model splits on category '{}' of '{}', which the schema does not list: "
        "add it to the feature's categories",
        category.substr(0, 100), schema_.features()[feature_].name);
}

base::Result<size_t> CategoryCodes::of_number(int64_t number) const {
    if (by_position_) {
        if (number >= 0 && static_cast<size_t>(number) < count())
            return static_cast<size_t>(number);
        return unknown(fmt::format("{}", number));
    }
    const auto code = schema_.encode_number(feature_, static_cast<double>(number));
    if (!code || std::isnan(*code)) return unknown(fmt::format("{}", number));
    return static_cast<size_t>(*code);
}

base::Result<size_t> CategoryCodes::of_text(std::string_view text) const {
    const auto code = schema_.encode_text(feature_, text);
    if (!code || std::isnan(*code)) return unknown(text);
    return static_cast<size_t>(*code);
}

}  // namespace rampart::model_exchange
