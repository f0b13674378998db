#include "rampart/dataset/schema_changes.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

using base::Status;

template <class... Args>
base::Error refused(fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kSchemaNotCarried, format, std::forward<Args>(args)...);
}

std::string_view word_of(FeatureKind kind) {
    return kind == FeatureKind::kNumeric ? "numeric" : "categorical";
}

std::string text_of(const std::optional<FeatureValue>& absent) {
    if (!absent) return "none";
    if (std::holds_alternative<std::monostate>(*absent)) return "missing";
    if (const auto* number = std::get_if<double>(&*absent)) return fmt::format("{}", *number);
    return fmt::format("'{}'", std::get<std::string>(*absent));
}

/// A feature before and now.
struct Pair {
    const FeatureSpec &before, &now;
    const FeatureTerms &terms_before, &terms_now;
};

/// Checks that the feature is the one that stood at its place, perhaps by a new name.
Status check_name(const Pair& pair, const ServedSchema& now) {
    const auto& [before, here, terms_before, terms_now] = pair;
    auto names = terms_before.was;
    if (here.name != before.name) {
        names.push_back(before.name);
        if (now.features().find(before.name))
            return refused(
                "feature '{}' has moved to another place; put it back where it was: new "
                "features come at the end",
                before.name);
        const auto& said = terms_now.was;
        if (std::find(said.begin(), said.end(), before.name) == said.end())
            return refused(
                "feature '{}' is not there, and '{}' stands at its place; put it back, "
                "with retired = true if nothing is to be learnt from it, or with was = "
                "[\"{}\"] on '{}' if that is its new name",
                before.name, here.name, before.name, here.name);
    }
    const auto& was = terms_now.was;
    // a feature that was renamed more than once since has further names behind
    const bool more = here.name != before.name && was.size() > names.size();
    if (was == names || (more && std::equal(names.begin(), names.end(), was.begin())))
        return base::ok();
    return refused(
        "feature '{}' has had the names [{}], and the file says [{}]; earlier names "
        "stay, the oldest first, and none is added that it did not have",
        here.name, fmt::join(names, ", "), fmt::join(terms_now.was, ", "));
}

Status check_values(const Pair& pair) {
    const auto& [before, now, terms_before, terms_now] = pair;
    constexpr std::string_view kAsNew =
        "put it back, retire it, and add a feature of another name with a default";
    if (before.kind != now.kind) {
        return refused("feature '{}' was {}, and is {}; policies have learnt from it as it was: {}",
                       now.name, word_of(before.kind), word_of(now.kind), kAsNew);
    }
    if (before.categories != now.categories) {
        for (const auto& category : before.categories) {
            const auto& has = now.categories;
            if (std::find(has.begin(), has.end(), category) == has.end())
                return refused("feature '{}' has lost its category '{}'; {}", now.name, category,
                               kAsNew);
        }
        return refused(
            "feature '{}' has {} categories, and had {}, or another order of them; a "
            "category that policies do not know counts as missing to them: {}",
            now.name, now.categories.size(), before.categories.size(), kAsNew);
    }
    if (terms_before.absent && terms_before.absent != terms_now.absent) {
        return refused(
            "feature '{}' had the default {}, and has {}; decisions were made by the "
            "former, so put it back",
            now.name, text_of(terms_before.absent), text_of(terms_now.absent));
    }
    return base::ok();
}

void describe(const Pair& pair, std::vector<std::string>& out) {
    const auto& [before, now, was, is] = pair;
    const auto until = [](const FeatureTerms& terms) {
        return terms.accepted_until ? base::to_iso8601(*terms.accepted_until) : std::string();
    };
    if (before.name != now.name) {
        const std::vector<std::string> between(
            is.was.begin() + static_cast<std::ptrdiff_t>(was.was.size()) + 1, is.was.end());
        const auto names = between.empty()
                               ? std::string()
                               : fmt::format(", and was '{}' between", fmt::join(between, "', '"));
        out.push_back(
            fmt::format("feature '{}' is called '{}'{}; the earlier name is accepted until "
                        "{}",
                        before.name, now.name, names, until(is)));
    }
    if (!was.absent && is.absent)
        out.push_back(
            fmt::format("an application without '{}' counts as {}", now.name, text_of(is.absent)));
    if (!was.retired && is.retired)
        out.push_back(
            fmt::format("feature '{}' is retired; it is accepted until {}", now.name, until(is)));
    if (was.retired && !is.retired)
        out.push_back(fmt::format("feature '{}' is used again", now.name));
    const bool same = before.name == now.name && was.retired == is.retired;
    if (same && was.accepted_until != is.accepted_until)
        out.push_back(fmt::format("what is over of feature '{}' is accepted until {}, not {}",
                                  now.name, until(is), until(was)));
}

Status check_new(const ServedSchema& before, const ServedSchema& now, size_t i) {
    const auto& spec = now.features().features()[i];
    if (before.find(spec.name))
        return refused(
            "feature '{}' has a name that another feature had; give the new one a name "
            "of its own",
            spec.name);
    // a feature may have been added and renamed since
    for (const auto& name : now.terms(i).was) {
        if (before.find(name))
            return refused(
                "feature '{}' is new, and says that it was '{}', which is not at its place; "
                "rename a feature where it stands",
                spec.name, name);
    }
    if (now.terms(i).absent) return base::ok();
    return refused(
        "feature '{}' is new, and earlier applications lack it; say what they count as: "
        "default = a value, or optional = true for missing",
        spec.name);
}

}  // namespace

base::Result<std::vector<std::string>> carry_schema(const ServedSchema& before,
                                                    const ServedSchema& now) {
    std::vector<std::string> changes;
    const auto &old = before.features().features(), &has = now.features().features();
    for (size_t i = 0; i < old.size(); ++i) {
        if (i >= has.size())
            return refused(
                "feature '{}' is not there any more; put it back, with retired = true, "
                "a default and accepted_until if it is no longer wanted",
                old[i].name);
        const Pair pair{old[i], has[i], before.terms(i), now.terms(i)};
        RAMPART_RETURN_IF_ERROR(check_name(pair, now));
        RAMPART_RETURN_IF_ERROR(check_values(pair));
        describe(pair, changes);
    }
    for (size_t i = old.size(); i < has.size(); ++i) {
        RAMPART_RETURN_IF_ERROR(check_new(before, now, i));
        changes.push_back(fmt::format("feature '{}' is new; an application without it counts as {}",
                                      has[i].name, text_of(now.terms(i).absent)));
    }
    return changes;
}

}  // namespace rampart::dataset
