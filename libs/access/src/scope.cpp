#include "rampart/access/scope.hpp"

#include "rampart/access/reasons.hpp"

namespace rampart::access {

std::string_view to_string(Scope scope) { return base::name_of(kScopes, scope); }

Scopes Scopes::all() {
    Scopes all;
    for (const auto& scope : kScopes) all.add(scope.value);
    return all;
}

base::Result<Scopes> Scopes::parse(const std::vector<std::string>& names) {
    Scopes scopes;
    for (const auto& name : names) {
        RAMPART_TRY(const auto scope, base::value_of(kScopes, name, Reason::kUnknownScope));
        scopes.add(scope);
    }
    return scopes;
}

std::vector<std::string> Scopes::names() const {
    std::vector<std::string> names;
    for (const auto& scope : kScopes)
        if (has(scope.value)) names.emplace_back(scope.text);
    return names;
}

}  // namespace rampart::access
