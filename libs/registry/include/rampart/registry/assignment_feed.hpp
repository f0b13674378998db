#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rampart/base/signing.hpp"
#include "rampart/registry/assignment_notice.hpp"
#include "rampart/registry/champion_feed.hpp"
#include "rampart/registry/deployment_log.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::registry {

/// The node that trains: the assignment beside the champion, and the model files of its
/// challengers, into the topic of policies. Not thread safe.
class AssignmentPublisher {
  public:
    AssignmentPublisher(const streaming::Reader& reader, streaming::Writer& writer,
                        std::string topic, const base::SigningKey& key, std::string arm_key)
        : reader_(reader),
          writer_(writer),
          topic_(std::move(topic)),
          key_(key),
          arm_key_(std::move(arm_key)) {}

    /// Returns the notice of a history of assignments under a champion; nullopt: there was none,
    /// and nothing is to be said.
    std::optional<AssignmentNotice> notice_of(const std::vector<AssignmentPeriod>& periods,
                                              const Promotion& champion, uint64_t epoch) const;
    /// Returns whether publish() would write nothing.
    bool is_published(const AssignmentNotice& notice) const {
        return published_ && published_->notice == notice;
    }
    /// Writes the files of the challengers, and behind them the notice. Durable when it returns;
    /// again with the same notice writes nothing. Errors: those of `file_of` and of the Writer.
    using FileOf = std::function<base::Result<std::string>(const domain::PolicyId&)>;
    base::Status publish(const AssignmentNotice& notice, const FileOf& file_of);
    /// As ChampionPublisher::look_for_loss().
    base::Status look_for_loss();

  private:
    struct Published {
        AssignmentNotice notice;
        streaming::Offset first{0}, last{0};  // its records; the notice is the last
    };
    base::Result<bool> is_kept() const;

    const streaming::Reader& reader_;
    streaming::Writer& writer_;
    const std::string topic_;
    const base::SigningKey& key_;
    const std::string arm_key_;
    std::optional<Published> published_;
};

/// The others: the latest assignment of each epoch in the topic of policies, signed by one of
/// `keys`. Which of them counts, the champion says that decides here. One thread at a time.
class AssignmentFollower {
  public:
    AssignmentFollower(const streaming::Reader& reader, std::string topic,
                       std::vector<base::VerifyingKey> keys)
        : reader_(reader), topic_(std::move(topic)), keys_(std::move(keys)) {}

    /// Reads on; where the topic ends before what was read, or begins behind it, from its
    /// beginning. What none of the keys has signed, or cannot be read, is passed over with a line
    /// in the log. Errors: the log's; then nothing counts as read.
    base::Status follow();
    /// Returns what the node that published this champion, in the same epoch, said last of it;
    /// nullopt: nothing.
    std::optional<AssignmentNotice> beside(const ChampionNotice& champion) const;

  private:
    struct Read {
        std::map<uint64_t, AssignmentNotice> latest;  // by epoch
        streaming::Offset end{0};
    };
    base::Result<AssignmentNotice> verified(const streaming::Record& record) const;
    base::Result<Read> read_on(Read read) const;

    const streaming::Reader& reader_;
    const std::string topic_;
    const std::vector<base::VerifyingKey> keys_;
    bool started_ = false;
    Read read_;
};

}  // namespace rampart::registry
