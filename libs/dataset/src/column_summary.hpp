#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>

#include "cell_memo.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/dataset/category_limit.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {

namespace limits = base::limits;
using Texts = std::set<std::string, std::less<>>;

inline constexpr std::array<std::string_view, 7> kMissingAnywhere{"?",   "NA",   "N/A", "NaN",
                                                                  "nan", "null", "NULL"};
inline constexpr std::array<std::string_view, 8> kMissingAmongNumbers{
    "-", ".", "None", "none", "Missing", "missing", "Unknown", "unknown"};
inline constexpr size_t kFewValues = 12;          // integer codes that may be categories
inline constexpr size_t kMaxTracked = 1'000'000;  // values whose repeats are counted
inline constexpr size_t kMostNumbers = 4096;      // different values kept of a column of numbers
inline constexpr size_t kMostBytes = 2 << 20;     // bytes of texts that are kept of a column
inline constexpr size_t kIdRows = 20;  // with fewer rows a column is never taken for an id
inline constexpr double kHardlyRepeats = 0.9;
inline constexpr size_t kFewestIds = 100;   // rows; with fewer, numbers that differ are no evidence
inline constexpr double kNearlyAll = 0.98;  // share of different values

template <size_t N>
bool is_in(const std::array<std::string_view, N>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// Recognises "inf", "-Infinity", …: what programs write for 1/0.
inline bool is_infinity(std::string_view cell) {
    if (cell.starts_with('-') || cell.starts_with('+')) cell.remove_prefix(1);
    std::string lower(cell.substr(0, 9));
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower == "inf" || lower == "infinity";
}

/// Truncates to about 40 bytes, at a character boundary.
inline std::string shortened(std::string_view text) {
    constexpr size_t kShown = 40;
    if (text.size() <= kShown) return std::string(text);
    size_t end = 0;
    while (end < kShown) end += std::max<size_t>(base::utf8_length(text.substr(end)), 1);
    return std::string(text.substr(0, end)) + "…";
}

/// Statistics of a column from one pass.
class ColumnSummary {
  public:
    /// Returns whether the cell means missing.
    bool add(std::string_view cell) {
        const Seen* known = seen_.find(cell);
        const Seen seen = known != nullptr ? *known : count_text(cell);
        ++rows_;
        if (seen.what == Seen::kMissing) ++missing_;
        if (seen.what == Seen::kDoubtful) ++doubtful_;
        if (seen.what == Seen::kInfinite) ++infinite_;
        if (seen.what != Seen::kValue && seen.what != Seen::kNumber) {
            if (known == nullptr) seen_.keep(cell, seen);
            return true;
        }
        if (tracked_ < kMaxTracked) {
            ++tracked_;
            if (known == nullptr) different_.insert(std::hash<std::string_view>{}(cell));
        }
        if (seen.what == Seen::kNumber) add_number(seen.number);
        if (known == nullptr) seen_.keep(cell, seen);
        return false;
    }

    bool numeric() const { return all_numbers_ && !values_.empty(); }
    const Texts& missing_words() const { return missing_words_; }
    const Texts& doubtful_words() const { return doubtful_words_; }
    /// Returns the values, sorted, without words for missing; some of them, if there are too many.
    const Texts& values() const { return values_; }
    /// Returns a number of values that the column exceeds; 0: values() has all of them.
    size_t kept_of_more() const { return kept_of_more_; }
    bool empty() const { return values_.empty() && doubtful_words_.empty(); }
    /// Returns whether all rows have one value. (One value in some rows and missing in others still
    /// separates the rows.)
    bool constant() const { return values_.size() + doubtful_words_.size() == 1 && !has_missing_; }
    double low() const { return low_; }  // minimum of the numbers
    double high() const { return high_; }
    bool anything_missing() const { return missing_ + doubtful_ + infinite_ > 0; }
    size_t rows() const { return rows_; }
    size_t infinite() const { return infinite_; }  // number of infinite cells
    const std::string& first_text() const { return first_text_; }
    bool has_few_codes() const { return numeric() && whole_ && values_.size() <= kFewValues; }
    bool is_almost_unique() const {
        return tracked_ >= kIdRows && static_cast<double>(different_.size()) >=
                                          kHardlyRepeats * static_cast<double>(tracked_);
    }
    /// Returns whether whole numbers hardly repeat: an id, perhaps.
    bool may_be_id() const {
        return numeric() && whole_ && tracked_ >= kFewestIds &&
               static_cast<double>(different_.size()) >= kNearlyAll * static_cast<double>(tracked_);
    }
    bool row_number() const {
        return numeric() && whole_ && tracked_ >= kIdRows && (rising_ || falling_);
    }
    /// Returns the evidence for the column's kind.
    std::string evidence() const {
        const size_t empty = missing_ + (numeric() ? doubtful_ + infinite_ : 0);
        const double share = 100 * static_cast<double>(empty) / static_cast<double>(rows_);
        std::string out =
            numeric() ? fmt::format("numbers from {} to {}", number_text(low_), number_text(high_))
            : first_text_.empty() ? std::string("no numbers")
                                  : fmt::format("'{}' is not a number", first_text_);
        if (share >= 1) out += fmt::format("; {:.0f} % missing", share);
        if (share > 0 && share < 1) out += fmt::format("; {:.1g} % missing", share);
        if (numeric() && infinite_ > 0)
            out += fmt::format("; infinite in {} cell{}, read as missing", infinite_,
                               infinite_ == 1 ? "" : "s");
        return out;
    }

  private:
    struct Seen {
        enum What : uint8_t { kMissing, kDoubtful, kInfinite, kValue, kNumber } what = kMissing;
        double number = 0;
    };

    /// Counts a text that may be new.
    Seen count_text(std::string_view cell) {
        const auto number = parse_number(cell);  // words for missing are not numbers
        if (!number) {
            if (cell.empty() || is_in(kMissingAnywhere, cell)) {
                has_missing_ = true;
                if (!cell.empty()) missing_words_.emplace(cell);
                return {Seen::kMissing};
            }
            if (is_in(kMissingAmongNumbers, cell)) {
                doubtful_words_.emplace(cell);
                return {Seen::kDoubtful};
            }
            if (is_infinity(cell)) {
                doubtful_words_.emplace(cell);
                return {Seen::kInfinite};
            }
            if (all_numbers_) first_text_ = shortened(cell);
            all_numbers_ = false;
        }
        keep_value(cell);
        return number ? Seen{Seen::kNumber, *number} : Seen{Seen::kValue};
    }

    void keep_value(std::string_view cell) {
        const size_t most = all_numbers_ ? kMostNumbers : kMostCategories;
        if (values_.contains(cell)) return;
        if (values_.size() >= most || bytes_ > kMostBytes) {
            if (kept_of_more_ == 0) kept_of_more_ = values_.size();
            return;
        }
        values_.emplace(cell);
        bytes_ += cell.size();
    }

    void add_number(double number) {
        whole_ = whole_ && number == std::floor(number);
        low_ = any_number_ ? std::min(low_, number) : number;
        high_ = any_number_ ? std::max(high_, number) : number;
        if (any_number_) {
            rising_ = rising_ && number > last_;
            falling_ = falling_ && number < last_;
        }
        any_number_ = true;
        last_ = number;
    }

    bool all_numbers_ = true, whole_ = true, any_number_ = false, rising_ = true, falling_ = true;
    bool has_missing_ = false;
    double last_ = 0, low_ = 0, high_ = 0;
    size_t rows_ = 0, missing_ = 0, doubtful_ = 0, infinite_ = 0;
    std::string first_text_;
    Texts missing_words_, doubtful_words_, values_;
    size_t kept_of_more_ = 0, bytes_ = 0;
    size_t tracked_ = 0;
    std::unordered_set<size_t> different_;
    CellMemo<Seen> seen_{512};
};

}  // namespace rampart::dataset
