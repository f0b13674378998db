#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/access/scope.hpp"
#include "rampart/base/clock.hpp"
#include "rampart/base/enum_names.hpp"
#include "rampart/registry/audit_log.hpp"
#include "services/rampartd/api/json.hpp"

/// What happens on a node, for those who follow it: no person, no decision of one, and no figure
/// that depends on an outcome.
namespace rampart::rampartd {

enum class EventKind : uint8_t {
    // entries of the audit log
    kPromotion,    // a policy decides: by promotion, rollback, or as the first one
    kProposal,     // a candidate is proposed; a proposal is opened, approved, rejected, ends
    kAssignment,   // a shadow or a challenger begins or ends
    kCertificate,  // the gate has decided about a candidate
    kStop,         // a stop button is pressed or released
    kAlarm,        // the watch over the champion
    // as they are now; not kept
    kRun,        // a run of training begins or ends
    kHealth,     // a check of the node fails, or passes again
    kDecisions,  // how many decisions there were
    // each entry of the audit log: its number and action
    kAudit,
};

inline constexpr std::array<base::EnumName<EventKind>, 10> kEventKinds{
    {{EventKind::kPromotion, "promotion"},
     {EventKind::kProposal, "proposal"},
     {EventKind::kAssignment, "assignment"},
     {EventKind::kCertificate, "certificate"},
     {EventKind::kStop, "stop"},
     {EventKind::kAlarm, "alarm"},
     {EventKind::kRun, "run"},
     {EventKind::kHealth, "health"},
     {EventKind::kDecisions, "decisions"},
     {EventKind::kAudit, "audit"}}};

/// A set of kinds.
class EventKinds {
  public:
    EventKinds() = default;
    void add(EventKind kind) { bits_ |= bit(kind); }
    bool has(EventKind kind) const { return (bits_ & bit(kind)) != 0; }
    std::vector<std::string> names() const;  // in the order of kEventKinds
    bool operator==(const EventKinds&) const = default;

  private:
    static uint16_t bit(EventKind kind) {
        return static_cast<uint16_t>(1u << static_cast<unsigned>(kind));
    }
    uint16_t bits_ = 0;
};

/// Returns the scope that a caller needs for events of this kind.
access::Scope scope_of(EventKind kind);

/// Reads the kinds from a query: `kinds` with names that commas divide; without it, all that the
/// scopes allow. Errors: invalid_argument "unknown_field", "missing_field", "unknown_event_kind";
/// permission_denied "missing_scope".
base::Result<EventKinds> read_event_kinds(const std::map<std::string, std::string>& query,
                                          const access::Scopes& scopes);

/// Reads the header Last-Event-ID: the number of an entry of the audit log. Errors:
/// invalid_argument "bad_number".
base::Result<uint64_t> read_last_event_id(std::string_view text);

/// Returns the text of one event. `id`, where there is one: where a follower goes on who has it.
std::string event_text(std::string_view name, const Json& data, uint64_t id = 0);

/// Returns the events that an entry of the audit log is, for who receives these kinds; empty: none.
/// The last one has the id, so that who goes on behind it has had all of them.
std::string events_of(const registry::AuditEntry& entry, const EventKinds& kinds);

}  // namespace rampart::rampartd
