#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rampart/base/signing.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/registry/promotion_log.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::registry {

/// Notice of the node that trains to the others: which policy decides, and since when.
struct ChampionNotice {
    uint64_t sequence = 0;  // sequence of the promotion
    domain::PolicyId policy;
    bool certified = false;
    uint64_t epoch = 0;  // that of the trainer's lease; 0: a node of an earlier release
    bool operator==(const ChampionNotice&) const = default;
};

/// Stored form, signed: schemas/keys.md. decode: data_loss "bad_notice"; permission_denied
/// "bad_signature": not by this key.
std::string encode(const ChampionNotice& notice, const base::SigningKey& key);
base::Result<ChampionNotice> decode_notice(std::string_view bytes, const base::VerifyingKey& key);

/// The node that trains: the champion and its model file into the topic of policies, under the
/// epoch of its lease. Durable when it returns; again with the same champion and epoch writes
/// nothing. Error: data_loss "model_digest": the file is not the registered one, and no follower
/// would take it.
class ChampionPublisher {
  public:
    ChampionPublisher(streaming::Writer& writer, std::string topic, const base::SigningKey& key)
        : writer_(writer), topic_(std::move(topic)), key_(key) {}
    base::Status publish(const Promotion& champion, const std::string& model_file, uint64_t epoch);
    /// Returns whether publish() would write nothing.
    bool is_published(const Promotion& champion, uint64_t epoch) const {
        return published_ == std::pair(epoch, champion.sequence);
    }

  private:
    streaming::Writer& writer_;
    std::string topic_;
    const base::SigningKey& key_;
    std::pair<uint64_t, uint64_t> published_;  // epoch and sequence, by this run
};

/// The others: the latest champion in the topic of policies that is signed by one of `keys`: the
/// one in use at the node that trains, and those before it, with which earlier notices are signed.
/// A notice of an earlier epoch than one that was read is of a process that trains no more, and
/// does not count.
class ChampionFollower {
  public:
    ChampionFollower(const streaming::Reader& reader, std::string topic,
                     std::vector<base::VerifyingKey> keys)
        : reader_(reader), topic_(std::move(topic)), keys_(std::move(keys)) {}

    struct Champion {
        ChampionNotice notice;
        model::LoadedPolicy policy;
    };
    /// Reads on; nullopt: the champion is still the one that was returned last, or there is none
    /// yet. A notice that is not signed, or whose model is not there or does not load, is passed
    /// over with a line in the log: what decides goes on deciding.
    base::Result<std::optional<Champion>> next();
    /// Returns the file of a model that was champion, by its name, which is its digest; nullopt:
    /// the topic has none. Thread safe.
    base::Result<std::optional<std::string>> find_model(const domain::PolicyId& policy) const;

  private:
    base::Result<ChampionNotice> verified(std::string_view bytes) const;
    base::Result<std::optional<ChampionNotice>> read_on(streaming::Offset& from) const;

    const streaming::Reader& reader_;
    std::string topic_;
    std::vector<base::VerifyingKey> keys_;
    streaming::Offset from_{0};
    bool started_ = false;
    std::optional<ChampionNotice> last_;  // that counted
};

}  // namespace rampart::registry
