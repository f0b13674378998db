#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A reader of ONNX files and of their trees, by the words of the standard (onnx.ai: TreeEnsemble-
/// Regressor of ai.onnx.ml 3). It shares nothing with the writer, and throws at what it does not
/// know.
namespace rampart::model_exchange {

/// The fields of a protobuf message by number, each in the order of the file.
struct ProtoFields {
    std::map<uint32_t, std::vector<std::string_view>> texts;
    std::map<uint32_t, std::vector<uint64_t>> numbers;

    std::string_view text(uint32_t field) const { return texts.at(field).at(0); }
    uint64_t number(uint32_t field) const { return numbers.at(field).at(0); }
};

inline uint64_t take_varint(std::string_view& bytes) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        const auto byte = static_cast<unsigned char>(bytes.at(0));
        bytes.remove_prefix(1);
        value |= uint64_t{byte & 0x7fu} << shift;
        if (byte < 0x80) return value;
    }
}

inline ProtoFields proto_fields(std::string_view bytes) {
    ProtoFields out;
    while (!bytes.empty()) {
        const uint64_t tag = take_varint(bytes);
        const auto field = static_cast<uint32_t>(tag >> 3);
        if ((tag & 7) == 0) {
            out.numbers[field].push_back(take_varint(bytes));
        } else if ((tag & 7) == 2) {
            const uint64_t size = take_varint(bytes);
            if (size > bytes.size()) throw std::runtime_error("a field goes beyond its message");
            out.texts[field].push_back(bytes.substr(0, size));
            bytes.remove_prefix(size);
        } else {
            throw std::runtime_error("a field of another wire type");
        }
    }
    return out;
}

class OnnxModel {
  public:
    explicit OnnxModel(std::string_view file) : model_(proto_fields(file)) {
        const auto graph = proto_fields(model_.text(7));
        for (const auto bytes : graph.texts.at(1)) {
            const auto node = proto_fields(bytes);
            operators_.emplace_back(node.text(4));
            if (operators_.back() == "TreeEnsembleRegressor") read_trees(node);
        }
    }

    const std::vector<std::string>& operators() const { return operators_; }
    /// The sum of the trees for a row of floats, which are compared as doubles.
    double raw_score(std::span<const float> row) const {
        double sum = 0;
        for (int64_t tree = 0; tree <= last_tree_; ++tree) sum += leaf_of(tree, row);
        return sum;
    }
    size_t nodes() const { return nodes_.size(); }
    const ProtoFields& message() const { return model_; }

  private:
    struct Node {
        std::string_view mode;
        size_t feature;
        double value;
        int64_t yes, no;
        bool missing_is_yes;
    };

    double leaf_of(int64_t tree, std::span<const float> row) const {
        int64_t at = 0;
        while (true) {
            const auto& node = nodes_.at({tree, at});
            if (node.mode == "LEAF") return leaves_.at({tree, at});
            const double x = static_cast<double>(row[node.feature]);
            bool yes = node.mode == "BRANCH_EQ" ? x == node.value : x <= node.value;
            if (node.mode != "BRANCH_EQ" && node.mode != "BRANCH_LEQ")
                throw std::runtime_error("another mode");
            if (std::isnan(x)) yes = node.missing_is_yes;
            at = yes ? node.yes : node.no;
        }
    }

    void read_trees(const ProtoFields& node) {
        std::map<std::string, ProtoFields> attributes;
        for (const auto bytes : node.texts.at(5)) {
            auto one = proto_fields(bytes);
            const std::string name(one.text(1));
            attributes[name] = std::move(one);
        }
        const auto integers = [&](const char* name) {
            std::vector<int64_t> out;
            auto packed = attributes.at(name).text(8);
            while (!packed.empty()) out.push_back(static_cast<int64_t>(take_varint(packed)));
            return out;
        };
        const auto doubles = [&](const char* name) {
            const auto tensor = proto_fields(attributes.at(name).text(5));
            if (tensor.number(2) != 11) throw std::runtime_error("no tensor of doubles");
            const auto raw = tensor.text(9);
            std::vector<double> out;
            for (size_t at = 0; at + 8 <= raw.size(); at += 8) {
                uint64_t bits = 0;
                for (size_t i = 8; i-- > 0;)
                    bits = bits << 8 | static_cast<unsigned char>(raw[at + i]);
                out.push_back(std::bit_cast<double>(bits));
            }
            if (out.size() != tensor.number(1)) throw std::runtime_error("a tensor of other size");
            return out;
        };
        const auto trees = integers("nodes_treeids"), numbers = integers("nodes_nodeids"),
                   features = integers("nodes_featureids"), yes = integers("nodes_truenodeids"),
                   no = integers("nodes_falsenodeids"),
                   missing = integers("nodes_missing_value_tracks_true");
        const auto values = doubles("nodes_values_as_tensor");
        const auto& modes = attributes.at("nodes_modes").texts.at(9);
        for (size_t i = 0; i < trees.size(); ++i) {
            last_tree_ = trees.at(i);
            nodes_[{trees.at(i), numbers.at(i)}] = {
                modes.at(i),  static_cast<size_t>(features.at(i)),
                values.at(i), yes.at(i),
                no.at(i),     missing.at(i) != 0};
        }
        const auto leaf_trees = integers("target_treeids"),
                   leaf_numbers = integers("target_nodeids");
        const auto weights = doubles("target_weights_as_tensor");
        for (size_t i = 0; i < weights.size(); ++i)
            leaves_[{leaf_trees.at(i), leaf_numbers.at(i)}] = weights.at(i);
    }

    ProtoFields model_;
    std::vector<std::string> operators_;
    int64_t last_tree_ = -1;
    std::map<std::pair<int64_t, int64_t>, Node> nodes_;
    std::map<std::pair<int64_t, int64_t>, double> leaves_;
};

}  // namespace rampart::model_exchange
