#include "services/rampartd/roles.hpp"

#include <fmt/ranges.h>

#include <array>

#include "rampart/base/file.hpp"
#include "rampart/base/reasons.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;

namespace {

struct Named {
    Role role;
    std::string_view name;
    bool Roles::*has;
};
constexpr const char* kFile = "roles";  // in a store
constexpr std::array kAll{
    Named{Role::kDecide, "decide", &Roles::decide}, Named{Role::kJoin, "join", &Roles::join},
    Named{Role::kTrain, "train", &Roles::train}, Named{Role::kMonitor, "monitor", &Roles::monitor}};

Status check_together(const Roles& roles) {
    if (roles.train && !roles.join)
        return base::make_error(Reason::kBadRoles,
                                "train needs join on the same node: a model is trained from its "
                                "joined state; add join, or leave train out");
    if (roles.monitor && !roles.train)
        return base::make_error(Reason::kBadRoles,
                                "monitor needs train on the same node: it reads the registry of "
                                "the node that trains, and rolls back there; add train, or leave "
                                "monitor out");
    return base::ok();
}

}  // namespace

bool Roles::has(Role role) const {
    for (const auto& one : kAll)
        if (one.role == role) return this->*one.has;
    return false;
}

std::string_view to_string(Role role) { return kAll[static_cast<size_t>(role)].name; }

std::vector<std::string> names_of(const Roles& roles) {
    std::vector<std::string> names;
    for (const auto& one : kAll)
        if (roles.has(one.role)) names.emplace_back(one.name);
    return names;
}

std::string to_string(const Roles& roles) {
    return fmt::format("{}", fmt::join(names_of(roles), ","));
}

Result<Roles> parse_roles(std::span<const std::string> names) {
    Roles roles{false, false, false, false};
    for (const auto& name : names) {
        bool known = false;
        for (const auto& one : kAll) {
            if (one.name != name) continue;
            known = true;
            if (roles.*one.has)
                return base::make_error(Reason::kBadRoles, "'{}' is named twice", name);
            roles.*one.has = true;
        }
        if (!known)
            return base::make_error(Reason::kBadRoles,
                                    "'{}' is no role; decide, join, train and monitor are", name);
    }
    if (names.empty())
        return base::make_error(Reason::kBadRoles,
                                "names no role: leave it out for all, or name some of decide, "
                                "join, train and monitor");
    RAMPART_RETURN_IF_ERROR(check_together(roles));
    return roles;
}

Result<Roles> parse_roles(std::string_view text) {
    std::vector<std::string> names;
    while (!text.empty()) {
        const size_t comma = text.find(',');
        names.emplace_back(text.substr(0, comma));
        if (comma == std::string_view::npos) break;
        text.remove_prefix(comma + 1);
        if (text.empty()) names.emplace_back();  // a comma at the end
    }
    return parse_roles(names);
}

Status remember_roles(const std::filesystem::path& store, std::string_view given) {
    const auto file = store / kFile;
    if (!given.empty()) return base::write_file_atomically(file, std::string(given) + "\n");
    std::error_code failure;
    std::filesystem::remove(file, failure);
    if (!failure) return base::ok();
    return base::make_error(base::Reason::kIoError, "cannot remove '{}': {}", file.string(),
                            failure.message());
}

Result<std::string> remembered_roles(const std::filesystem::path& store) {
    const auto file = store / kFile;
    std::error_code failure;
    const bool there = std::filesystem::exists(file, failure);
    if (failure)
        return base::make_error(base::Reason::kIoError, "cannot look at '{}': {}", file.string(),
                                failure.message());
    if (!there) return std::string();
    RAMPART_TRY(auto text, base::read_file(file, 256));
    if (text.ends_with('\n')) text.pop_back();
    const auto roles = parse_roles(text);
    if (!roles) return roles.error().with_context(file.string());
    return to_string(*roles);
}

Status check_role(const Roles& roles, Role role) {
    if (roles.has(role)) return base::ok();
    return base::make_error(Reason::kRoleNotHere, "this node does not {}: its roles are {}",
                            to_string(role), to_string(roles));
}

}  // namespace rampart::rampartd
