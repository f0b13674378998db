#include "rampart/training/brought_model.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "link_features.hpp"
#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

using base::Result;
using base::Status;
using dataset::FeatureKind;
using dataset::FeatureSchema;
using dataset::FeatureSpec;

std::string_view to_string(FeatureKind kind) {
    return kind == FeatureKind::kNumeric ? "numeric" : "categorical";
}

/// Where a feature of the model is in the deployment.
struct Place {
    size_t feature = 0;
    /// By code of the deployment: the model's; nullopt: the model does not know the category.
    std::vector<std::optional<size_t>> codes;
};

/// Returns the position of the feature that the deployment has for one of the model.
Result<size_t> find(const FeatureSpec& wanted, const FeatureSchema& schema) {
    constexpr std::string_view kExported = "x.";
    auto found = schema.find(wanted.name);
    if (!found && wanted.name.starts_with(kExported))
        found = schema.find(std::string_view(wanted.name).substr(kExported.size()));
    if (found) return *found;
    std::vector<std::string_view> names;
    for (const auto& feature : schema.features()) names.push_back(feature.name);
    return base::make_error(Reason::kOtherSchema,
                            "the model reads the feature '{}', which this product does not have; "
                            "its features are {}; train the model on these",
                            wanted.name, fmt::join(names, ", "));
}

Result<Place> place_of(const FeatureSpec& wanted, const FeatureSchema& schema) {
    Place place;
    RAMPART_TRY(place.feature, find(wanted, schema));
    const FeatureSpec& has = schema.features()[place.feature];
    if (has.kind != wanted.kind) {
        return base::make_error(Reason::kOtherSchema,
                                "the feature '{}' is {} in the model and {} in this product; "
                                "declare it as {} in the schema that the model is trained with",
                                wanted.name, to_string(wanted.kind), to_string(has.kind),
                                to_string(has.kind));
    }
    place.codes.resize(has.categories.size());
    for (size_t code = 0; code < wanted.categories.size(); ++code) {
        const auto found = schema.encode_text(place.feature, wanted.categories[code]);
        if (!found || std::isnan(*found) ||
            has.categories[static_cast<size_t>(*found)] != wanted.categories[code]) {
            constexpr size_t kShown = 20;
            const std::span shown(has.categories.data(), std::min(kShown, has.categories.size()));
            return base::make_error(Reason::kOtherSchema,
                                    "the feature '{}' has the category '{}' in the model, which "
                                    "this product does not have; its categories are {}{}; train "
                                    "the model with these",
                                    wanted.name, wanted.categories[code], fmt::join(shown, ", "),
                                    has.categories.size() > kShown ? ", …" : "");
        }
        place.codes[static_cast<size_t>(*found)] = code;
    }
    return place;
}

/// The places of all features that the model reads.
class SchemaMap {
  public:
    static Result<SchemaMap> create(const model::LearnedLink& link, const FeatureSchema& from,
                                    const FeatureSchema& to) {
        SchemaMap map(to);
        map.places_.resize(from.size());
        std::set<size_t> taken;
        for (const size_t j : features_read(link)) {
            RAMPART_TRY(auto place, place_of(from.features()[j], to));
            if (!taken.insert(place.feature).second) {
                return base::make_error(Reason::kOtherSchema,
                                        "two features of the model are this product's '{}'; train "
                                        "it with one of them",
                                        to.features()[place.feature].name);
            }
            map.places_[j] = std::move(place);
        }
        return map;
    }

    void apply(model::Ensemble& ensemble) const {
        for (auto& tree : ensemble.trees) {
            const auto known = std::move(tree.category_sets);
            tree.category_sets.clear();
            for (auto& node : tree.nodes) {
                if (node.feature < 0) continue;
                const Place& place = *places_[static_cast<size_t>(node.feature)];
                node.feature = static_cast<int32_t>(place.feature);
                if (node.categories < 0) continue;
                const auto& set = known[static_cast<size_t>(node.categories)];
                node.categories = static_cast<int32_t>(tree.category_sets.size());
                tree.category_sets.push_back(mapped(set, place, node.default_left));
            }
        }
    }

    void apply(model::LinearModel& linear) const {
        const size_t d = to_->size();
        model::LinearModel out{linear.intercept, std::vector<double>(d), std::vector<double>(d),
                               std::vector<std::vector<double>>(d)};
        for (size_t j = 0; j < d; ++j) out.category[j].resize(to_->features()[j].categories.size());
        for (size_t j = 0; j < places_.size(); ++j) {
            if (!places_[j]) continue;
            const auto& [feature, codes] = *places_[j];
            out.slope[feature] = linear.slope[j];
            out.mean[feature] = linear.mean[j];
            for (size_t code = 0; code < codes.size(); ++code)
                if (codes[code]) out.category[feature][code] = linear.category[j][*codes[code]];
        }
        linear = std::move(out);
    }

