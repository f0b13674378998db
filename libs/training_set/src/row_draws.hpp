#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "rampart/joiner/decision_row.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training_set {

/// What the draws of two decisions have in common if they are one. Views into the decisions.
struct DrawKey {
    std::string_view person, product;
    int cool_off_days = 0;
    int64_t number = 0;
    bool operator==(const DrawKey&) const = default;
};

struct HashOfDraw {
    size_t operator()(const DrawKey& key) const {
        constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // spreads numbers that follow each other
        return std::hash<std::string_view>()(key.person) ^
               (static_cast<uint64_t>(key.number) * kOdd);
    }
};

/// Returns that of a row with a window.
inline DrawKey draw_of(const Row& row) {
    return {row.person.value(), row.window->product, row.window->cool_off_days, row.window->number};
}

/// Returns that of a stored decision with a window.
inline DrawKey draw_of(const joiner::DecisionRow& stored) {
    return {stored.person, stored.shape->product, stored.shape->cool_off_days, stored.window};
}

/// Decisions with a window that are no rows, as small as they can be kept: one of them may be the
/// first of a row's draw.
class OtherDraws {
  public:
    void add(const joiner::DecisionRow& stored) {
        const auto& shape = *stored.shape;
        if (shape.cool_off_days == 0) return;
        const auto& product = products_.emplace(shape.product, 0).first->first;
        entries_.push_back({&product, shape.cool_off_days, stored.window, stored.decided_at,
                            bytes_.size(), static_cast<uint32_t>(stored.person.size()),
                            static_cast<uint32_t>(stored.id.size())});
        bytes_.append(stored.person).append(stored.id);
    }
    /// Calls visit(draw, time, id) for each decision.
    template <class Visit>
    void each(const Visit& visit) const {
        for (const Entry& one : entries_) {
            const auto bytes = std::string_view(bytes_).substr(one.at);
            visit(DrawKey{bytes.substr(0, one.person), *one.product, one.cool_off_days, one.number},
                  one.decided_at, bytes.substr(one.person, one.id));
        }
    }

  private:
    struct Entry {
        const std::string* product;
        int cool_off_days;
        int64_t number;
        base::TimePoint decided_at;
        size_t at;
        uint32_t person, id;  // bytes
    };
    std::map<std::string, int, std::less<>> products_;
    std::vector<Entry> entries_;
    std::string bytes_;  // person and id of each
};

/// The first row of each draw. The rows stay where they are meanwhile.
class FirstOfDraws {
  public:
    explicit FirstOfDraws(std::vector<Row>& rows) {
        rows_.reserve(rows.size());
        for (Row& row : rows) {
            if (!row.window) continue;
            Row*& first = rows_.emplace(draw_of(row), &row).first->second;
            if (is_before(row.decided_at, row.decision.value(), *first)) first = &row;
        }
    }
    bool empty() const { return rows_.empty(); }
    /// Marks the first row of a decision's draw as a repeat, if the decision came before it.
    void mark(const DrawKey& draw, base::TimePoint decided_at, std::string_view id) {
        const auto found = rows_.find(draw);
        if (found != rows_.end() && is_before(decided_at, id, *found->second))
            found->second->repeat = true;
    }

  private:
    static bool is_before(base::TimePoint time, std::string_view id, const Row& row) {
        return time != row.decided_at ? time < row.decided_at : id < row.decision.value();
    }
    std::unordered_map<DrawKey, Row*, HashOfDraw> rows_;
};

}  // namespace rampart::training_set
