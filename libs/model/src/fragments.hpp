#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "cut_columns.hpp"
#include "rampart/model/ensemble.hpp"

/// Trees whose splits are all evaluated at once: the AVX2 form of Engine.
namespace rampart::model {

/// Up to 31 connected nodes of a tree and their up to 32 exits: leaves, or nodes that are the
/// roots of other fragments.
///
/// Nodes and exits are numbered from left to right: node i lies between exits i and i + 1, and its
/// left subtree has the exits a_i to i. If it sends the row right, it excludes those. The exit
/// taken is the first one left: exit e remains iff a_i > e for each node i >= e that sends right.
/// (All exits to its left are in the left subtree of a node that sent the row right.)
///
/// Based on C. Lucchese et al., "QuickScorer" (SIGIR 2015), which excludes leaves by bit masks.
struct Fragment {
    static constexpr size_t kNodes = 32, kExits = 32;

    std::array<uint8_t, kNodes> column{};  // categorical: 0, whose byte is kMissingByte
    std::array<uint8_t, kNodes> cut{};
    std::array<uint8_t, kNodes> reach{};  // 255 - a_i; no node: 0, excludes nothing
    uint32_t default_left = 0;            // bit i: numeric node i sends missing left
    uint32_t deeper = 0;                  // bit e: exit e leads into another fragment
    uint32_t exits = 0;                   // in Fragments::exits: of exit 0
    uint32_t words = 0, word_count = 0;   // categorical splits: in Fragments::words
};

/// Results of a fragment's splits on one categorical feature, by code: bit i is set iff node i
/// sends that code left.
struct CodeWords {
    uint32_t feature = 0;  // in Fragments::codes
    uint32_t slot = 0;     // position of this fragment among those that use the feature
};

/// A categorical feature: codes, then missing, then invalid codes. The results of one code for all
/// fragments that use the feature are adjacent: a row touches few cache lines.
struct CodeFeature {
    uint32_t feature = 0, codes = 0;
    uint32_t first = 0, askers = 0;  // results of code c: from first + c · askers on
};

class Fragments {
  public:
    static constexpr size_t kMostColumns = 255, kMostCodes = 4096, kMostCodeFeatures = 256;
    static constexpr size_t kMostAnswers = size_t{1} << 26;

    /// Returns nullopt if the ensemble does not fit: too many columns of cuts, codes, or
    /// categorical features.
    static std::optional<Fragments> create(const Ensemble& ensemble);
    /// Returns sum + all trees' leaf values, added in tree order. Needs AVX2.
    double add(double sum, const float* row) const;
    /// Sets sums[t] = sum + the first t + 1 trees' leaf values. sums.size() <= number of trees.
    void add_each(double sum, const float* row, std::span<double> sums) const;

  private:
    /// An exit into a fragment that is not built yet.
    struct OpenExit {
        size_t node;
        size_t place;  // index in exits_ for its number
    };

    explicit Fragments(CutColumns cuts) : cuts_(std::move(cuts)) {}
    void add_tree(const Tree& tree);
    uint32_t add_fragment(const Tree& tree, size_t root, std::vector<OpenExit>& open);
    void add_words(Fragment& fragment, const Tree& tree, std::span<const size_t> nodes);
    void lay_out_answers();
    bool make_bytes(const float* row, uint8_t* bytes) const;
    void make_codes(const float* row, uint32_t* codes) const;
    /// An encoded row.
    struct Encoded {
        const uint8_t* bytes;
        const uint32_t* codes;
    };
    template <size_t kTables, bool kMissing, bool kEach>
    double add_with(double sum, const Encoded& row, std::span<double> sums) const;
    template <bool kMissing, bool kEach>
    double add_bytes(double sum, const Encoded& row, std::span<double> sums) const;
    /// Adds a row. kEach: writes sums as in add_each; otherwise all trees, and sums is empty.
    template <bool kEach>
    double add_row(double sum, const float* row, std::span<double> sums) const;

    CutColumns cuts_;
    std::vector<CodeFeature> codes_;
    std::map<uint32_t, uint32_t> code_place_;  // feature -> place in codes_
    std::vector<Fragment> fragments_;
    std::vector<double> exits_;  // per fragment: leaf values, or the number of the next fragment
    std::vector<CodeWords> words_;
    std::vector<uint32_t> answers_;
    std::vector<std::vector<uint32_t>> asked_;  // for building: by feature, by fragment
    size_t asked_count_ = 0;
    std::vector<uint32_t> roots_;  // first fragment of each tree
};

}  // namespace rampart::model
