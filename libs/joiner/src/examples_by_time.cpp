#include "examples_by_time.hpp"

#include <queue>

#include "rampart/joiner/reasons.hpp"

namespace rampart::joiner {
namespace {

using base::Result;
using base::Status;

constexpr size_t kKeysAtOnce = 4096;  // keys of one store held in memory

/// The keys of kByTime of one store, in order, some at a time.
class TimeLine {
  public:
    TimeLine(const JoinStore& store, std::string begin)
        : store_(store), at_(store.db().snapshot()), begin_(std::move(begin)) {}

    /// The key to go on with; empty: the end.
    Result<std::string_view> peek() {
        if (next_ == keys_.size() && !ended_) RAMPART_RETURN_IF_ERROR(refill());
        return next_ == keys_.size() ? std::string_view() : std::string_view(keys_[next_]);
    }
    void pop() { ++next_; }

    Result<JoinState> load(std::string_view key) const {
        RAMPART_TRY(const auto parsed, parse_time_key(key));
        RAMPART_TRY(auto state, store_.load(parsed.id, &at_));
        if (state) return *std::move(state);
        return base::make_error(Reason::kCorruptIndex, "decision '{}' has no state", parsed.id);
    }

  private:
    Status refill() {
        std::string begin = keys_.empty() ? begin_ : keys_.back() + '\0';
        keys_.clear();
        next_ = 0;
        RAMPART_RETURN_IF_ERROR(store_.db().scan(
            kByTime, {std::move(begin), ""},
            [&](std::string_view key, std::string_view) -> Result<bool> {
                keys_.emplace_back(key);
                return keys_.size() < kKeysAtOnce;
            },
            &at_));
        ended_ = keys_.size() < kKeysAtOnce;
        return base::ok();
    }

    const JoinStore& store_;
    storage::DerivedSnapshot at_;
    std::string begin_;
    std::vector<std::string> keys_;
    size_t next_ = 0;
    bool ended_ = false;
};

}  // namespace

Status visit_by_time(const std::vector<const JoinStore*>& stores,
                     std::optional<base::TimePoint> from,
                     const std::function<Status(const JoinState&)>& visit) {
    std::vector<TimeLine> lines;
    lines.reserve(stores.size());
    for (const JoinStore* store : stores) {
        lines.emplace_back(*store, from ? time_key(*from, "") : std::string());
    }
    using Head = std::pair<std::string, size_t>;  // the smallest key of a line; keys are unique
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    for (size_t i = 0; i < lines.size(); ++i) {
        RAMPART_TRY(const auto key, lines[i].peek());
        if (!key.empty()) heads.emplace(key, i);
    }
    while (!heads.empty()) {
        const auto [key, i] = heads.top();
        heads.pop();
        RAMPART_TRY(const auto state, lines[i].load(key));
        RAMPART_RETURN_IF_ERROR(visit(state));
        lines[i].pop();
        RAMPART_TRY(const auto next, lines[i].peek());
        if (!next.empty()) heads.emplace(next, i);
    }
    return base::ok();
}

}  // namespace rampart::joiner
