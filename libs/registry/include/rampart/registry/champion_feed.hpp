#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rampart/base/signing.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/registry/promotion_log.hpp"
#include "rampart/registry/schema_notice.hpp"
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

/// Returns the highest epoch of a champion's notice in the topic of policies, by any signer; 0:
/// it has none, or only one of a node of an earlier release. Reads the whole topic. Errors: the
/// log's.
base::Result<uint64_t> newest_epoch(const streaming::Reader& reader, std::string_view topic);

/// The node that trains: the champion, its model file and the schema by whose terms it is to decide
/// into the topic of policies, under the epoch of its lease. Durable when it returns; again with
/// the same champion and epoch writes nothing. Error: data_loss "model_digest": the file is not the
/// registered one, and no follower would take it.
class ChampionPublisher {
  public:
    ChampionPublisher(const streaming::Reader& reader, streaming::Writer& writer, std::string topic,
                      const base::SigningKey& key)
        : reader_(reader), writer_(writer), topic_(std::move(topic)), key_(key) {}
    /// `features`: as SchemaNotice has them; empty: nothing is said of them.
    base::Status publish(const Promotion& champion, const std::string& model_file, uint64_t epoch,
                         const std::string& features = {});
    /// Returns whether publish() would write nothing.
    bool is_published(const Promotion& champion, uint64_t epoch) const {
        return published_ && published_->epoch == epoch &&
               published_->sequence == champion.sequence;
    }
    /// Looks whether the topic still has what was written last: it may have been truncated, made
    /// anew, or restored. If not, publish() writes all of it again, and the log says so. Errors:
    /// the log's; then nothing is known, and publish() writes nothing.
    base::Status look_for_loss();

  private:
    /// What this process wrote last.
    struct Published {
        uint64_t epoch = 0, sequence = 0;
        streaming::Offset model{0};
        // the schema's, if it was said, and the champion's, with their places
        std::vector<std::pair<streaming::Offset, std::string>> notices;
    };
    base::Result<bool> is_kept() const;

    const streaming::Reader& reader_;
    streaming::Writer& writer_;
    std::string topic_;
    const base::SigningKey& key_;
    std::optional<Published> published_;
};

/// The others: the latest champion in the topic of policies that is signed by one of `keys`: the
/// one in use at the node that trains, and those before it, with which earlier notices are signed.
/// A notice of an earlier epoch than one that was read is of a process that trains no more, and
/// does not count. One thread at a time, but for find_model().
class ChampionFollower {
  public:
    ChampionFollower(const streaming::Reader& reader, std::string topic,
                     std::vector<base::VerifyingKey> keys)
        : reader_(reader), topic_(std::move(topic)), keys_(std::move(keys)) {}

    struct Champion {
        ChampionNotice notice;
        std::shared_ptr<const model::LoadedPolicy> policy;
    };
    /// Lets a champion decide. An error: this node cannot.
    using Take = std::function<base::Status(const Champion&)>;
    /// Reads on, and hands each new champion to `take` once. Where that one cannot be loaded or
    /// taken, what was taken before stays, and state() says why. At a first reading the champions
    /// before it are tried: the one directly before, and so on, as long as the topic has each of
    /// them, so that none comes back that was rolled back meanwhile. Where the topic ends before
    /// what was read, or begins behind it, it is read from its beginning, with a line in the log.
    /// Errors: the log's; then nothing counts as read.
    base::Status follow(const Take& take);
    /// ok: the latest champion was taken, or the topic has no notice. Why not, else: not_found
    /// "no_model", those of decode_model_file and of `take`; that of decode_notice for a notice
    /// that none of the keys has signed, if none that counts came after it.
    const base::Status& state() const { return refused_ ? unread_ : refused_; }
    /// Returns the notice of the champion that was taken last; nullopt: none was.
    const std::optional<ChampionNotice>& taken() const { return taken_; }
    /// Returns whether that is the latest one that was read, of the same promotion and epoch.
    bool takes_latest() const { return taken_ && taken_ == latest_; }
    /// Returns up to where follow() has read: the same as long as nothing is written.
    streaming::Offset read_to() const { return from_; }
    /// Returns the file of a model that was champion, by its name, which is its digest; nullopt:
    /// the topic has none. Thread safe.
    base::Result<std::optional<std::string>> find_model(const domain::PolicyId& policy) const;
    /// Returns the files of these models in their order, as find_model() each, by one reading of
    /// the topic.
    base::Result<std::vector<std::optional<std::string>>> find_models(
        std::span<const domain::PolicyId> policies) const;

    /// Returns the notice of a schema that belongs to the latest champion: of those of its epoch
    /// that are signed and can be read, the last. Notices of other epochs do not count, whatever
    /// they are: a line in the log says that they are passed over. nullopt: there is none, as there
    /// is no champion, or the node that trains is of an earlier release. Error:
    /// decode_schema_notice's: the only ones there are cannot be read, or no key has signed them.
    base::Result<std::optional<SchemaNotice>> schema() const;
    /// Returns the latest schema up to the epoch of the latest champion, of those that the topic
    /// has and that this follower has read: where a record without a signature has its key,
    /// compaction takes it from the topic. One that cannot be read is passed over, and logged.
    /// Errors: the log's.
    base::Result<std::optional<SchemaNotice>> find_schema() const;
    /// Forgets what was read and taken, so that follow() takes the latest champion again.
    void start_anew();

  private:
    using Schemas = std::map<uint64_t, base::Result<SchemaNotice>>;  // by epoch
    /// What was read from one place of the topic to its end.
    struct Read {
        std::optional<ChampionNotice> latest;
        std::vector<ChampionNotice> notices;  // that are signed
        base::Status unread;                  // why one after the latest of them does not count
        Schemas schemas;                      // that are signed, or cannot be read
        streaming::Offset end{0};
    };
    base::Result<ChampionNotice> verified(std::string_view bytes) const;
    base::Result<SchemaNotice> verified_schema(const streaming::Record& record) const;
    void read_schema(const streaming::StoredRecord& stored, Read& read) const;
    base::Result<Read> read_on(Read read) const;
    base::Status load_and_take(const ChampionNotice& notice, const std::optional<std::string>& file,
                               const Take& take);
    base::Status take_first(std::vector<ChampionNotice> notices, const Take& take);

    const streaming::Reader& reader_;
    std::string topic_;
    std::vector<base::VerifyingKey> keys_;
    streaming::Offset from_{0};
    bool started_ = false;
    std::optional<ChampionNotice> latest_, taken_;
    base::Status refused_;       // why the latest was not taken
    base::Status unread_;        // why a later one does not count
    Schemas schemas_;            // by the latest champion's epoch and later ones
    uint64_t schema_epoch_ = 0;  // the latest champion's, also before it is taken
};

}  // namespace rampart::registry
