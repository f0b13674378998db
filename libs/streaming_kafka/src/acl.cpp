#include "rampart/streaming_kafka/acl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "rampart/streaming_kafka/reasons.hpp"

namespace rampart::streaming_kafka {
namespace {

using enum Operation;
using Operations = std::set<Operation>;

constexpr size_t kMaxPrincipalBytes = 1024;  // names of certificates are long

/// Operations by which Kafka also allows DESCRIBE.
const Operations kDescribing{kRead, kWrite, kDelete, kAlter};

/// Returns all that an entry with this operation allows on the resource.
Operations allowed_by(Operation operation, Resource resource) {
    if (operation == kAll) {
        Operations all{kCreate, kAlter, kDescribe, kDescribeConfigs, kAlterConfigs};
        if (resource == Resource::kTopic) {
            all.insert({kRead, kWrite, kDelete});
        } else {
            all.insert({kClusterAction, kIdempotentWrite});
        }
        return all;
    }
    Operations allowed{operation};
    if (kDescribing.contains(operation)) allowed.insert(kDescribe);
    if (operation == kAlterConfigs) allowed.insert(kDescribeConfigs);
    return allowed;
}

bool denies(const AclEntry& entry, Operation operation) {
    return !entry.allows && (entry.operation == kAll || entry.operation == operation);
}

bool covers(const AclEntry& entry, Resource resource, std::string_view name) {
    if (entry.resource != resource) return false;
    if (entry.pattern == AclPattern::kPrefixed) return name.starts_with(entry.name);
    return entry.name == "*" || entry.name == name;
}

bool concerns(const AclEntry& entry, const std::string& principal) {
    if (entry.principal == principal) return true;
    const auto type = principal.substr(0, principal.find(':'));
    return entry.principal == type + ":*";
}

/// A resource of the deployment, with what the role needs there and what it may have.
struct Place {
    Resource resource;
    std::string name;
    std::vector<Operation> needed;  // in the order of the table
    Operations fitting;             // with what comes with them, and what only old brokers ask for
};

std::vector<Place> places_of(const AclSubject& subject) {
    std::vector<Place> places;
    for (const auto name : topic_names())
        places.push_back({Resource::kTopic, subject.prefix + std::string(name), {}, {}});
    places.push_back({Resource::kCluster, std::string(kClusterName), {}, {}});
    for (const auto& grant : grants_of(subject.role)) {
        const auto name = grant.resource == Resource::kCluster
                              ? std::string(grant.name)
                              : subject.prefix + std::string(grant.name);
        auto place = std::find_if(places.begin(), places.end(), [&](const Place& one) {
            return one.resource == grant.resource && one.name == name;
        });
        for (const Operation operation : grant.operations) {
            place->fitting.merge(allowed_by(operation, grant.resource));
            if (!grant.old_brokers || subject.old_brokers) place->needed.push_back(operation);
        }
    }
    return places;
}

/// The entries about one principal.
class Rights {
  public:
    Rights(const AclSubject& subject, std::span<const AclEntry> entries) : host_(subject.host) {
        for (const auto& entry : entries)
            if (concerns(entry, subject.principal)) entries_.push_back(entry);
    }

    /// Returns what is wrong with the right to do this there; nullopt: it is there.
    std::optional<MissingRight> lack(const Place& place, Operation operation) const {
        for (const auto& entry : entries_) {
            const bool here = host_.empty() || entry.host == "*" || entry.host == host_;
            if (here && denies(entry, operation) && covers(entry, place.resource, place.name))
                return MissingRight{place.resource, place.name, operation, entry};
        }
        if (allows(place.resource, place.name, operation)) return std::nullopt;
        if (operation == kCreate && place.resource == Resource::kTopic &&
            allows(Resource::kCluster, kClusterName, kCreate))
            return std::nullopt;
        return MissingRight{place.resource, place.name, operation, std::nullopt};
    }

    void add_missing(const Place& place, std::vector<MissingRight>& missing) const {
        bool whole = true, describes = false;
        for (const Operation operation : place.needed) {
            describes |= kDescribing.contains(operation);
            const auto lack = this->lack(place, operation);
            if (!lack) continue;
            whole = false;
            missing.push_back(*lack);
        }
        if (!whole || !describes) return;
        // it comes with the others, unless an entry denies it
        if (const auto lack = this->lack(place, kDescribe)) missing.push_back(*lack);
    }

    void add_extra(const Place& place, std::vector<ExtraRight>& extra) const {
        for (const auto& entry : entries_) {
            if (!entry.allows || !covers(entry, place.resource, place.name)) continue;
            auto more = allowed_by(entry.operation, place.resource);
            std::erase_if(more, [&](Operation operation) {
                return place.fitting.contains(operation) || is_denied(place, operation, entry.host);
            });
            // named by what brings them
            if (std::any_of(more.begin(), more.end(),
                            [](Operation one) { return kDescribing.contains(one); }))
                more.erase(kDescribe);
            if (more.contains(kAlterConfigs)) more.erase(kDescribeConfigs);
            if (more.empty()) continue;
            extra.push_back({place.resource, place.name, {more.begin(), more.end()}, entry});
        }
    }

  private:
    bool allows(Resource resource, std::string_view name, Operation operation) const {
        return std::any_of(entries_.begin(), entries_.end(), [&](const AclEntry& entry) {
            const bool here = entry.host == "*" || (!host_.empty() && entry.host == host_);
            return here && entry.allows && covers(entry, resource, name) &&
                   allowed_by(entry.operation, resource).contains(operation);
        });
    }
    /// Returns whether nothing is left of the right for connections from this host.
    bool is_denied(const Place& place, Operation operation, const std::string& host) const {
        return std::any_of(entries_.begin(), entries_.end(), [&](const AclEntry& entry) {
            return denies(entry, operation) && covers(entry, place.resource, place.name) &&
                   (entry.host == "*" || entry.host == host);
        });
    }

    const std::string host_;
    std::vector<AclEntry> entries_;
};

}  // namespace

std::string to_string(const AclEntry& entry) {
    std::string where = "the cluster";
    if (entry.resource == Resource::kTopic) {
        where = entry.pattern == AclPattern::kPrefixed
                    ? fmt::format("topics that begin with '{}'", entry.name)
                : entry.name == "*" ? std::string("all topics")
                                    : fmt::format("topic '{}'", entry.name);
    }
    return fmt::format("{} {} {} {}{}", entry.principal, entry.allows ? "may" : "may not",
                       to_string(entry.operation), where,
                       entry.host == "*" ? "" : ", from " + entry.host);
}

base::Status validate(const AclSubject& subject) {
    const auto& principal = subject.principal;
    const size_t colon = principal.find(':');
    const bool printable = std::none_of(principal.begin(), principal.end(),
                                        [](char c) { return static_cast<unsigned char>(c) < 32; });
    if (colon != std::string::npos && colon > 0 && colon + 1 < principal.size() && printable &&
        principal.size() <= kMaxPrincipalBytes)
        return base::ok();
    return base::make_error(Reason::kBadKafkaPrincipal,
                            "principal '{}': is not TYPE:NAME, as User:rampart-node or "
                            "User:CN=rampart-node",
                            printable ? principal : "");
}

AclComparison compare_rights(const AclSubject& subject, std::span<const AclEntry> entries) {
    const Rights rights(subject, entries);
    AclComparison comparison;
    for (const auto& place : places_of(subject)) {
        rights.add_missing(place, comparison.missing);
        rights.add_extra(place, comparison.extra);
    }
    return comparison;
}

}  // namespace rampart::streaming_kafka
