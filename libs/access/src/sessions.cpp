#include "rampart/access/sessions.hpp"

#include <algorithm>

#include "rampart/access/reasons.hpp"
#include "rampart/base/digest.hpp"

namespace rampart::access {
namespace {

constexpr size_t kIdBytes = 32;

std::string new_secret() { return base::to_hex(base::random_bytes(kIdBytes)); }

base::Error ended(std::string_view why) {
    return base::make_error(Reason::kSessionEnded, "there is no such session: {}", why);
}

}  // namespace

bool Sessions::over(const Record& record, base::TimePoint now) {
    // a clock that goes back ends a session, too
    return now < record.opened || now >= record.opened + kSessionLife ||
           now >= record.used + kSessionIdle;
}

/// Forgets sessions that are over, and, of a principal with as many as it may have, one more.
void Sessions::make_room(const std::string& principal, base::TimePoint now) {
    std::erase_if(records_, [&](const auto& one) { return over(one.second, now); });
    auto oldest = records_.end();
    size_t has = 0;
    for (auto it = records_.begin(); it != records_.end(); ++it) {
        if (it->second.principal != principal) continue;
        ++has;
        if (oldest == records_.end() || it->second.used < oldest->second.used) oldest = it;
    }
    if (has >= kMostSessionsOfPrincipal) records_.erase(oldest);
}

base::Result<OpenedSession> Sessions::open(const Caller& caller) {
    RAMPART_TRY(auto principal, callers_->identify({.token = caller.token,
                                                    .certificate = caller.certificate,
                                                    .address = caller.address}));
    const auto now = clock_.now();
    OpenedSession opened{new_secret(), {std::move(principal), new_secret(), now + kSessionLife}};
    const std::lock_guard lock(mutex_);
    make_room(opened.session.principal.name, now);
    if (records_.size() >= kMostSessions)
        return base::make_error(Reason::kTooManySessions,
                                "there are {} sessions, as many as can be", records_.size());
    records_[base::sha256(opened.id).hex()] = {opened.session.principal.name,
                                               std::string(caller.token), opened.session.write_key,
                                               now, now};
    return opened;
}

base::Result<Session> Sessions::session_of(const Caller& caller) const {
    if (caller.session.empty()) return ended("the request has no cookie of one");
    const auto key = base::sha256(caller.session).hex();
    const auto now = clock_.now();
    Record record;
    {
        const std::lock_guard lock(mutex_);
        const auto found = records_.find(key);
        if (found == records_.end()) return ended("it is over, or the service was started anew");
        if (over(found->second, now)) {
            records_.erase(found);
            return ended("it is over");
        }
        if (caller.writes && !base::constant_time_equal(caller.write_key, found->second.write_key))
            return base::make_error(Reason::kWriteKeyMissing,
                                    "a request of a session that changes something needs the "
                                    "write key of the session");
        found->second.used = now;
        record = found->second;
    }
    auto principal =
        callers_->identify({.token = record.token,
                            .certificate = caller.certificate,  // a token may be bound to it
                            .address = caller.address});
    const bool other = principal && principal->name != record.principal;
    if (principal && !other)
        return Session{*std::move(principal), record.write_key, record.opened + kSessionLife};
    if (!other && principal.error().is(Reason::kAddressNotAllowed)) return principal.error();
    const std::lock_guard lock(mutex_);
    records_.erase(key);
    return ended("the token with which it was opened is not taken any more");
}

base::Result<Principal> Sessions::identify(const Caller& caller) const {
    if (!caller.token.empty() || caller.session.empty()) return callers_->identify(caller);
    RAMPART_TRY(auto session, session_of(caller));
    return std::move(session.principal);
}

base::Status Sessions::close(const Caller& caller) {
    RAMPART_RETURN_IF_ERROR(session_of(caller));
    const std::lock_guard lock(mutex_);
    records_.erase(base::sha256(caller.session).hex());
    return base::ok();
}

}  // namespace rampart::access
