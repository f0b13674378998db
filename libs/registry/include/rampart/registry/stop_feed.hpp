#pragma once

#include <map>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/registry/deployment_log.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::registry {

/// Begin or end of a stop as nodes write it for each other, under keys of their own: what is
/// written again late never takes the place of the other one in a compacted topic.
struct StopNotice {
    std::string id;  // 32 hex digits
    domain::StopKind kind = domain::StopKind::kExplorationOff;
    bool ends = false;
    base::TimePoint at;
    std::string who, reason;
    bool operator==(const StopNotice&) const = default;
};

/// Returns the key of the record: `<group>/stop/<id>`, and `/end` of an end.
std::string key_of(std::string_view group, const StopNotice& notice);
/// Stored form: schemas/keys.md. decode reads id and end of the key. Fails with data_loss
/// "bad_stop".
std::string encode(const StopNotice& notice);
base::Result<StopNotice> decode_stop(std::string_view group, std::string_view key,
                                     std::string_view bytes);

/// The stops of a group, as a function of the topic of leases, which every node of the group reads
/// and writes. An end is for ever: a begin that is written again changes nothing. What is of
/// another group, or is no notice, is passed over. Not thread safe.
class StopFeed {
  public:
    /// Keeps references to both.
    StopFeed(const streaming::Reader& reader, streaming::Writer& writer, std::string topic,
             std::string group);

    /// Reads the topic to its end; from its begin where it was compacted or made anew, and now and
    /// then: a record of ours can be gone, as who writes junk under its key lets compaction take
    /// it. Errors: those of the Reader.
    base::Status refresh();
    /// Returns the stops that were read, by id.
    const std::map<std::string, Stop>& stops() const { return stops_; }

    /// Writes begin and end of a stop with an id, as far as the topic had neither at refresh().
    /// Durable when it returns. Errors: those of the Writer, after which it may be repeated.
    base::Status publish(const Stop& stop);

  private:
    base::Status start();
    void apply(const streaming::StoredRecord& stored);
    base::Status append(const StopNotice& notice);

    const streaming::Reader& reader_;
    streaming::Writer& writer_;
    const std::string topic_, group_;
    std::map<std::string, Stop> stops_;
    std::map<std::string, StopNotice> ends_;  // by id
    streaming::Offset next_{0};
    bool started_ = false;
    uint64_t refreshed_ = 0;  // times
};

}  // namespace rampart::registry
