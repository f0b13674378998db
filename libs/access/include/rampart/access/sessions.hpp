#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "rampart/access/authenticator.hpp"
#include "rampart/base/clock.hpp"

namespace rampart::access {

/// A session ends so long after it was opened, and so long after its last request.
inline constexpr base::Duration kSessionLife = base::Duration::seconds(8 * 3600);
inline constexpr base::Duration kSessionIdle = base::Duration::seconds(3600);
/// Sessions of one principal; beyond, the one that was not used for longest ends.
inline constexpr size_t kMostSessionsOfPrincipal = 20;
/// Sessions of all principals; beyond, none is opened.
inline constexpr size_t kMostSessions = 2000;

/// A session of a caller who asks about it.
struct Session {
    Principal principal;
    // What a request that changes something has to send beside the id. Pages of other origins can
    // make a browser send its cookies, and cannot read this.
    std::string write_key;
    base::TimePoint ends;
};

struct OpenedSession {
    std::string id;  // 64 hex digits; only its digest is kept
    Session session;
};

/// Sessions of people who use a browser: each stands for the token, or the client certificate, with
/// which it was opened. Every request of a session is asked of `callers` again, so that it ends
/// with its token and has the scopes of now. Sessions are in memory only: they end with the
/// process. Thread safe.
class Sessions final : public Authenticator {
  public:
    /// `clock`: the wall clock; it has to outlive this.
    Sessions(std::shared_ptr<const Authenticator> callers, const base::Clock& clock)
        : callers_(std::move(callers)), clock_(clock) {}

    /// Opens a session for a caller with a token or a certificate. Errors: those of `callers`,
    /// resource_exhausted "too_many_sessions".
    base::Result<OpenedSession> open(const Caller& caller);

    /// Knows a caller by a session, where one was sent without a token; others as `callers` do.
    /// Errors: permission_denied "session_ended" (unknown, over, or its token is not taken any
    /// more), "write_key_missing" (Caller::writes without the session's write key); those of
    /// `callers`.
    base::Result<Principal> identify(const Caller& caller) const override;

    /// Returns the session of the caller; identify()'s errors, and "session_ended" where the caller
    /// has none.
    base::Result<Session> session_of(const Caller& caller) const;

    /// Ends the session of the caller. Errors: session_of()'s.
    base::Status close(const Caller& caller);

  private:
    struct Record {
        std::string principal, token, write_key;  // token: empty where it was a certificate
        base::TimePoint opened, used;
    };
    using Records = std::map<std::string, Record>;  // by the SHA-256 of the id

    static bool over(const Record& record, base::TimePoint now);
    void make_room(const std::string& principal, base::TimePoint now);

    const std::shared_ptr<const Authenticator> callers_;
    const base::Clock& clock_;
    mutable std::mutex mutex_;  // guards what follows
    mutable Records records_;
};

}  // namespace rampart::access
