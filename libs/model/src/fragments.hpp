#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "cut_columns.hpp"
#include "rampart/model/ensemble.hpp"

/// Trees as questions that are all asked at once: the AVX2 form of Engine.
namespace rampart::model {

/// Up to 31 nodes of a tree that hang together, and their up to 32 exits: leaves, or nodes that are
/// the roots of other fragments.
///
/// Nodes and exits are numbered from left to right: node i stands between exits i and i + 1, and
/// below its left side are exits a_i to i. A node that sends the row right closes those. The exit
/// taken is the first that no node closes: exit e is open iff a_i > e for each node i >= e that
/// sends right. (Exits left of the one taken hang left of a node that sent the row right.)
///
/// After C. Lucchese et al., "QuickScorer" (SIGIR 2015), which closes leaves by bit masks.
struct Fragment {
    static constexpr size_t kNodes = 32, kExits = 32;

    std::array<uint8_t, kNodes> column{};  // categorical: 0, whose byte is kMissingByte
    std::array<uint8_t, kNodes> cut{};
    std::array<uint8_t, kNodes> reach{};  // 255 - a_i; no node: 0, closes nothing
    uint32_t default_left = 0;            // bit i: numeric node i sends missing left
    uint32_t deeper = 0;                  // bit e: exit e leads into another fragment
    uint32_t exits = 0;                   // in Fragments::exits: of exit 0
    uint32_t words = 0, word_count = 0;   // categorical questions: in Fragments::words
};

/// Answers to a fragment's questions about one categorical feature, by code: bit i set iff node i
/// sends that code left.
struct CodeWords {
    uint32_t feature = 0;  // in Fragments::codes
    uint32_t slot = 0;     // which of the feature's askers this fragment is
};

/// A categorical feature: codes, then missing, then whatever is no code. What all fragments that
/// ask for it want to know of one code stands side by side: a row needs few cache lines.
struct CodeFeature {
    uint32_t feature = 0, codes = 0;
    uint32_t first = 0, askers = 0;  // answers of code c: from first + c · askers on
};

class Fragments {
  public:
    static constexpr size_t kMostColumns = 255, kMostCodes = 4096, kMostCodeFeatures = 256;
    static constexpr size_t kMostAnswers = size_t{1} << 26;

    /// nullopt if the ensemble does not fit: too many columns of cuts, codes, or categorical
    /// features.
    static std::optional<Fragments> create(const Ensemble& ensemble);
    /// sum + all trees' leaf values, added in tree order. Needs AVX2.
    double add(double sum, const float* row) const;
    /// sums[t]: sum + the first t + 1 trees' leaf values. At most as many as there are trees.
    void add_each(double sum, const float* row, std::span<double> sums) const;

  private:
    /// An exit into a fragment that is yet to come.
    struct OpenExit {
        size_t node;
        size_t place;  // in exits_: where its number belongs
    };

    explicit Fragments(CutColumns cuts) : cuts_(std::move(cuts)) {}
    void add_tree(const Tree& tree);
    uint32_t add_fragment(const Tree& tree, size_t root, std::vector<OpenExit>& open);
    void add_words(Fragment& fragment, const Tree& tree, std::span<const size_t> nodes);
    void lay_out_answers();
    bool make_bytes(const float* row, uint8_t* bytes) const;
    void make_codes(const float* row, uint32_t* codes) const;
    /// A row as it is asked about.
    struct Encoded {
        const uint8_t* bytes;
        const uint32_t* codes;
    };
    template <size_t kTables, bool kMissing, bool kEach>
    double add_with(double sum, const Encoded& row, std::span<double> sums) const;
    template <bool kMissing, bool kEach>
    double add_bytes(double sum, const Encoded& row, std::span<double> sums) const;
    /// kEach: sums as of add_each; else all trees, and sums is empty.
    template <bool kEach>
    double add_row(double sum, const float* row, std::span<double> sums) const;

    CutColumns cuts_;
    std::vector<CodeFeature> codes_;
    std::map<uint32_t, uint32_t> code_place_;  // feature -> place in codes_
    std::vector<Fragment> fragments_;
    std::vector<double> exits_;  // of fragment after fragment: value, or the next one's number
    std::vector<CodeWords> words_;
    std::vector<uint32_t> answers_;
    std::vector<std::vector<uint32_t>> asked_;  // while building: by feature, asker after asker
    size_t asked_count_ = 0;
    std::vector<uint32_t> roots_;  // first fragment of each tree
};

}  // namespace rampart::model
