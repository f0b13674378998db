#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/privacy/person_tag.hpp"
#include "rampart/storage/memory_budget.hpp"

namespace rampart::storage {
class Database;
}

namespace rampart::privacy {

inline constexpr size_t kKeyIdBytes = 16;
/// What an envelope has more than its content.
inline constexpr size_t kEnvelopeOverheadBytes = 1 + kKeyIdBytes + 28;

/// A key as it travels between the nodes of a deployment. Without their common secret it gives
/// nothing away: neither the key nor whose it is.
struct KeyRecord {
    std::string id;       // kKeyIdBytes, random
    std::string wrapped;  // empty: the key is destroyed, for ever
    bool operator==(const KeyRecord&) const = default;
};

class PersonKeys;

/// How nodes that read each other's envelopes tell each other their keys. Each method is called by
/// one thread at a time.
class KeyExchange {
  public:
    virtual ~KeyExchange() = default;
    /// Durable for all when it returns. A repeat does no harm.
    virtual base::Status publish(std::span<const KeyRecord> records) = 0;
    /// Gives all that is new since the last time to keys.learn().
    virtual base::Status fetch(PersonKeys& keys) = 0;
};

/// One thing to be sealed.
struct Letter {
    domain::PersonId person;
    std::string_view name;  // what it is; unsealing takes the same name
    std::string_view content;
};

/// A key for each person, in a database of its own, to seal what cannot be erased where it lies:
/// who destroys the key erases all that it sealed, in every copy.
///
/// A key is 32 random bytes, made when the first thing about a person is sealed, on the disk (and
/// known to the other nodes) before it is used. A destroyed key leaves a mark under its random id,
/// and nothing that leads to the person; who comes back later gets a new key. All keys are wrapped
/// with `secret`, which every node of a deployment has to have.
///
/// An envelope is u8 format = 1, key id, nonce (12), ciphertext, tag (16); its first byte is one
/// that no protobuf message begins with. Thread safe.
class PersonKeys {
  public:
    /// The exchange, if there is one, has to outlive it. invalid_argument "bad_secret": under 32
    /// bytes; failed_precondition "other_secret": the folder's keys are wrapped with another;
    /// storage::Database::open's.
    static base::Result<std::unique_ptr<PersonKeys>> open(
        const std::filesystem::path& folder, std::string secret, KeyExchange* exchange = nullptr,
        std::shared_ptr<storage::MemoryBudget> memory = nullptr);
    /// To look at what lies sealed while a service may have the folder open: nothing can be
    /// changed, what needs a new key fails. not_found "no_database".
    static base::Result<std::unique_ptr<PersonKeys>> open_read_only(
        const std::filesystem::path& folder, std::string secret);
    ~PersonKeys();

    /// An envelope for each letter, in their order. New keys are one synced write together.
    base::Result<std::vector<std::string>> seal(std::span<const Letter> letters);

    /// nullopt: its key is destroyed. data_loss "bad_envelope", "not_authentic" (damaged, or of
    /// another name); unavailable "unknown_person_key": the key is not here (yet): it is at other
    /// nodes or in a backup, and must not be taken for destroyed.
    base::Result<std::optional<std::string>> unseal(std::string_view name,
                                                    std::string_view envelope);
    static bool is_envelope(std::string_view bytes);

    /// Whether the person has a key that is not destroyed.
    base::Result<bool> has_key(const domain::PersonId& person) const;
    /// Destroys all keys of a person, and returns how many there were. When it returns, none of
    /// their bytes is in any of the database's files. May be repeated after a crash.
    base::Result<size_t> destroy(const domain::PersonId& person);

    /// Asks the exchange, if there is one, for what is new: keys, and which are destroyed. Call it
    /// now and then: seal() and unseal() do not hear of a key's end otherwise.
    base::Status refresh();

    /// Takes in what other nodes published; `cursor` says how far that has come, in their words.
    /// What this destroys is in none of the files when it returns.
    base::Status learn(std::span<const KeyRecord> records, std::string_view cursor);
    /// The last one; empty: none yet.
    base::Result<std::string> cursor() const;

    PersonTag tag_of(const domain::PersonId& person) const;

  private:
    struct Impl;
    static base::Result<std::unique_ptr<PersonKeys>> make(
        std::unique_ptr<storage::Database> database, std::string secret, KeyExchange* exchange,
        bool read_only);
    explicit PersonKeys(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::privacy
