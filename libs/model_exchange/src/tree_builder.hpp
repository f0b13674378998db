#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/model_exchange/foreign_model.hpp"

namespace rampart::model_exchange {

/// A node of a foreign tree, in the numbering of its format.
struct ForeignNode {
    bool leaf = false;
    model::TreeNode node;         // without children and categories
    int64_t left = 0, right = 0;  // the reader's own numbers of children
    bool categorical = false;
    std::vector<uint64_t> categories;  // bits of schema codes that go left
};

/// Builds a tree from its root: children after parents, each node reached once, within the limits.
/// `read` returns a node by its number in the foreign format, or an error.
base::Result<model::Tree> build_tree(int64_t root,
                                     const std::function<base::Result<ForeignNode>(int64_t)>& read);

/// Returns the largest float not above x. Fails with out_of_range if there is none.
base::Result<float> float_at_most(double x);
/// Returns the largest float below x.
base::Result<float> float_below(float x);

/// Maps a foreign model's category numbers to schema codes.
class CategoryCodes {
  public:
    CategoryCodes(const dataset::FeatureSchema& schema, size_t feature);
    /// Finds the category with this number, or the position if no category is a number.
    base::Result<size_t> of_number(int64_t number) const;
    /// Finds the category by its text.
    base::Result<size_t> of_text(std::string_view text) const;
    size_t count() const;
    bool by_position() const { return by_position_; }

  private:
    base::Error unknown(std::string_view category) const;
    const dataset::FeatureSchema& schema_;
    size_t feature_;
    bool by_position_;
};

base::Error bad_model(std::string_view what);

}  // namespace rampart::model_exchange
