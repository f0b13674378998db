#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rampart/access/scope.hpp"
#include "rampart/base/result.hpp"

namespace rampart::access {

/// Who calls, as a server knows it. The views have to last for the call only.
struct Caller {
    std::string_view token = {};        // empty: none was sent
    std::string_view certificate = {};  // name in the client certificate, "DNS:…"; empty: none
    std::string_view address = {};      // numeric IPv4 or IPv6
    std::string_view session = {};      // id of a session (sessions.hpp); empty: none was sent
    std::string_view write_key = {};    // what a change within a session has to come with
    bool writes = false;                // the request may change something
};

/// A caller that is known. The name is the actor of what it does.
struct Principal {
    std::string name;
    Scopes scopes;
};

/// Knows who a caller is. Implementations are safe to call from several threads.
class Authenticator {
  public:
    virtual ~Authenticator() = default;
    /// Errors: permission_denied "unauthenticated" (no token or certificate, or an unknown one),
    /// "token_expired", "address_not_allowed".
    virtual base::Result<Principal> identify(const Caller& caller) const = 0;
};

/// Returns an authenticator that refuses every caller.
std::shared_ptr<const Authenticator> no_one();

/// Returns an authenticator that knows one token, of the given principal. An empty token is none.
std::shared_ptr<const Authenticator> one_token(std::string token,
                                               Principal principal = {"caller", Scopes::all()});

/// Checks that a principal has the scope. Errors: "missing_scope".
base::Status check_scope(const Principal& principal, Scope scope);

}  // namespace rampart::access
