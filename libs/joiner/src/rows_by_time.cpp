#include "rows_by_time.hpp"

#include <queue>

#include "rampart/wire/event_codec.hpp"

namespace rampart::joiner {
namespace {

using base::Result;
using base::Status;

constexpr size_t kBytesAtOnce = 1u << 20;  // keys and values of one store held in memory

/// The entries of kByTime of one store, in order, some at a time.
class RowLine {
  public:
    RowLine(const JoinStore& store, storage::KeyRange range, size_t at_once)
        : store_(store), at_(store.db().snapshot()), range_(std::move(range)), at_once_(at_once) {}

    /// The key to go on with; empty: the end. Valid until the line is read on behind its last
    /// entry in memory.
    Result<std::string_view> key() {
        if (next_ == entries_.size() && !ended_) RAMPART_RETURN_IF_ERROR(refill());
        return next_ == entries_.size() ? std::string_view() : view(entries_[next_].key);
    }
    std::string_view value() const { return view(entries_[next_].value); }
    void pop() { ++next_; }

  private:
    struct Part {
        size_t from, size;
    };
    struct Entry {
        Part key, value;
    };
    std::string_view view(const Part& part) const {
        return std::string_view(bytes_).substr(part.from, part.size);
    }
    Part keep(std::string_view bytes) {
        bytes_ += bytes;
        return {bytes_.size() - bytes.size(), bytes.size()};
    }
    Status refill() {
        if (!entries_.empty()) range_.begin = std::string(view(entries_.back().key)) + '\0';
        entries_.clear();
        bytes_.clear();
        next_ = 0;
        ended_ = true;
        return store_.db().scan(
            kByTime, range_,
            [&](std::string_view key, std::string_view value) -> Result<bool> {
                entries_.push_back({keep(key), keep(value)});
                ended_ = bytes_.size() < at_once_;
                return ended_;
            },
            &at_);
    }

    const JoinStore& store_;
    storage::DerivedSnapshot at_;
    storage::KeyRange range_;
    size_t at_once_;
    std::string bytes_;
    std::vector<Entry> entries_;
    size_t next_ = 0;
    bool ended_ = false;
};

}  // namespace

Status visit_rows(const std::vector<const JoinStore*>& stores, const std::string& begin,
                  const std::string& end, RowPart part,
                  const std::function<Status(const DecisionRow&)>& visit) {
    std::vector<RowLine> lines;
    lines.reserve(stores.size());
    for (const JoinStore* store : stores)
        lines.emplace_back(*store, storage::KeyRange{begin, end}, kBytesAtOnce / stores.size());
    using Head = std::pair<std::string_view, size_t>;  // the smallest key of a line; keys differ
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    for (size_t i = 0; i < lines.size(); ++i) {
        RAMPART_TRY(const auto key, lines[i].key());
        if (!key.empty()) heads.emplace(key, i);
    }
    RowDecoder decoder;
    DecisionRow row;
    while (!heads.empty()) {
        const auto [key, i] = heads.top();
        heads.pop();
        RAMPART_RETURN_IF_ERROR(decoder.decode(key, lines[i].value(), part, row));
        RAMPART_RETURN_IF_ERROR(visit(row));
        lines[i].pop();
        RAMPART_TRY(const auto next, lines[i].key());
        if (!next.empty()) heads.emplace(next, i);
    }
    return base::ok();
}

Result<RowEntry> row_entry(const std::string& id, const JoinState& state) {
    RAMPART_TRY(const auto decision, wire::decode_decision(state.decision));
    return RowEntry{time_key(decision.application.event_time, id), encode_row(state, decision)};
}

}  // namespace rampart::joiner
