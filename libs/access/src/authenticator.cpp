#include "rampart/access/authenticator.hpp"

#include <fmt/ranges.h>

#include "rampart/access/reasons.hpp"
#include "rampart/base/digest.hpp"

namespace rampart::access {
namespace {

class OneToken final : public Authenticator {
  public:
    OneToken(std::string token, Principal principal)
        : token_(std::move(token)), principal_(std::move(principal)) {}

    base::Result<Principal> identify(const Caller& caller) const override {
        if (!token_.empty() && base::constant_time_equal(caller.token, token_)) return principal_;
        return base::make_error(Reason::kUnauthenticated,
                                "this request needs the header 'Authorization: Bearer TOKEN' with "
                                "a token of this service");
    }

  private:
    std::string token_;
    Principal principal_;
};

}  // namespace

std::shared_ptr<const Authenticator> no_one() { return one_token({}); }

std::shared_ptr<const Authenticator> one_token(std::string token, Principal principal) {
    return std::make_shared<const OneToken>(std::move(token), std::move(principal));
}

base::Status check_scope(const Principal& principal, Scope scope) {
    if (principal.scopes.has(scope)) return base::ok();
    return base::make_error(
        Reason::kMissingScope, "this request needs the scope '{}', and the principal '{}' has {}",
        to_string(scope), principal.name, fmt::join(principal.scopes.names(), ", "));
}

}  // namespace rampart::access
