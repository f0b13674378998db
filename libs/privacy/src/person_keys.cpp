#include "rampart/privacy/person_keys.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include "key_cache.hpp"
#include "rampart/base/aead.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/privacy/reasons.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::privacy {

using base::Result;
using base::Status;
using storage::KeyRange;
using storage::Sync;

namespace {

constexpr storage::ColumnFamily kMeta{0};
constexpr storage::ColumnFamily kKeys{1};    // key id -> kLive and the wrapped key, or kDestroyed
constexpr storage::ColumnFamily kPeople{2};  // person tag -> ids of the live keys
constexpr std::string_view kCursorKey = "cursor", kSecretKey = "secret",
                           kDestroyingKey = "destroying";
constexpr char kEnvelopeFormat = 1;
constexpr char kLive = 1, kDestroyed = 2;
constexpr size_t kHeadBytes = 1 + kKeyIdBytes;
constexpr size_t kMinSecretBytes = 32;
constexpr size_t kPublishedTogether = 1000;

std::string derive(std::string_view secret, std::string_view purpose) {
    const auto digest = base::hmac_sha256(secret, purpose);
    return {digest.bytes.begin(), digest.bytes.end()};
}

/// The person's tag, and the key.
struct Unwrapped {
    PersonTag tag;
    std::string secret;
};

/// Keys for a list of letters.
struct Sealing {
    std::vector<size_t> key_of;  // index in `keys` for each letter
    std::vector<PersonTag> people;
    std::vector<Key> keys;  // one per person
};

}  // namespace

struct PersonKeys::Impl {
    std::string secret, wrapping;
    KeyExchange* exchange = nullptr;
    std::unique_ptr<storage::Database> db;
    std::mutex mutex;  // guards changes of keys
    KeyCache cache;
    std::mutex fetch_mutex;  // guards the exchange; locked before the others
    std::mutex destroying;   // held until what was destroyed is in no file; locked before `mutex`
    mutable std::mutex unknown_mutex;
    std::map<std::string, std::string> unknown;  // key id that was not found -> name

    std::string wrap(const PersonTag& tag, const Key& key) const {
        return base::seal(wrapping, key.id, tag.value() + key.secret);
    }
    Result<Unwrapped> unwrap(std::string_view id, std::string_view wrapped) const {
        auto plain = base::unseal(wrapping, id, wrapped);
        if (!plain || plain->size() != kPersonTagBytes + base::kAeadKeyBytes) {
            return base::make_error(Reason::kBadPersonKey,
                                    "person key {} is damaged or wrapped with another secret",
                                    base::to_hex(id));
        }
        return Unwrapped{PersonTag(plain->substr(0, kPersonTagBytes)),
                         plain->substr(kPersonTagBytes)};
    }
    Status check_secret(bool read_only);
    Status fetch(PersonKeys& keys) {
        if (exchange == nullptr) return base::ok();
        const std::lock_guard lock(fetch_mutex);
        return exchange->fetch(keys);
    }
    Result<std::optional<Key>> find(const PersonTag& tag) const;
    Result<Sealing> keys_for(std::span<const Letter> letters);
    Status make(const std::vector<size_t>& missing, Sealing& sealing);
    Result<std::vector<std::string>> ids_of(const PersonTag& tag) const;
    Result<std::optional<std::string>> look_up(PersonKeys& keys, const std::string& id,
                                               std::string_view name);
    using Destroyed = std::map<PersonTag, std::vector<std::string>>;
    Status write_destroyed(storage::WriteBatch& batch, const Destroyed& destroyed,
                           std::unique_lock<std::mutex> lock);
};

