#include <algorithm>
#include <boost/json.hpp>

#include "proto_writer.hpp"
#include "rampart/model_exchange/onnx.hpp"
#include "rampart/model_exchange/reasons.hpp"

namespace rampart::model_exchange {
namespace {

/// The numbers of the fields that are written, and of their constants, as the ONNX standard
/// publishes them (onnx.ai, "ONNX IR": onnx.proto3 of IR version 8). A published number of a
/// protobuf field never changes.
namespace field {
enum Model : uint32_t {
    kIrVersion = 1,
    kProducer = 2,
    kModelDoc = 6,
    kGraph = 7,
    kOpsets = 8,
    kMetadata = 14
};
enum Entry : uint32_t { kKey = 1, kValue = 2 };
enum Opset : uint32_t { kOpsetDomain = 1, kOpsetVersion = 2 };
enum Graph : uint32_t { kNodes = 1, kGraphName = 2, kInputs = 11, kOutputs = 12 };
enum Node : uint32_t { kFrom = 1, kTo = 2, kOperator = 4, kAttributes = 5, kDomain = 7 };
enum Attribute : uint32_t {
    kName = 1,
    kInteger = 3,
    kText = 4,
    kTensor = 5,
    kIntegers = 8,
    kTexts = 9,
    kKind = 20
};
enum Tensor : uint32_t { kDims = 1, kTensorType = 2, kTensorName = 8, kRaw = 9 };
enum Value : uint32_t { kValueName = 1, kValueType = 2 };
enum Type : uint32_t { kTensorOf = 1 };
enum TensorOf : uint32_t { kElement = 1, kShape = 2 };
enum Shape : uint32_t { kDim = 1 };
enum Dimension : uint32_t { kDimValue = 1, kDimName = 2 };
}  // namespace field

constexpr int64_t kIrVersionWritten = 8, kOnnxOpset = 13, kMlOpset = 3;
constexpr int64_t kFloat = 1, kDouble = 11;  // types of tensors
constexpr int64_t kIsInteger = 2, kIsText = 3, kIsTensor = 4, kAreIntegers = 7, kAreTexts = 8;
constexpr std::string_view kMl = "ai.onnx.ml";
constexpr double kNoCode = -1;

/// The attributes of a TreeEnsembleRegressor: its nodes and leaves, each in parallel lists.
class TreeLists {
  public:
    explicit TreeLists(const dataset::FeatureSchema& schema) : schema_(schema) {}

    /// Adds a tree. A split by categories becomes a chain of questions "is it this category?",
    /// each answered yes by the same child.
    base::Status add(const model::Tree& tree) {
        std::vector<std::vector<double>> asked(tree.nodes.size());
        std::vector<int64_t> first(tree.nodes.size());  // the number of a node's first question
        size_t count = 0;
        for (size_t i = 0; i < tree.nodes.size(); ++i) {
            first[i] = static_cast<int64_t>(count);
            asked[i] = questions(tree, tree.nodes[i]);
            count += asked[i].size();
            if (trees_.size() + count > kMaxOnnxNodes)
                return base::make_error(Reason::kTooManyNodes,
                                        "the trees have more than {} nodes in ONNX, where a split "
                                        "by categories is one for each category of its smaller "
                                        "side",
                                        kMaxOnnxNodes);
        }
        for (size_t i = 0; i < tree.nodes.size(); ++i) {
            const auto& node = tree.nodes[i];
            if (node.feature < 0) {
                add_leaf(first[i], node.value);
                continue;
            }
            auto yes = first[static_cast<size_t>(node.left)];
            auto no = first[static_cast<size_t>(node.right)];
            bool missing_is_yes = node.default_left;
            if (node.categories >= 0 && !lists_left(tree, node)) {
                std::swap(yes, no);
                missing_is_yes = !missing_is_yes;
            }
            for (size_t q = 0; q < asked[i].size(); ++q) {
                const int64_t number = first[i] + static_cast<int64_t>(q);
                add_node(number, node.feature, asked[i][q],
                         node.categories < 0 ? "BRANCH_LEQ" : "BRANCH_EQ", yes,
                         q + 1 < asked[i].size() ? number + 1 : no, missing_is_yes);
            }
        }
        ++tree_;
        return base::ok();
    }

