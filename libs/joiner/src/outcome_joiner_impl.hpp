#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "partition_joiner.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/joiner/outcome_joiner.hpp"

namespace rampart::joiner {

inline const streaming::PartitionId kWholeTopic(-1);

struct OutcomeJoiner::Impl {
    Impl(JoinerOptions given, const streaming::Reader& from)
        : options(std::move(given)), reader(from) {}

    const JoinerOptions options;
    const streaming::Reader& reader;
    std::vector<streaming::PartitionId> held;
    std::vector<std::unique_ptr<PartitionJoiner>> partitions;  // one of each held
    std::unique_ptr<base::ThreadPool> writers;  // threads that write a round's batches

    std::mutex write_mutex;  // one poll, advance, replay or acceptance at a time
    mutable std::mutex clock_mutex;
    bool published = false;                  // since it was opened
    std::optional<base::TimePoint> reached;  // by all partitions
    size_t turn = 0;  // the source that is read first; advances, so that each gets its share

    /// A poll under way: a batch of each held partition.
    struct Round {
        std::vector<JoinBatch> batches;
        std::vector<domain::DecisionId> unreadable;  // read for the first time
        PollReport report;
    };

    size_t home_of(std::string_view decision_id) const;
    base::Result<std::optional<JoinState>> load(std::string_view id) const;
    base::Status check_topic(Round& round, const std::string& topic,
                             std::vector<Source>& sources) const;
    void stop(Round& round, const Source& source, const base::Error& why) const;
    void find_ends(Round& round, std::vector<Source>& sources, Ends& ends) const;
    void prefetch(const std::vector<Source>& sources, const Ends& ends) const;
    base::Status read(Round& round, const Source& source, size_t limit, const Ends* ends) const;
    base::Result<bool> read_for(Round& round, const Source& source,
                                const std::vector<size_t>& readers, size_t limit,
                                const Ends* ends) const;
    base::Result<PollReport> poll_once(size_t limit, Ends* ends);
    void mend();
    base::Status check_log_is_whole(const PartitionJoiner& partition) const;
    base::Status all_whole(const std::set<streaming::PartitionId>& but_for) const;
    base::Result<std::vector<const JoinStore*>> stores_to_read(
        std::initializer_list<std::string_view> measures) const;
    bool is_out(size_t i) const { return !partitions[i]->store().db().damage(); }
    bool any_newly_damaged() const;
    bool reads(size_t i, const Source& source) const {
        return !is_out(i) && (!source.decisions || held[i] == source.partition);
    }
    base::Result<std::vector<size_t>> readers_of(const Source& source) const;
    base::Status apply(Round& round, const Source& source, const streaming::StoredRecord& record,
                       const std::vector<streaming::Offset>& next) const;
    base::Result<std::optional<base::Error>> reduce(JoinBatch& batch,
                                                    const PartitionJoiner& partition, bool decision,
                                                    const streaming::Record& record,
                                                    Arrival arrival) const;
    base::Result<std::optional<base::Error>> reduce_event(
        JoinBatch& batch, const PartitionJoiner& partition,
        const base::Result<wire::OutcomeEvent>& event, Arrival arrival) const;
    base::Status commit(Round& round);
    void publish_clock(std::optional<base::TimePoint> time);
    base::Result<std::optional<AcceptedGap>> accept(size_t i, const Source& source);
    base::Status drop_matching(PartitionJoiner& partition,
                               const std::function<bool(const Quarantined&)>& matches) const;
    base::Result<std::pair<size_t, Quarantined>> find_quarantined(std::string_view topic,
                                                                  streaming::PartitionId partition,
                                                                  streaming::Offset offset,
                                                                  Withheld withheld) const;
};

}  // namespace rampart::joiner
