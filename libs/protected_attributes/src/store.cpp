#include "rampart/protected_attributes/store.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <numeric>
#include <string>
#include <tuple>

#include "memberships.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/protected_attributes/codec.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::protected_attributes {

using base::Result;

namespace {

constexpr storage::ColumnFamily kPeople{0};
/// Records by the time from which they were in force: key_of().
constexpr storage::ColumnFamily kHistory{1};
constexpr size_t kTimeBytes = 8;

/// Returns the prefix of the person's keys in the history: no id contains a zero byte.
std::string prefix_of(const domain::PersonId& person) { return person.value() + '\0'; }

/// Returns prefix and time, in the order of the times.
std::string key_of(const domain::PersonId& person, base::TimePoint at) {
    std::string key = prefix_of(person);
    base::append_i64(key, at.micros());
    return key;
}

/// Returns whether `a` replaces `b`; a total order, so that the order of arrival does not matter.
bool newer(const ProtectedAttributes& a, const ProtectedAttributes& b) {
    return a.event_time != b.event_time ? a.event_time > b.event_time : encode(a) > encode(b);
}

}  // namespace

struct ProtectedStore::Impl {
    AttributeCatalog catalog;
    std::unique_ptr<storage::Database> db;
    std::mutex put_mutex;  // guards read, compare, write
};

ProtectedStore::ProtectedStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ProtectedStore::~ProtectedStore() = default;
const AttributeCatalog& ProtectedStore::catalog() const { return impl_->catalog; }

Result<std::unique_ptr<ProtectedStore>> ProtectedStore::open(
    const std::filesystem::path& folder, AttributeCatalog catalog,
    std::shared_ptr<storage::MemoryBudget> memory) {
    storage::OpenOptions options;
    options.budget = std::move(memory);
    RAMPART_TRY(auto db, storage::Database::open(folder, {"people", "history"}, options));
    auto impl = std::unique_ptr<Impl>(new Impl{std::move(catalog), std::move(db), {}});
    return std::unique_ptr<ProtectedStore>(new ProtectedStore(std::move(impl)));
}

base::Status ProtectedStore::put(std::span<const ProtectedAttributes> people, base::TimePoint at) {
    for (const auto& person : people) {
        RAMPART_RETURN_IF_ERROR(validate(person));
        const auto known = impl_->catalog.check(person);
        if (!known) return known.error().with_context(fmt::format("person '{}'", person.person));
    }
    const std::lock_guard lock(impl_->put_mutex);
    std::map<std::string_view, const ProtectedAttributes*> winners;
    for (const auto& person : people) {
        const auto [it, inserted] = winners.emplace(person.person.value(), &person);
        if (!inserted && newer(person, *it->second)) it->second = &person;
    }
    storage::WriteBatch batch;
    for (const auto& [id, person] : winners) {
        RAMPART_TRY(const auto present, get(person->person));
        if (present && !newer(*person, *present)) continue;
        const std::string bytes = encode(*person);
        // not before the last: a clock that was set back must not change what was in force then
        RAMPART_TRY(
            const auto last,
            impl_->db->last(kHistory, storage::KeyRange::with_prefix(prefix_of(person->person))));
        batch.put(kPeople, id, bytes);
        batch.put(kHistory, std::max(key_of(person->person, at), last ? last->first : ""), bytes);
    }
    return batch.empty() ? base::ok() : impl_->db->write(batch, storage::Sync::kAlways);
}

base::Status ProtectedStore::erase(const domain::PersonId& person) {
    const std::string& id = person.value();
    const auto versions = storage::KeyRange::with_prefix(prefix_of(person));
    {
        const std::lock_guard lock(impl_->put_mutex);
        storage::WriteBatch batch;
        batch.erase(kPeople, id);
        const auto erase_version = [&](std::string_view key, std::string_view) -> Result<bool> {
            batch.erase(kHistory, key);
            return true;
        };
        RAMPART_RETURN_IF_ERROR(impl_->db->scan(kHistory, versions, erase_version));
        RAMPART_RETURN_IF_ERROR(impl_->db->write(batch, storage::Sync::kAlways));
    }
    const storage::FamilyRange parts[] = {{kHistory, versions}, {kPeople, {id, id + '\0'}}};
    return impl_->db->compact(parts);
}

