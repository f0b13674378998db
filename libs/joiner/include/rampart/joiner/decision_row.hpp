#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/joiner/join_state.hpp"

/// What a training set reads of a decision, in a form that costs little to read: the value of the
/// index by time (schemas/keys.md). It is a function of the joined state.
namespace rampart::joiner {

/// A feature's value: missing, a number, or the name of a category.
using FeatureView = std::variant<std::monostate, double, std::string_view>;

/// What most rows of a time have in common.
struct RowShape {
    uint64_t number = 0;                // another for each shape of one RowDecoder, from 1 on
    std::vector<std::string> features;  // names, in the order of DecisionRow::values
    std::string product;                // the draw window's
    int cool_off_days = 0;              // the draw window's; 0: a draw of its own
};

struct RowVersion {
    std::string_view measure;
    uint32_t version = 0;
    std::optional<double> value;
    bool censored = false;
    base::TimePoint known_at;
    bool operator==(const RowVersion&) const = default;
};

struct RowTaken {
    domain::Action action = domain::Action::kDecline;
    base::TimePoint known_at;
    bool operator==(const RowTaken&) const = default;
};

/// Views into bytes and shapes that last as long as the call that hands the row out.
struct DecisionRow {
    std::string_view id, person, policy;
    base::TimePoint event_time, decided_at;
    const RowShape* shape = nullptr;
    int64_t window = 0;  // number of the draw's window; 0 without one
    double p_approve = 0, p_refer = 0;
    bool exploration_spent = false;
    domain::Action action = domain::Action::kDecline;
    // empty in the head of a row
    std::vector<FeatureView> values;   // one for each of the shape's features
    std::vector<RowVersion> versions;  // as JoinState::versions
    std::vector<RowTaken> taken;       // the answers in JoinState::taken

    /// The last version that is known at `t`; nullptr: not matured by then, as far as was known.
    const RowVersion* as_known_at(std::string_view measure, base::TimePoint t) const;
    /// The taken action of the highest revision known at `t`; nullptr: none.
    const RowTaken* taken_as_known_at(base::TimePoint t) const;
};

/// Returns the stored form. `decision`: that of the state.
std::string encode_row(const JoinState& state, const domain::Decision& decision);

/// How much of a row is read.
enum class RowPart {
    kAll,
    kHead,  // neither features nor what became of the decision
};

/// Reads stored rows. Remembers up to kMaxShapes shapes, so that each is decoded once.
class RowDecoder {
  public:
    static constexpr size_t kMaxShapes = 256;

    /// Reads the entry into `row`, whose views are valid until the next call, or as long as key and
    /// value are. data_loss "corrupt_index" for what encode_row() does not write.
    base::Status decode(std::string_view key, std::string_view value, RowPart part,
                        DecisionRow& row);

  private:
    base::Result<const RowShape*> shape_of(std::string_view bytes);

    std::map<std::string, RowShape, std::less<>> shapes_;
    std::string_view last_bytes_;  // those of last_
    const RowShape* last_ = nullptr;
    uint64_t made_ = 0;
};

}  // namespace rampart::joiner