    /// Adds a tree of one leaf.
    void add_constant(double value) {
        add_leaf(0, value);
        ++tree_;
    }

    void write_to(ProtoWriter& node) const {
        const auto integers = [&](std::string_view name, const std::vector<int64_t>& values) {
            ProtoWriter out;
            out.text(field::kName, name).packed(field::kIntegers, values);
            node.message(field::kAttributes, out.number(field::kKind, kAreIntegers));
        };
        const auto doubles = [&](std::string_view name, const std::vector<double>& values) {
            ProtoWriter tensor;
            tensor.number(field::kDims, static_cast<int64_t>(values.size()))
                .number(field::kTensorType, kDouble)
                .text(field::kTensorName, name)
                .text(field::kRaw, little_endian(values));
            ProtoWriter out;
            out.text(field::kName, name).message(field::kTensor, tensor);
            node.message(field::kAttributes, out.number(field::kKind, kIsTensor));
        };
        integers("nodes_treeids", trees_);
        integers("nodes_nodeids", numbers_);
        integers("nodes_featureids", features_);
        integers("nodes_truenodeids", yes_);
        integers("nodes_falsenodeids", no_);
        integers("nodes_missing_value_tracks_true", missing_);
        doubles("nodes_values_as_tensor", values_);
        ProtoWriter modes;
        modes.text(field::kName, "nodes_modes");
        for (const auto mode : modes_) modes.text(field::kTexts, mode);
        node.message(field::kAttributes, modes.number(field::kKind, kAreTexts));
        integers("target_treeids", leaf_trees_);
        integers("target_nodeids", leaf_numbers_);
        integers("target_ids", std::vector<int64_t>(leaves_.size(), 0));
        doubles("target_weights_as_tensor", leaves_);
        ProtoWriter targets;
        targets.text(field::kName, "n_targets").number(field::kInteger, 1);
        node.message(field::kAttributes, targets.number(field::kKind, kIsInteger));
        for (const auto& [name, value] :
             {std::pair{"aggregate_function", "SUM"}, {"post_transform", "NONE"}}) {
            ProtoWriter text;
            text.text(field::kName, name).text(field::kText, value);
            node.message(field::kAttributes, text.number(field::kKind, kIsText));
        }
    }

  private:
    size_t codes_of(const model::TreeNode& node) const {
        return schema_.features()[static_cast<size_t>(node.feature)].categories.size();
    }

    static bool goes_left(const model::Tree& tree, const model::TreeNode& node, size_t code) {
        const auto& set = tree.category_sets[static_cast<size_t>(node.categories)];
        return code / 64 < set.size() && (set[code / 64] >> code % 64 & 1) != 0;
    }

    size_t left_codes(const model::Tree& tree, const model::TreeNode& node) const {
        size_t left = 0;
        for (size_t code = 0; code < codes_of(node); ++code)
            left += goes_left(tree, node, code) ? 1 : 0;
        return left;
    }

    /// Returns whether the categories that go left are asked for, and not those that go right.
    bool lists_left(const model::Tree& tree, const model::TreeNode& node) const {
        return 2 * left_codes(tree, node) <= codes_of(node);
    }

    /// Returns what a node compares with: a threshold, or the categories of its smaller side. Where
    /// this side has none, no category is asked for, so that only missing is answered yes.
    std::vector<double> questions(const model::Tree& tree, const model::TreeNode& node) const {
        if (node.feature < 0) return {0};
        if (node.categories < 0) return {static_cast<double>(node.threshold)};
        const bool left = lists_left(tree, node);
        std::vector<double> codes;
        for (size_t code = 0; code < codes_of(node); ++code)
            if (goes_left(tree, node, code) == left) codes.push_back(static_cast<double>(code));
        if (codes.empty()) codes.push_back(kNoCode);
        return codes;
    }

