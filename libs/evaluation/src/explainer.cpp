#include "rampart/evaluation/explainer.hpp"

#include "rampart/base/digest.hpp"
#include "rampart/dataset/read_table.hpp"
#include "rampart/evaluation/reasons.hpp"
#include "rampart/explain/reasons.hpp"

namespace rampart::evaluation {
namespace {

constexpr uint64_t kReferenceSeed = 0;

struct Link {
    const model::LearnedLink* learned;
    size_t number;
};

base::Result<Link> link_of(const model::Policy& policy, size_t number, const std::string& model) {
    const auto& links = policy.links();
    if (number > links.size())
        return base::make_error(Reason::kNoSuchLink, "--link {}: {} has links 1 to {}", number,
                                model, links.size());
    for (size_t i = links.size(); i-- > 0;) {
        const auto* learned = std::get_if<model::LearnedLink>(&links[i]);
        if (number == 0 ? learned != nullptr : number == i + 1)
            if (learned != nullptr) return Link{learned, i + 1};
    }
    return base::make_error(Reason::kNothingLearned,
                            "{}{} is a declared rule without trees: there is nothing to take apart",
                            model, number == 0 ? "" : fmt::format(", link {},", number));
}

struct Reference {
    dataset::Dataset rows;
    std::string from;
};

base::Result<Reference> reference_of(const ExplainerOptions& options, const ModelTableNames& names,
                                     const std::optional<model::TrainingRecord>& record,
                                     const dataset::TableSchema& schema,
                                     const dataset::Dataset& table) {
    Reference reference;
    if (!options.reference.empty()) {
        RAMPART_TRY(reference.rows, dataset::read_table(options.reference, schema));
        reference.from = options.reference;
    } else if (is_training_table(table, record)) {
        RAMPART_TRY(reference.rows, part_of(names, "train", table, record));
        reference.from = fmt::format("the training rows of {}", names.data);
    } else {
        reference.rows = table;
        reference.from = names.data;
    }
    const size_t n = reference.rows.rows();
    reference.rows = reference.rows.subset(sample_rows(n, options.reference_rows, kReferenceSeed));
    return reference;
}

}  // namespace

base::Result<Explainer> make_explainer(const ExplainerOptions& options,
                                       const ModelTableNames& names, const model::Policy& policy,
                                       const std::optional<model::TrainingRecord>& record,
                                       const dataset::TableSchema& schema,
                                       const dataset::Dataset& table) {
    RAMPART_TRY(const auto link, link_of(policy, options.link, names.model));
    const auto& ensemble = link.learned->ensemble;
    if (!link.learned->members.empty() && link.learned->members.front().linear > 0)
        return base::make_error(
            Reason::kLinearMember,
            "{}: what explains it is a linear model, not trees: its terms are in `rampart inspect "
            "model --json`",
            names.model);
    const size_t d = policy.schema().size();
    if (!options.interventional && options.reference.empty()) {
        auto shap = explain::TreeShap::path_dependent(ensemble, d);
        if (!shap && shap.error().is(explain::Reason::kNoCover))
            return base::make_error(
                explain::Reason::kNoCover,
                "{} does not say how many training rows went each way at a split: explain it "
                "against other rows with --interventional or --reference",
                names.model);
        if (!shap) return shap.error().with_context(names.model);
        return Explainer{link.learned, link.number, *std::move(shap), "path-dependent", {}, {}};
    }
    RAMPART_TRY(const auto reference, reference_of(options, names, record, schema, table));
    std::vector<float> values(reference.rows.rows() * d);
    std::vector<double> weights;
    for (size_t i = 0; i < reference.rows.rows(); ++i) {
        reference.rows.copy_row(i, std::span(values).subspan(i * d, d));
        weights.push_back(reference.rows.weight_of(i));
    }
    base::Sha256 hash;
    const auto add = [&](const auto& numbers) {
        hash.update_field(
            {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(numbers[0])});
    };
    add(values);
    add(weights);
    RAMPART_TRY(auto shap, explain::TreeShap::interventional(ensemble, d, values, weights));
    return Explainer{link.learned,   link.number,         std::move(shap),      "interventional",
                     reference.from, hash.finish().hex(), reference.rows.rows()};
}

}  // namespace rampart::evaluation