Result<std::optional<ProtectedAttributes>> ProtectedStore::get(
    const domain::PersonId& person) const {
    RAMPART_TRY(const auto bytes, impl_->db->get(kPeople, person.value()));
    if (!bytes) return std::optional<ProtectedAttributes>();
    RAMPART_TRY(auto found, decode(*bytes));
    return std::optional(std::move(found));
}

Result<std::vector<std::string>> ProtectedStore::check() const {
    uint64_t people = 0, unreadable = 0, misplaced = 0;
    const auto examine = [&](std::string_view id, std::string_view bytes) -> Result<bool> {
        ++people;
        const auto person = decode(bytes);
        if (!person) {
            ++unreadable;
        } else if (person->person.value() != id) {
            ++misplaced;
        }
        return true;
    };
    const auto examine_version = [&](std::string_view key, std::string_view bytes) {
        const size_t suffix = kTimeBytes + 1;
        return examine(key.size() > suffix ? key.substr(0, key.size() - suffix) : key, bytes);
    };
    RAMPART_RETURN_IF_ERROR(impl_->db->scan(kPeople, storage::KeyRange::all(), examine));
    RAMPART_RETURN_IF_ERROR(impl_->db->scan(kHistory, storage::KeyRange::all(), examine_version));
    std::vector<std::string> problems;
    for (const auto& [count, what] :
         {std::pair(unreadable, "cannot be read"),
          std::pair(misplaced, "are stored under another person's key")}) {
        if (count > 0) problems.push_back(fmt::format("{} of {} records {}", count, people, what));
    }
    return problems;
}

Result<Membership> ProtectedStore::membership(const domain::PersonId& person) const {
    RAMPART_TRY(const auto found, get(person));
    if (!found) return Membership();
    return impl_->catalog.membership(*found);
}

Result<Membership> ProtectedStore::membership_at(const domain::PersonId& person,
                                                 base::TimePoint t) const {
    const storage::KeyRange until_then{prefix_of(person), key_of(person, t) + '\0'};
    RAMPART_TRY(const auto version, impl_->db->last(kHistory, until_then));
    if (!version) return Membership();
    RAMPART_TRY(const auto record, decode(version->second));
    return impl_->catalog.membership(record);
}

base::Status ProtectedStore::visit_memberships(std::span<const PersonAt> asked,
                                               const MembershipVisitor& visit) const {
    std::vector<size_t> order(asked.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::tie(asked[a].person, asked[a].at) < std::tie(asked[b].person, asked[b].at);
    });
    const Membership none;
    Memberships memberships(*impl_->db, impl_->catalog);
    for (size_t first = 0; first < order.size();) {
        std::vector<std::string_view> persons;  // some at a time, each once
        size_t end = first;
        for (; end < order.size(); ++end) {
            const auto person = asked[order[end]].person;
            if (!persons.empty() && persons.back() == person) continue;
            if (persons.size() == Memberships::kPersonsAtOnce) break;
            persons.push_back(person);
        }
        RAMPART_TRY(const auto found, memberships.find(persons, kPeople, kHistory));
        auto version = found.versions.begin();
        size_t person = 0;
        for (; first < end; ++first) {
            const auto& one = asked[order[first]];
            while (persons[person] != one.person) ++person;
            const Membership* then = &none;
            while (version != found.versions.end() && version->person < person) ++version;
            for (auto at = version; at != found.versions.end() && at->person == person; ++at)
                if (at->from <= one.at) then = at->membership;
            visit(order[first], found.now[person] != nullptr ? *found.now[person] : none, *then);
        }
    }
    return base::ok();
}

}  // namespace rampart::protected_attributes
