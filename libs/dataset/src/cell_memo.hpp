#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace rampart::dataset {

/// Cache of the results for a column's short texts, most of which repeat: a small set-associative
/// hash table in which a new text may replace an older one. Uses constant memory for any file; may
/// drop an entry at any time.
template <class Value>
class CellMemo {
  public:
    static constexpr size_t kLongest = 23;  // longer texts are not cached

    /// Creates an empty cache. expected: number of frequent texts.
    explicit CellMemo(size_t expected = 64) {
        constexpr size_t kFewest = 64, kMost = 8192;
        size_t slots = kFewest;
        while (slots < kMost && slots < 2 * expected) slots *= 2;
        slots_.resize(slots);
    }

    /// Returns nullptr if not cached (any more). The pointer is valid until the next keep().
    const Value* find(std::string_view text) const {
        if (text.size() > kLongest) return nullptr;
        const size_t first = place(text);
        for (size_t i = first; i < first + kPlaces; ++i) {
            const Slot& slot = slots_[i];
            if (slot.length == text.size() + 1 && same(slot.text, text)) return &slot.value;
        }
        return nullptr;
    }
    /// Adds a text that is not in the cache.
    void keep(std::string_view text, Value value) {
        if (text.size() > kLongest) return;
        const size_t first = place(text);
        size_t at = first + next_++ % kPlaces;
        for (size_t i = first; i < first + kPlaces; ++i) {
            if (slots_[i].length == 0) at = i;
        }
        slots_[at].length = static_cast<uint8_t>(text.size() + 1);
        std::memcpy(slots_[at].text, text.data(), text.size());
        slots_[at].value = value;
    }

  private:
    static constexpr size_t kPlaces = 4;
    struct Slot {
        uint8_t length = 0;  // length of the text, plus 1; 0: the place is empty
        char text[kLongest] = {};
        Value value{};
    };

    static uint64_t word(const char* from, size_t bytes) {
        uint64_t out = 0;
        std::memcpy(&out, from, bytes);
        return out;
    }
    static bool same(const char* kept, std::string_view text) {
        const size_t n = text.size();
        const auto differ = [&](size_t at, size_t bytes) {
            return word(kept + at, bytes) ^ word(text.data() + at, bytes);
        };
        if (n < 4) {
            return n == 0 ||
                   (kept[0] == text[0] && kept[n / 2] == text[n / 2] && kept[n - 1] == text[n - 1]);
        }
        if (n < 8) return (differ(0, 4) | differ(n - 4, 4)) == 0;
        uint64_t out = differ(n - 8, 8);
        for (size_t i = 0; i + 8 < n; i += 8) out |= differ(i, 8);
        return out == 0;
    }
    /// Hashes all bytes: words from the front, and one word that ends at the last byte.
    static uint64_t mixed(std::string_view text) {
        constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;
        const char* const from = text.data();
        const size_t n = text.size();
        if (n == 0) return 0;
        if (n < 4) {
            const auto byte = [&](size_t i) { return static_cast<uint64_t>(text[i]) & 0xff; };
            return (byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16 | n << 24) * kOdd;
        }
        if (n < 8) return (word(from, 4) << 32 | word(from + n - 4, 4)) * kOdd;
        uint64_t out = n;
        for (size_t i = 0; i + 8 < n; i += 8) out = ((out ^ word(from + i, 8)) * kOdd) >> 7;
        return (out ^ word(from + n - 8, 8)) * kOdd;
    }
    size_t place(std::string_view text) const {
        return static_cast<size_t>(mixed(text) >> 40) & (slots_.size() - kPlaces);
    }

    std::vector<Slot> slots_;
    size_t next_ = 0;  // place that is replaced next
};

}  // namespace rampart::dataset