PersonKeys::PersonKeys(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PersonKeys::~PersonKeys() = default;

/// Detects a wrong secret before keys are made with it that no other node could read.
Status PersonKeys::Impl::check_secret(bool read_only) {
    const std::string id = derive(secret, "rampart person secret id");
    RAMPART_TRY(const auto known, db->get(kMeta, kSecretKey));
    if (known == id || (!known && read_only)) return base::ok();
    if (known) {
        return base::make_error(Reason::kOtherSecret,
                                "the person keys in '{}' are wrapped with another secret; "
                                "restore the file keys/person that they were made with",
                                db->path().string());
    }
    storage::WriteBatch batch;
    batch.put(kMeta, kSecretKey, id);
    return db->write(batch, Sync::kAlways);
}

namespace {

const std::vector<std::string> kFamilies{"meta", "keys", "people"};

Status check_length(std::string_view secret) {
    if (secret.size() >= kMinSecretBytes) return base::ok();
    return base::make_error(Reason::kBadSecret, "the secret has {} bytes; {} are needed",
                            secret.size(), kMinSecretBytes);
}

}  // namespace

Result<std::unique_ptr<PersonKeys>> PersonKeys::open(
    const std::filesystem::path& folder, std::string secret, KeyExchange* exchange,
    std::shared_ptr<storage::MemoryBudget> memory) {
    RAMPART_RETURN_IF_ERROR(check_length(secret));
    storage::OpenOptions options;
    options.budget = std::move(memory);
    RAMPART_TRY(auto db, storage::Database::open(folder, kFamilies, options));
    return make(std::move(db), std::move(secret), exchange, false);
}

Result<std::unique_ptr<PersonKeys>> PersonKeys::open_read_only(const std::filesystem::path& folder,
                                                               std::string secret) {
    RAMPART_RETURN_IF_ERROR(check_length(secret));
    storage::OpenOptions options;
    options.read_only = true;
    RAMPART_TRY(auto db, storage::Database::open(folder, kFamilies, options));
    return make(std::move(db), std::move(secret), nullptr, true);
}

Result<std::unique_ptr<PersonKeys>> PersonKeys::make(std::unique_ptr<storage::Database> db,
                                                     std::string secret, KeyExchange* exchange,
                                                     bool read_only) {
    auto impl = std::make_unique<Impl>();
    impl->wrapping = derive(secret, "rampart person key wrapping");
    impl->secret = std::move(secret);
    impl->exchange = exchange;
    impl->db = std::move(db);
    RAMPART_RETURN_IF_ERROR(impl->check_secret(read_only));
    return std::unique_ptr<PersonKeys>(new PersonKeys(std::move(impl)));
}

Result<std::vector<std::string>> PersonKeys::Impl::ids_of(const PersonTag& tag) const {
    RAMPART_TRY(const auto list, db->get(kPeople, tag.value()));
    std::vector<std::string> ids;
    for (size_t at = 0; list && at + kKeyIdBytes <= list->size(); at += kKeyIdBytes) {
        ids.push_back(list->substr(at, kKeyIdBytes));
    }
    return ids;
}

/// Returns the key that seals the person's letters; nullopt: there is none yet.
Result<std::optional<Key>> PersonKeys::Impl::find(const PersonTag& tag) const {
    RAMPART_TRY(const auto ids, ids_of(tag));
    if (ids.empty()) return std::optional<Key>();
    RAMPART_TRY(const auto stored, db->get(kKeys, ids.front()));
    if (!stored || stored->empty() || stored->front() != kLive) {
        return base::make_error(Reason::kBadPersonKey, "person key {} is listed but missing",
                                base::to_hex(ids.front()));
    }
    RAMPART_TRY(auto key, unwrap(ids.front(), std::string_view(*stored).substr(1)));
    return std::optional(Key{ids.front(), std::move(key.secret)});
}

/// Creates the missing keys of these persons.
Status PersonKeys::Impl::make(const std::vector<size_t>& missing, Sealing& sealing) {
    std::vector<KeyRecord> records;
    storage::WriteBatch batch;
    for (const size_t i : missing) {
        const PersonTag& tag = sealing.people[i];
        Key key{base::random_bytes(kKeyIdBytes), base::random_bytes(base::kAeadKeyBytes)};
        records.push_back({key.id, wrap(tag, key)});
        batch.put(kKeys, key.id, kLive + records.back().wrapped);
        batch.put(kPeople, tag.value(), key.id);
        sealing.keys[i] = std::move(key);
    }
    // publishes first: an unused published key does no harm, but a used key that only this node has
    // would
    if (exchange != nullptr) RAMPART_RETURN_IF_ERROR(exchange->publish(records));
    RAMPART_RETURN_IF_ERROR(db->write(batch, Sync::kAlways));
    for (const size_t i : missing) {
        cache.put(cache.generation(), sealing.people[i], sealing.keys[i], true);
    }
    return base::ok();
}

/// Waits for no other call where the cache has all keys: appends are not held up by those that
/// write new keys.
Result<Sealing> PersonKeys::Impl::keys_for(std::span<const Letter> letters) {
    Sealing sealing;
    sealing.key_of.reserve(letters.size());
    std::unordered_map<std::string, size_t> places;  // index of each person, by tag
    std::vector<size_t> missing;
    for (const Letter& letter : letters) {
        PersonTag tag = person_tag(secret, letter.person);
        const auto [place, is_new] = places.try_emplace(tag.value(), sealing.people.size());
        sealing.key_of.push_back(place->second);
        if (!is_new) continue;
        auto key = cache.of_person(tag);
        if (!key) missing.push_back(sealing.people.size());
        sealing.people.push_back(std::move(tag));
        sealing.keys.push_back(std::move(key).value_or(Key{}));
    }
    if (missing.empty()) return sealing;
    const std::lock_guard lock(mutex);
    std::vector<size_t> made;
    for (const size_t i : missing) {
        const PersonTag& tag = sealing.people[i];
        auto key = cache.of_person(tag);
        if (!key) {
            RAMPART_TRY(key, find(tag));
            if (key) cache.put(cache.generation(), tag, *key, true);
        }
        if (!key) made.push_back(i);
        sealing.keys[i] = std::move(key).value_or(Key{});
    }
    if (!made.empty()) RAMPART_RETURN_IF_ERROR(make(made, sealing));
    return sealing;
}

Status PersonKeys::prepare(std::span<const domain::PersonId> people) {
    std::vector<Letter> letters;
    letters.reserve(people.size());
    for (const auto& person : people) letters.push_back({person, {}, {}});
    return impl_->keys_for(letters).map([](const Sealing&) {});
}

Result<std::vector<std::string>> PersonKeys::seal(std::span<const Letter> letters) {
    RAMPART_TRY(const auto sealing, impl_->keys_for(letters));
    std::vector<std::string> envelopes;
    envelopes.reserve(letters.size());
    for (size_t i = 0; i < letters.size(); ++i) {
        const Letter& letter = letters[i];
        const Key& key = sealing.keys[sealing.key_of[i]];
        std::string envelope = kEnvelopeFormat + key.id;
        envelope.reserve(kEnvelopeOverheadBytes + letter.content.size());
        envelope += base::seal(key.secret, envelope + std::string(letter.name), letter.content);
        envelopes.push_back(std::move(envelope));
    }
    return envelopes;
}

bool PersonKeys::is_envelope(std::string_view bytes) {
    return !bytes.empty() && bytes.front() == kEnvelopeFormat;
}

Result<std::optional<std::string>> PersonKeys::unseal(std::string_view name,
                                                      std::string_view envelope) {
    if (!is_envelope(envelope) || envelope.size() < kEnvelopeOverheadBytes) {
        return base::make_error(Reason::kBadEnvelope, "'{}': {} bytes are not an envelope", name,
                                envelope.size());
    }
    const std::string id(envelope.substr(1, kKeyIdBytes));
    auto secret = impl_->cache.secret_of(id);
    if (!secret) {
        RAMPART_TRY(secret, impl_->look_up(*this, id, name));
    }
    if (!secret) return std::optional<std::string>();
    const std::string_view head = envelope.substr(0, kHeadBytes);
    auto content =
        base::unseal(*secret, std::string(head) + std::string(name), envelope.substr(kHeadBytes));
    if (!content) return content.error().with_context(fmt::format("'{}'", name));
    return std::optional(*std::move(content));
}

/// Returns nullopt if the key is destroyed.
Result<std::optional<std::string>> PersonKeys::Impl::look_up(PersonKeys& keys,
                                                             const std::string& id,
                                                             std::string_view name) {
    const uint64_t generation = cache.generation();
    RAMPART_TRY(auto stored, db->get(kKeys, id));
    if (!stored && exchange != nullptr) {
        RAMPART_RETURN_IF_ERROR(fetch(keys));
        RAMPART_TRY(stored, db->get(kKeys, id));
    }
    if (!stored) {
        const std::lock_guard lock(unknown_mutex);
        if (unknown.size() < kMostMissing) unknown.emplace(id, name);
        return base::make_error(Reason::kUnknownPersonKey,
                                "'{}' is sealed with key {}, which is not here; restore the folder "
                                "privacy/keys, or wait for the node that made it",
                                name, base::to_hex(id));
    }
    if (stored->size() == 1 && stored->front() == kDestroyed) return std::optional<std::string>();
    RAMPART_TRY(auto key, unwrap(id, std::string_view(*stored).substr(1)));
    cache.put(generation, key.tag, {id, key.secret}, false);
    return std::optional(std::move(key.secret));
}

/// Writes that keys are destroyed and takes their bytes out of the files; others get keys while it
/// does the latter. With `destroying` held, and `lock`, of `mutex`. A mark stays where a crash cut
/// it off: then the next call goes through all that there is.
Status PersonKeys::Impl::write_destroyed(storage::WriteBatch& batch, const Destroyed& destroyed,
                                         std::unique_lock<std::mutex> lock) {
    RAMPART_TRY(const auto cut_off, db->get(kMeta, kDestroyingKey));
    if (!destroyed.empty()) batch.put(kMeta, kDestroyingKey, "");
    RAMPART_RETURN_IF_ERROR(db->write(batch, Sync::kAlways));
    if (destroyed.empty() && !cut_off) return base::ok();
    cache.clear();
    lock.unlock();
    const auto only = [](const std::string& key) { return KeyRange{key, key + '\0'}; };
    std::vector<storage::FamilyRange> parts;
    for (const auto& [tag, ids] : destroyed) {
        parts.push_back({kPeople, only(tag.value())});
        for (const auto& id : ids) parts.push_back({kKeys, only(id)});
    }
    if (cut_off) parts = {{kPeople}, {kKeys}};
    RAMPART_RETURN_IF_ERROR(db->compact(parts));
    storage::WriteBatch done;
    done.erase(kMeta, kDestroyingKey);
    return db->write(done, Sync::kNever);
}

Result<size_t> PersonKeys::count(const domain::PersonId& person) const {
    return impl_->ids_of(tag_of(person)).map([](const auto& ids) { return ids.size(); });
}

Result<size_t> PersonKeys::destroy(const domain::PersonId& person) {
    RAMPART_RETURN_IF_ERROR(impl_->fetch(*this));
    const PersonTag tag = tag_of(person);
    const std::lock_guard destroying(impl_->destroying);
    std::unique_lock lock(impl_->mutex);
    RAMPART_TRY(const auto ids, impl_->ids_of(tag));
    std::vector<KeyRecord> records;
    storage::WriteBatch batch;
    for (const auto& id : ids) {
        records.push_back({id, ""});
        batch.put(kKeys, id, std::string(1, kDestroyed));
    }
    batch.erase(kPeople, tag.value());
    // publishes first: a repeated call must still find what to publish
    if (impl_->exchange != nullptr && !records.empty()) {
        RAMPART_RETURN_IF_ERROR(impl_->exchange->publish(records));
    }
    Impl::Destroyed destroyed;
    if (!ids.empty()) destroyed.emplace(tag, ids);
    RAMPART_RETURN_IF_ERROR(impl_->write_destroyed(batch, destroyed, std::move(lock)));
    return ids.size();
}

Status PersonKeys::learn(std::span<const KeyRecord> records, std::string_view cursor) {
    const std::lock_guard destroying(impl_->destroying);
    std::unique_lock lock(impl_->mutex);
    storage::WriteBatch batch;
    std::map<std::string, std::string> people;  // changed entries
    const auto list_of = [&](const PersonTag& tag) -> Result<std::string*> {
        const auto it = people.find(tag.value());
        if (it != people.end()) return &it->second;
        RAMPART_TRY(auto stored, impl_->db->get(kPeople, tag.value()));
        return &people.emplace(tag.value(), std::move(stored).value_or("")).first->second;
    };
    std::map<std::string, std::string> keys;
    Impl::Destroyed destroyed_now;  // those that were known here
    for (const KeyRecord& record : records) {
        if (record.id.size() != kKeyIdBytes) {
            return base::make_error(Reason::kBadPersonKey, "a key's id has {} bytes",
                                    record.id.size());
        }
        const auto seen = keys.find(record.id);
        RAMPART_TRY(auto stored, impl_->db->get(kKeys, record.id));
        if (seen != keys.end()) stored = seen->second;
        const bool destroyed = stored && stored->size() == 1;
        if (destroyed || (stored && !record.wrapped.empty())) continue;  // nothing new
        const std::string_view wrapped =
            record.wrapped.empty() && stored ? std::string_view(*stored).substr(1) : record.wrapped;
        if (!wrapped.empty()) {
            RAMPART_TRY(const auto key, impl_->unwrap(record.id, wrapped));
            RAMPART_TRY(std::string * list, list_of(key.tag));
            if (!record.wrapped.empty()) {
                *list += record.id;
            } else {
                destroyed_now[key.tag].push_back(record.id);
                for (size_t at = 0; at < list->size(); at += kKeyIdBytes) {
                    if (list->compare(at, kKeyIdBytes, record.id) == 0)
                        list->erase(at, kKeyIdBytes);
                }
            }
        }
        keys[record.id] =
            record.wrapped.empty() ? std::string(1, kDestroyed) : kLive + record.wrapped;
    }
    for (const auto& [id, value] : keys) batch.put(kKeys, id, value);
    for (const auto& [tag, list] : people) {
        list.empty() ? batch.erase(kPeople, tag) : batch.put(kPeople, tag, list);
    }
    batch.put(kMeta, kCursorKey, cursor);
    return impl_->write_destroyed(batch, destroyed_now, std::move(lock));
}

Status PersonKeys::refresh() { return impl_->fetch(*this); }

Result<std::string> PersonKeys::cursor() const {
    RAMPART_TRY(auto stored, impl_->db->get(kMeta, kCursorKey));
    return std::move(stored).value_or("");
}

Status PersonKeys::publish_all() {
    if (impl_->exchange == nullptr) return base::ok();
    std::string from;
    for (bool more = true; more;) {
        more = false;
        std::vector<KeyRecord> records;
        const auto take = [&](std::string_view id, std::string_view value) -> Result<bool> {
            more = records.size() == kPublishedTogether;
            if (more) from = id;
            if (!more) records.push_back({std::string(id), std::string(value.substr(1))});
            return !more;
        };
        const std::lock_guard lock(impl_->mutex);
        RAMPART_RETURN_IF_ERROR(impl_->db->scan(kKeys, {from, ""}, take));
        if (!records.empty()) RAMPART_RETURN_IF_ERROR(impl_->exchange->publish(records));
    }
    return base::ok();
}

Result<std::vector<PersonKeys::Missing>> PersonKeys::missing() const {
    const std::lock_guard lock(impl_->unknown_mutex);
    std::vector<Missing> left;
    auto& unknown = impl_->unknown;
    for (auto it = unknown.begin(); it != unknown.end();) {
        RAMPART_TRY(const auto stored, impl_->db->get(kKeys, it->first));
        if (!stored) left.push_back({it->first, it->second});
        it = stored ? unknown.erase(it) : std::next(it);
    }
    return left;
}

Status PersonKeys::give_up(std::span<const Missing> keys) {
    const std::lock_guard lock(impl_->mutex);
    std::vector<KeyRecord> records;
    storage::WriteBatch batch;
    for (const auto& key : keys) {
        RAMPART_TRY(const auto stored, impl_->db->get(kKeys, key.id));
        if (stored) continue;
        records.push_back({key.id, ""});
        batch.put(kKeys, key.id, std::string(1, kDestroyed));
    }
    if (records.empty()) return base::ok();
    // publishes first: a repeated call must still find what to publish
    if (impl_->exchange != nullptr) RAMPART_RETURN_IF_ERROR(impl_->exchange->publish(records));
    return impl_->db->write(batch, Sync::kAlways);
}

PersonTag PersonKeys::tag_of(const domain::PersonId& person) const {
    return person_tag(impl_->secret, person);
}

}  // namespace rampart::privacy
