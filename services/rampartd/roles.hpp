#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::rampartd {

/// A part of the work of a group of nodes.
enum class Role {
    kDecide,   // decides for its partitions, by HTTP and from the topic of applications
    kJoin,     // joins decisions and outcomes, and keeps the joined state
    kTrain,    // trains, tests and promotes for the group
    kMonitor,  // watches the champion, and may roll it back
};

/// What a node does of it; as it stands: all.
struct Roles {
    bool decide = true, join = true, train = true, monitor = true;

    bool has(Role role) const;
    bool all() const { return *this == Roles(); }
    bool operator==(const Roles&) const = default;
};

/// "decide", "join", "train", "monitor".
std::string_view to_string(Role role);
/// Returns the names of the roles, in the order of the type; by commas.
std::vector<std::string> names_of(const Roles& roles);
std::string to_string(const Roles& roles);

/// Reads names of roles. Errors: invalid_argument "bad_roles": none is named, one is not known or
/// named twice, or one needs another: to train and to watch takes the joined state of the node, and
/// to watch takes the registry and the ledger of the node that trains.
base::Result<Roles> parse_roles(std::span<const std::string> names);
/// The same for names by commas.
base::Result<Roles> parse_roles(std::string_view text);

/// Keeps in the store the roles that the command line gave at a start, for commands that read the
/// configuration without it, and for the next start; empty: the configuration says it, and nothing
/// is kept. Errors: io's.
base::Status remember_roles(const std::filesystem::path& store, std::string_view given);
/// Returns them; empty: none. Errors: parse_roles's, io's.
base::Result<std::string> remembered_roles(const std::filesystem::path& store);

/// ok: it has the role. failed_precondition "role_not_here" names role and roles.
base::Status check_role(const Roles& roles, Role role);

}  // namespace rampart::rampartd
