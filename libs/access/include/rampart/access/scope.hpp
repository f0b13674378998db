#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/enum_names.hpp"
#include "rampart/base/result.hpp"

namespace rampart::access {

/// What a caller may do. Each route of the services asks for one.
enum class Scope : uint8_t {
    kDecide,   // send applications and get decisions
    kReport,   // report outcomes and overrides
    kProtect,  // send protected attributes
    kOperate,  // change how a node works: partitions, quarantine, clock, candidates, rollback
    kApprove,  // accept what the gate has certified
    kErase,    // erase persons, place and lift legal holds
    kAudit,    // read what persons' records and certificates contain
    kRead,     // read decisions by id, states and figures
    kGrant,    // make, replace and revoke tokens
};

inline constexpr std::array<base::EnumName<Scope>, 9> kScopes{{{Scope::kDecide, "decide"},
                                                               {Scope::kReport, "report"},
                                                               {Scope::kProtect, "protect"},
                                                               {Scope::kOperate, "operate"},
                                                               {Scope::kApprove, "approve"},
                                                               {Scope::kErase, "erase"},
                                                               {Scope::kAudit, "audit"},
                                                               {Scope::kRead, "read"},
                                                               {Scope::kGrant, "grant"}}};

std::string_view to_string(Scope scope);

/// A set of scopes.
class Scopes {
  public:
    Scopes() = default;
    Scopes(std::initializer_list<Scope> scopes) {
        for (const Scope scope : scopes) add(scope);
    }
    /// Returns the set of all scopes, `grant` among them.
    static Scopes all();
    /// Errors: "unknown_scope".
    static base::Result<Scopes> parse(const std::vector<std::string>& names);

    void add(Scope scope) { bits_ |= static_cast<uint16_t>(1u << static_cast<unsigned>(scope)); }
    bool has(Scope scope) const { return (bits_ >> static_cast<unsigned>(scope)) & 1u; }
    bool empty() const { return bits_ == 0; }
    std::vector<std::string> names() const;  // in the order of kScopes
    bool operator==(const Scopes&) const = default;

  private:
    uint16_t bits_ = 0;
};

}  // namespace rampart::access
