#include "rampart/access/directory.hpp"

#include <algorithm>

#include "rampart/access/reasons.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"

namespace rampart::access {
namespace {

namespace fs = std::filesystem;
using base::Duration;
using base::Result;
using base::Status;

constexpr base::Logger kLog("access");
constexpr size_t kMaxTokenBytes = 256;
constexpr auto kFirstToken = Duration::days(1);
constexpr auto kEarlierToken = Duration::days(30);

base::Error unknown_caller() {
    return base::make_error(Reason::kUnauthenticated,
                            "this request needs the header 'Authorization: Bearer TOKEN' with a "
                            "token of this service, or the client certificate of a principal");
}

/// Returns the token in a file; empty: there is no file.
Result<std::string> token_in(const fs::path& file) {
    std::error_code ec;
    if (!fs::exists(file, ec) && !ec) return std::string();
    RAMPART_TRY(auto text, base::read_file(file, kMaxTokenBytes + 1));
    text.erase(std::min(text.find('\n'), text.size()));
    return text;
}

}  // namespace

/// What was read, by what a caller shows.
struct Directory::Known {
    std::vector<Entry> entries;
    std::map<std::string, size_t, std::less<>> by_token, by_previous, by_certificate;
};

Result<std::shared_ptr<Directory>> Directory::open(Files files, const base::Clock& clock) {
    std::shared_ptr<Directory> directory(new Directory(std::move(files), clock));
    std::error_code ec;
    if (!fs::exists(directory->files_.principals, ec) && !ec)
        RAMPART_RETURN_IF_ERROR(directory->make_first());
    directory->stamp_ = directory->stamp();
    RAMPART_RETURN_IF_ERROR(directory->load());
    return directory;
}

Status Directory::make_first() {
    const auto now = clock_.now();
    RAMPART_TRY(const auto earlier, token_in(files_.token));
    if (!earlier.empty()) {
        Scopes most;
        for (const auto& scope : kScopes)
            if (scope.value != Scope::kGrant) most.add(scope.value);
        RAMPART_RETURN_IF_ERROR(
            add_principal(files_.principals, {.name = "earlier",
                                              .scopes = most,
                                              .token_sha256 = base::sha256(earlier).hex(),
                                              .created = now,
                                              .expires = now + kEarlierToken}));
        kLog.warning(
            "msg=\"the one token of an earlier release is the principal 'earlier' until {}; give "
            "each caller a token of its own (rampart token create), then revoke it\"",
            base::to_iso8601(now + kEarlierToken));
        return base::ok();
    }
    const Entry first{
        .name = "first", .scopes = {Scope::kGrant}, .created = now, .expires = now + kFirstToken};
    RAMPART_TRY(const auto token, create(files_.principals, first));
    kLog.info("msg=\"made the principal 'first', which for one day can make tokens\" token_file={}",
              files_.token.string());
    return base::write_file_atomically(files_.token, token + "\n", 0600);
}

Directory::Stamp Directory::stamp() const {
    std::error_code ec;
    Stamp stamp{fs::last_write_time(files_.principals, ec), 0};
    if (!ec) stamp.second = fs::file_size(files_.principals, ec);
    return stamp;
}

Status Directory::load() {
    auto known = std::make_shared<Known>();
    RAMPART_TRY(known->entries, read_principals(files_.principals));
    for (size_t i = 0; i < known->entries.size(); ++i) {
        const auto& entry = known->entries[i];
        if (!entry.token_sha256.empty()) known->by_token[entry.token_sha256] = i;
        if (!entry.previous_sha256.empty()) known->by_previous[entry.previous_sha256] = i;
        if (!entry.certificate.empty() && entry.token_sha256.empty())
            known->by_certificate[entry.certificate] = i;
    }
    const std::lock_guard lock(mutex_);
    known_ = std::move(known);
    return base::ok();
}

std::shared_ptr<const Directory::Known> Directory::known() const {
    const std::lock_guard lock(mutex_);
    return known_;
}

Result<Principal> Directory::identify(const Caller& caller) const {
    const auto known = this->known();
    const auto now = clock_.now();
    const Entry* entry = nullptr;
    if (!caller.token.empty()) {
        if (caller.token.size() > kMaxTokenBytes) return unknown_caller();
        // the digests are compared, so that the time gives nothing of a token away
        const auto digest = base::sha256(caller.token).hex();
        if (const auto it = known->by_token.find(digest); it != known->by_token.end()) {
            entry = &known->entries[it->second];
        } else if (const auto old = known->by_previous.find(digest);
                   old != known->by_previous.end() &&
                   now < *known->entries[old->second].previous_until) {
            entry = &known->entries[old->second];
        }
        // a token that is bound to a certificate is worth nothing without it
        if (entry != nullptr && !entry->certificate.empty() &&
            entry->certificate != caller.certificate)
            entry = nullptr;
    } else if (const auto it = known->by_certificate.find(caller.certificate);
               it != known->by_certificate.end()) {
        entry = &known->entries[it->second];
    }
    if (entry == nullptr) return unknown_caller();
    if (entry->expires && now >= *entry->expires)
        return base::make_error(Reason::kTokenExpired, "the access of principal '{}' ended at {}",
                                entry->name, base::to_iso8601(*entry->expires));
    if (!allows(entry->addresses, caller.address))
        return base::make_error(Reason::kAddressNotAllowed,
                                "principal '{}' may not call from the address {}", entry->name,
                                caller.address);
    return Principal{entry->name, entry->scopes};
}

Result<bool> Directory::refresh() {
    const auto now = stamp();
    {
        const std::lock_guard lock(mutex_);
        if (now == stamp_) return false;
        stamp_ = now;
    }
    RAMPART_RETURN_IF_ERROR(load());
    return true;
}

std::vector<Entry> Directory::entries() const { return known()->entries; }

}  // namespace rampart::access
