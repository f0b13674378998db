#include "rows_by_time.hpp"

#include <algorithm>
#include <deque>
#include <future>
#include <queue>

namespace rampart::joiner {
namespace {

using base::Result;
using base::Status;

// keys and values held in memory, of all stores together, and as much that is read ahead; of each
// at least so much that few reads begin anew
constexpr size_t kMostAhead = 16;  // stores that are read ahead, each by a thread of its own
constexpr size_t kBytesAtOnce = 1u << 20, kLeastAtOnce = 64u << 10;

/// The entries of kByTime of one store, in order, some at a time. While those are visited, another
/// thread reads those that follow.
class RowLine {
  public:
    RowLine(const JoinStore& store, storage::KeyRange range, RowOrder order, size_t at_once,
            bool reads_ahead)
        : store_(store),
          at_(store.db().snapshot()),
          range_(std::move(range)),
          order_(order),
          at_once_(at_once),
          policy_(reads_ahead ? std::launch::async | std::launch::deferred
                              : std::launch::deferred) {}
    RowLine(const RowLine&) = delete;
    RowLine& operator=(const RowLine&) = delete;

    /// The key to go on with; empty: the end. Valid until the line is read on behind its last
    /// entry in memory.
    Result<std::string_view> key() {
        if (next_ == block_.entries.size() && !block_.last) RAMPART_RETURN_IF_ERROR(go_on());
        if (next_ == block_.entries.size()) return std::string_view();
        return block_.view(block_.entries[next_].key);
    }
    std::string_view value() const { return block_.view(block_.entries[next_].value); }
    void pop() { ++next_; }

  private:
    struct Part {
        size_t from = 0, size = 0;
    };
    struct Entry {
        Part key, value;
    };
    struct Block {
        std::string bytes;
        std::vector<Entry> entries;
        bool last = false;  // nothing follows

        std::string_view view(const Part& part) const {
            return std::string_view(bytes).substr(part.from, part.size);
        }
        Part keep(std::string_view more) {
            bytes += more;
            return {bytes.size() - more.size(), more.size()};
        }
    };
    /// Reads the next entries of the range into a block whose memory is used again.
    Result<Block> read(Block block, const storage::KeyRange& range) const {
        block.bytes.clear();
        block.entries.clear();
        block.last = true;
        const auto keep = [&](std::string_view key, std::string_view value) -> Result<bool> {
            block.entries.push_back({block.keep(key), block.keep(value)});
            block.last = block.bytes.size() < at_once_;
            return block.last;
        };
        RAMPART_RETURN_IF_ERROR(order_ == RowOrder::kFirstToLast
                                    ? store_.db().scan(kByTime, range, keep, &at_)
                                    : store_.db().scan_back(kByTime, range, keep, at_));
        return block;
    }
    /// Returns what of the range is still to be read behind the block in memory.
    storage::KeyRange rest() const {
        std::string last(block_.view(block_.entries.back().key));
        if (order_ == RowOrder::kLastToFirst) return {range_.begin, std::move(last)};
        return {last + '\0', range_.end};
    }
    Status go_on() {
        Block read_before = std::move(block_);
        block_ = {};
        next_ = 0;
        auto read_now = ahead_.valid() ? ahead_.get() : read({}, range_);
        RAMPART_TRY(block_, std::move(read_now));
        if (block_.last) return base::ok();
        // where no thread can be had, the next go_on() reads itself
        ahead_ =
            std::async(policy_, [this, range = rest(), block = std::move(read_before)]() mutable {
                return read(std::move(block), range);
            });
        return base::ok();
    }

    const JoinStore& store_;
    storage::DerivedSnapshot at_;
    storage::KeyRange range_;
    RowOrder order_;
    size_t at_once_;
    std::launch policy_;
    Block block_;
    size_t next_ = 0;
    std::future<Result<Block>> ahead_;  // last: its thread reads the others
};

}  // namespace

Status visit_rows(const std::vector<const JoinStore*>& stores, const std::string& begin,
                  const std::string& end, RowPart part, RowOrder order,
                  const std::function<Status(const DecisionRow&)>& visit) {
    std::deque<RowLine> lines;
    for (const JoinStore* store : stores)
        lines.emplace_back(*store, storage::KeyRange{begin, end}, order,
                           std::max(kLeastAtOnce, kBytesAtOnce / stores.size()),
                           stores.size() <= kMostAhead);
    using Head = std::pair<std::string_view, size_t>;  // the next key of a line; keys differ
    const auto later = [order](const Head& a, const Head& b) {
        return order == RowOrder::kFirstToLast ? a > b : a < b;
    };
    std::priority_queue<Head, std::vector<Head>, decltype(later)> heads(later);
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

RowEntry row_entry(const std::string& id, const JoinState& state,
                   const domain::Decision& decision) {
    return {time_key(decision.application.event_time, id), encode_row(state, decision)};
}

}  // namespace rampart::joiner
