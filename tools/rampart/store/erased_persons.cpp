#include "store/erased_persons.hpp"

#include <algorithm>

#include "rampart/base/digest.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/privacy/at_rest.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/runtime/secrets.hpp"
#include "rampart/storage/folder.hpp"

namespace rampart::cli {

namespace fs = std::filesystem;
using base::Result;
using base::TimePoint;

namespace {

constexpr char kPersonField = 0x12;  // field 2 of a protobuf message of ours, of bytes

/// What the audit log says of a person: the last erasure that was done, unless another was begun.
struct Done {
    uint64_t sequence = 0;  // the number of the entry
    TimePoint at;
};

Result<std::map<std::string, Done>> read_audit(const fs::path& store) {
    std::map<std::string, Done> done;
    if (!storage::is_database(store / "registry" / "registry")) return done;
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(store / "registry",
                                              registry::ModelRegistry::Mode::kReadOnly));
    RAMPART_TRY(const auto entries, registry->audit_entries());
    for (const auto& entry : entries) {
        const auto person = entry.details.find("person");
        if (person == entry.details.end()) continue;
        if (entry.action == "erase") done.erase(person->second);
        if (entry.action == "erased") done[person->second] = {entry.sequence, entry.at};
    }
    return done;
}

std::string hex_of(const privacy::PersonTag& tag) { return base::to_hex(tag.value()); }

/// The bytes of a protobuf string that begins with its length at `at`.
std::optional<std::string_view> text_at(std::string_view bytes, size_t at) {
    if (at >= bytes.size()) return std::nullopt;
    size_t size = static_cast<unsigned char>(bytes[at++]);
    if (size >= 0x80) {
        if (at >= bytes.size()) return std::nullopt;
        size = (size & 0x7f) | static_cast<size_t>(static_cast<unsigned char>(bytes[at++])) << 7;
    }
    if (size == 0 || size > base::limits::kMaxIdBytes || at + size > bytes.size())
        return std::nullopt;
    return bytes.substr(at, size);
}

}  // namespace

/// In this order: a key that was destroyed before it was looked at belongs to an erasure that is in
/// the register after that, or done.
Result<ErasedPersons> ErasedPersons::of(const rampartd::Settings& settings) {
    ErasedPersons out;
    const auto& store = settings.store;
    const auto folder = store / "privacy" / "keys";
    const auto& named = settings.privacy.secret;
    const auto secret_file = named.empty() ? store / "keys" / "person" : named;
    std::error_code ignored;  // then it is not there
    if (storage::is_database(folder) && fs::exists(secret_file, ignored)) {
        RAMPART_TRY(auto secret, runtime::load_secret(secret_file));
        RAMPART_TRY(out.key_faults_, privacy::check_keys_at_rest(folder, secret));
        RAMPART_TRY(out.keys_, privacy::PersonKeys::open_read_only(folder, std::move(secret)));
    }
    RAMPART_TRY(const auto before, read_audit(store));
    privacy::RegisterAtRest list;
    if (storage::is_database(store / "privacy" / "register")) {
        RAMPART_TRY(list, privacy::read_register(store / "privacy" / "register"));
    }
    out.sealed_log_ = list.sealed_log;
    RAMPART_TRY(const auto done, read_audit(store));
    for (const auto& [tag, one] : done) out.persons_[tag] = one.at;
    for (const auto& one : list.begun) {
        const auto tag = hex_of(one.person);
        const auto earlier = before.find(tag), later = done.find(tag);
        // none was begun since it was done, and so none is under way
        if (earlier != before.end() && later != done.end() &&
            earlier->second.sequence == later->second.sequence) {
            out.left_in_register_.insert(tag);
            continue;
        }
        out.under_way_.insert(tag);
        out.decisions_.insert(one.decisions.begin(), one.decisions.end());
    }
    return out;
}

ErasedPersons::Opened ErasedPersons::open(const std::string& name,
                                          const std::string& envelope) const {
    if (keys_ == nullptr) return {};
    auto content = keys_->unseal(name, envelope);
    if (!content) return {};  // damaged, or of a key that is not here
    if (!*content) return {Opened::State::kDestroyed};
    return {Opened::State::kOpen, **std::move(content)};
}

std::string ErasedPersons::name_of(const domain::PersonId& person) const {
    return keys_ == nullptr ? "" : hex_of(keys_->tag_of(person));
}

bool ErasedPersons::is_under_way(const domain::PersonId& person) const {
    return !under_way_.empty() && under_way_.contains(name_of(person));
}

std::optional<TimePoint> ErasedPersons::erased_at(const domain::PersonId& person) const {
    if (none()) return std::nullopt;
    const auto name = name_of(person);
    const auto found = persons_.find(name);
    if (found == persons_.end() || under_way_.contains(name)) return std::nullopt;
    return found->second;
}

std::optional<TimePoint> ErasedPersons::erased_person_in(std::string_view bytes) const {
    if (none()) return std::nullopt;
    std::optional<TimePoint> last;
    for (size_t at = bytes.find(kPersonField); at != std::string_view::npos;
         at = bytes.find(kPersonField, at + 1)) {
        const auto text = text_at(bytes, at + 1);
        if (!text) continue;
        const domain::PersonId person{std::string(*text)};
        if (!domain::check_id("person_id", person.value())) continue;
        if (const auto erased = erased_at(person)) last = std::max(last, erased);
    }
    return last;
}

}  // namespace rampart::cli