    void add_node(int64_t number, int64_t feature, double value, std::string_view mode, int64_t yes,
                  int64_t no, bool missing_is_yes) {
        trees_.push_back(tree_);
        numbers_.push_back(number);
        features_.push_back(feature);
        values_.push_back(value);
        modes_.push_back(mode);
        yes_.push_back(yes);
        no_.push_back(no);
        missing_.push_back(missing_is_yes ? 1 : 0);
    }

    void add_leaf(int64_t number, double value) {
        add_node(number, 0, 0, "LEAF", 0, 0, false);
        leaf_trees_.push_back(tree_);
        leaf_numbers_.push_back(number);
        leaves_.push_back(value);
    }

    const dataset::FeatureSchema& schema_;
    int64_t tree_ = 0;
    std::vector<int64_t> trees_, numbers_, features_, yes_, no_, missing_;
    std::vector<double> values_;
    std::vector<std::string_view> modes_;
    std::vector<int64_t> leaf_trees_, leaf_numbers_;
    std::vector<double> leaves_;
};

/// Describes an input or output: float32 [rows, columns].
ProtoWriter table(std::string_view name, size_t columns) {
    ProtoWriter rows, width, shape, tensor, type, out;
    rows.text(field::kDimName, "rows");
    width.number(field::kDimValue, static_cast<int64_t>(columns));
    shape.message(field::kDim, rows).message(field::kDim, width);
    tensor.number(field::kElement, kFloat).message(field::kShape, shape);
    type.message(field::kTensorOf, tensor);
    return out.text(field::kValueName, name).message(field::kValueType, type);
}

ProtoWriter node(std::string_view from, std::string_view to, std::string_view op) {
    ProtoWriter out;
    return out.text(field::kFrom, from).text(field::kTo, to).text(field::kOperator, op);
}

ProtoWriter opset(std::string_view domain, int64_t version) {
    ProtoWriter out;
    return out.text(field::kOpsetDomain, domain).number(field::kOpsetVersion, version);
}

/// Lists the features in order, with their categories: a category's code is its position.
std::string features_json(const dataset::FeatureSchema& schema) {
    boost::json::array out;
    for (const auto& spec : schema.features()) {
        boost::json::object one{{"name", spec.name}};
        if (spec.kind == dataset::FeatureKind::kCategorical) {
            auto& list = one["categories"].emplace_array();
            for (const auto& category : spec.categories) list.emplace_back(category);
        }
        out.emplace_back(std::move(one));
    }
    return boost::json::serialize(out);
}

}  // namespace

base::Result<std::string> write_onnx(const model::Ensemble& ensemble,
                                     const dataset::FeatureSchema& schema) {
    TreeLists lists(schema);
    lists.add_constant(ensemble.base_score);
    for (const auto& tree : ensemble.trees) RAMPART_RETURN_IF_ERROR(lists.add(tree));
    ProtoWriter cast = node("features", "doubles", "Cast"), to;
    to.text(field::kName, "to").number(field::kInteger, kDouble);
    cast.message(field::kAttributes, to.number(field::kKind, kIsInteger));
    ProtoWriter trees = node("doubles", "raw_score", "TreeEnsembleRegressor");
    trees.text(field::kDomain, kMl);
    lists.write_to(trees);
    ProtoWriter graph;
    graph.message(field::kNodes, cast)
        .message(field::kNodes, trees)
        .message(field::kNodes, node("raw_score", "probability", "Sigmoid"))
        .text(field::kGraphName, "rampart")
        .message(field::kInputs, table("features", schema.size()))
        .message(field::kOutputs, table("raw_score", 1))
        .message(field::kOutputs, table("probability", 1));
    ProtoWriter metadata, model;
    metadata.text(field::kKey, "rampart.features").text(field::kValue, features_json(schema));
    model.number(field::kIrVersion, kIrVersionWritten)
        .text(field::kProducer, "rampart")
        .text(field::kModelDoc,
              "features: the columns that the metadata rampart.features lists, as float32; "
              "categories as positions in their list; NaN: missing, or a category not listed")
        .message(field::kGraph, graph)
        .message(field::kOpsets, opset("", kOnnxOpset))
        .message(field::kOpsets, opset(kMl, kMlOpset))
        .message(field::kMetadata, metadata);
    return model.bytes();
}

}  // namespace rampart::model_exchange
