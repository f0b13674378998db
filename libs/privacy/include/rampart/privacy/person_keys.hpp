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
/// Bytes of an envelope in addition to its content.
inline constexpr size_t kEnvelopeOverheadBytes = 1 + kKeyIdBytes + 28;

/// A key in transit between the nodes of a deployment. Without their common secret it reveals
/// neither the key nor its person.
struct KeyRecord {
    std::string id;       // kKeyIdBytes, random
    std::string wrapped;  // empty: the key is destroyed permanently
    bool operator==(const KeyRecord&) const = default;
};

class PersonKeys;

/// Exchange of keys between nodes that read each other's envelopes. Each method is called by
/// one thread at a time.
class KeyExchange {
  public:
    virtual ~KeyExchange() = default;
    /// Publishes to all nodes; durable when it returns. May be repeated.
    virtual base::Status publish(std::span<const KeyRecord> records) = 0;
    /// Passes everything new since the last call to keys.learn().
    virtual base::Status fetch(PersonKeys& keys) = 0;
};

/// One value to be sealed.
struct Letter {
    domain::PersonId person;
    std::string_view name;  // name of the value; unseal() needs the same name
    std::string_view content;
};

/// One key per person, in a separate database, to seal data that cannot be erased where it is
/// stored: destroying the key erases all data sealed with it, in every copy (crypto-shredding).
///
/// A key is 32 random bytes, created when the first value of a person is sealed, and durable (and
/// published to the other nodes) before it is used. A destroyed key leaves a mark under its random
/// id, and no link to the person; a person who returns gets a new key. All keys are wrapped with
/// `secret`, which every node of a deployment needs.
///
/// Envelope: u8 format = 1, key id, nonce (12), ciphertext, tag (16); its first byte is one with
/// which no protobuf message begins. Thread safe.
class PersonKeys {
  public:
    /// Opens the folder. The exchange, if given, must outlive the object. Fails with
    /// invalid_argument "bad_secret": under 32 bytes; failed_precondition "other_secret": the keys
    /// are wrapped with another secret; and as storage::Database::open does.
    static base::Result<std::unique_ptr<PersonKeys>> open(
        const std::filesystem::path& folder, std::string secret, KeyExchange* exchange = nullptr,
        std::shared_ptr<storage::MemoryBudget> memory = nullptr);
    /// Opens for reading only, also while a service has the folder open: nothing can be changed,
    /// and operations that need a new key fail. Fails with not_found "no_database".
    static base::Result<std::unique_ptr<PersonKeys>> open_read_only(
        const std::filesystem::path& folder, std::string secret);
    ~PersonKeys();

    /// Returns one envelope per letter, in order. New keys are written together, with one sync.
    base::Result<std::vector<std::string>> seal(std::span<const Letter> letters);

    /// Makes the keys that are missing, with one sync, so that seal() waits for no disk. Threads
    /// may do so while another seals.
    base::Status prepare(std::span<const domain::PersonId> people);

    /// Returns nullopt if the key is destroyed. Fails with data_loss "bad_envelope",
    /// "not_authentic" (damaged, or another name); unavailable "unknown_person_key": the key is not
    /// here (yet), but at other nodes or in a backup: do not treat it as destroyed.
    base::Result<std::optional<std::string>> unseal(std::string_view name,
                                                    std::string_view envelope);
    static bool is_envelope(std::string_view bytes);

    /// Returns how many keys the person has that are not destroyed.
    base::Result<size_t> count(const domain::PersonId& person) const;
    /// Destroys all keys of a person and returns their number. When it returns, none of their bytes
    /// is in any of the database's files. May be repeated after a crash.
    base::Result<size_t> destroy(const domain::PersonId& person);

    /// Fetches new and destroyed keys from the exchange, if there is one. Call it regularly: seal()
    /// and unseal() do not learn of a destroyed key otherwise.
    base::Status refresh();

    /// Adds records published by other nodes; `cursor` is the exchange's position after them. Keys
    /// that this destroys are in none of the files when it returns.
    base::Status learn(std::span<const KeyRecord> records, std::string_view cursor);
    /// Returns the last cursor; empty: none yet.
    base::Result<std::string> cursor() const;

    /// Publishes all keys, destroyed ones among them, to an exchange that may lack some. What is
    /// destroyed meanwhile is published after it.
    base::Status publish_all();
    /// Key that unseal() has not found here, and the name of a value that is sealed with it.
    struct Missing {
        std::string id, name;
    };
    /// Returns those that are still missing, at most kMostMissing.
    base::Result<std::vector<Missing>> missing() const;
    static constexpr size_t kMostMissing = 1000;
    /// Declares missing keys destroyed, here and at all nodes: what is sealed with them counts as
    /// erased. For the operator, who knows that they are lost; cannot be undone.
    base::Status give_up(std::span<const Missing> keys);

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
