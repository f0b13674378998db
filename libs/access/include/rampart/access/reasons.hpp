#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::access {

#define RAMPART_ACCESS_REASONS(X)                                                                 \
    X(kAddressNotAllowed, kPermissionDenied, "address_not_allowed",                               \
      "Call from a network that the principal may use, or make another token with "               \
      "`rampart token create --address`.")                                                        \
    X(kBadPrincipal, kInvalidArgument, "bad_principal",                                           \
      "Give what the message names: a name of a-z, 0-9, '.', '_' and '-', scopes, networks as "   \
      "in 10.0.0.0/8.")                                                                           \
    X(kMissingScope, kPermissionDenied, "missing_scope",                                          \
      "Use a token with the scope that the message names; `rampart token create` makes one.")     \
    X(kNoPrincipal, kNotFound, "no_principal", "Give a name that `rampart token list` shows.")    \
    X(kPrincipalExists, kAlreadyExists, "principal_exists",                                       \
      "Choose another name, or replace its token with `rampart token rotate`.")                   \
    X(kSessionEnded, kPermissionDenied, "session_ended",                                          \
      "Sign in again: POST /v1/session with a token.")                                            \
    X(kTokenExpired, kPermissionDenied, "token_expired",                                          \
      "Ask for a new token: `rampart token rotate` makes one.")                                   \
    X(kTooManyPrincipals, kResourceExhausted, "too_many_principals",                              \
      "Revoke principals that are not used any more.")                                            \
    X(kTooManySessions, kResourceExhausted, "too_many_sessions",                                  \
      "Sign out of sessions that are not used any more, or wait until they end.")                 \
    X(kUnauthenticated, kPermissionDenied, "unauthenticated",                                     \
      "Send the header 'Authorization: Bearer TOKEN' with a token of `rampart token create`, or " \
      "show the client certificate of a principal.")                                              \
    X(kUnknownScope, kInvalidArgument, "unknown_scope",                                           \
      "Use one of the scopes that the message "                                                   \
      "lists.")                                                                                   \
    X(kWriteKeyMissing, kPermissionDenied, "write_key_missing",                                   \
      "Send the header X-Rampart-Write-Key with the write_key of GET /v1/session.")
RAMPART_REASONS("access", RAMPART_ACCESS_REASONS)

}  // namespace rampart::access
