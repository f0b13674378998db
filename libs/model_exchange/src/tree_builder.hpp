#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/model_exchange/foreign_model.hpp"

namespace rampart::model_exchange {

/// A node of a foreign tree, in its own numbers.
struct ForeignNode {
    bool leaf = false;
    model::TreeNode node;         // without children and categories
    int64_t left = 0, right = 0;  // the reader's own numbers of children
    bool categorical = false;
    std::vector<uint64_t> categories;  // bits of schema codes that go left
};

/// Lays a tree out from its root: children after parents, each node reached once, no more than
/// limits allow. `read` gives a node by the reader's own number, or says what is wrong with it.
base::Result<model::Tree> build_tree(int64_t root,
                                     const std::function<base::Result<ForeignNode>(int64_t)>& read);

/// The largest float not above x. Error: out_of_range if all floats are above it, or it is none.
base::Result<float> float_at_most(double x);
/// The largest float below x.
base::Result<float> float_below(float x);

/// Finds schema codes for the numbers that a foreign model has for categories.
class CategoryCodes {
  public:
    CategoryCodes(const dataset::FeatureSchema& schema, size_t feature);
    /// By the schema's category that reads as the number, or by position if none reads as one.
    base::Result<size_t> of_number(int64_t number) const;
    /// By its text.
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