    void apply(model::Strata& strata) const {
        const auto known = std::move(strata.of_category);
        const auto& [feature, codes] = *places_[strata.feature];
        strata.feature = static_cast<uint32_t>(feature);
        strata.of_category.clear();
        for (const auto& code : codes)
            strata.of_category.push_back(code ? known[*code] : strata.missing);
    }

  private:
    explicit SchemaMap(const FeatureSchema& to) : to_(&to) {}

    /// Returns the set in codes of the deployment. What the model does not know goes where it sends
    /// what is missing.
    static std::vector<uint64_t> mapped(const std::vector<uint64_t>& set, const Place& place,
                                        bool default_left) {
        std::vector<uint64_t> out((place.codes.size() + 63) / 64);
        for (size_t code = 0; code < place.codes.size(); ++code) {
            const auto& known = place.codes[code];
            const bool left =
                !known ? default_left
                       : *known / 64 < set.size() && (set[*known / 64] >> (*known % 64) & 1) != 0;
            if (left) out[code / 64] |= uint64_t{1} << (code % 64);
        }
        return out;
    }

    const FeatureSchema* to_;
    std::vector<std::optional<Place>> places_;  // by feature of the model
};

/// Puts values by group, in each of the strata, into the order of the deployment's cells; fewer are
/// one for all.
template <class T>
void reorder(std::vector<T>& by_group, const std::vector<size_t>& from, size_t strata = 1) {
    if (by_group.size() != strata * from.size()) return;
    std::vector<T> out;
    for (size_t s = 0; s < strata; ++s)
        for (const size_t g : from) out.push_back(by_group[s * from.size() + g]);
    by_group = std::move(out);
}

/// Puts everything by group into the order of the deployment's cells.
Status map_groups(const model::Policy& model, const Deployment& deployment,
                  model::LearnedLink& link) {
    if (!model.group_aware()) return base::ok();
    const auto &has = model.group_names(), &wanted = deployment.cell_names;
    if (!deployment.group_aware) {
        return base::make_error(
            Reason::kGroupBlindDeployment,
            "the model decides by the applicant's group ({}), and decision.protected_attributes is "
            "\"group_blind\"; bring a model without groups: rampart postprocess --blind",
            fmt::join(has, "; "));
    }
    std::vector<size_t> from;
    for (const auto& name : wanted) {
        const auto found = std::find(has.begin(), has.end(), name);
        if (found != has.end()) from.push_back(static_cast<size_t>(found - has.begin()));
    }
    if (from.size() != wanted.size() || has.size() != wanted.size()) {
        return base::make_error(Reason::kOtherGroups,
                                "the model's groups are {}, and this product's {}; a threshold for "
                                "each is needed, and none more",
                                fmt::join(has, "; "), fmt::join(wanted, "; "));
    }
    const size_t strata = link.strata ? link.strata->count : 1;
    const auto map_ramp = [&](model::RampRule& ramp) {
        reorder(ramp.thresholds, from, strata);
        reorder(ramp.ties, from, strata);
        reorder(ramp.slopes, from, strata);
    };
    map_ramp(link.ramp);
    for (auto& member : link.members)
        if (member.ramp) map_ramp(*member.ramp);
    reorder(link.calibrations, from);
    return base::ok();
}

}  // namespace

Result<BroughtModel> bring(const model::Policy& model, const Deployment& deployment) {
    const auto* link = model.last_learned();
    if (link == nullptr || model.links().size() != 1) {
        return base::make_error(Reason::kNotOneLink,
                                "the model has {}, and what is put on the champion is one learnt "
                                "link, as `rampart train`, `import` and `postprocess` make it",
                                link == nullptr
                                    ? "no learnt link"
                                    : fmt::format("a chain of {} links", model.links().size()));
    }
    BroughtModel out{*link, model.schema() == deployment.schema};
    RAMPART_RETURN_IF_ERROR(map_groups(model, deployment, out.link));
    if (out.same_schema) return out;
    RAMPART_TRY(const auto map, SchemaMap::create(out.link, model.schema(), deployment.schema));
    for_each_ensemble(out.link, [&](model::Ensemble& ensemble) { map.apply(ensemble); });
    for (auto& linear : out.link.linears) map.apply(linear);
    if (out.link.strata) map.apply(*out.link.strata);
    return out;
}

}  // namespace rampart::training
