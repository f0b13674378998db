#include "rampart/training/covariate_shift.hpp"

#include <limits>

#include "rampart/training/reasons.hpp"

namespace rampart::training {
namespace {

void append(dataset::Dataset& data, std::span<const float> row, uint8_t period) {
    for (size_t j = 0; j < row.size(); ++j) data.columns[j].push_back(row[j]);
    data.label.push_back(period);
}

}  // namespace

base::Result<monitoring::Drift> covariate_shift(const training_set::VaultSet& vault,
                                                const training_set::ApplicantSet& latest,
                                                base::ThreadPool* pool) {
    if (vault.schema.digest() != latest.schema.digest()) {
        return base::make_error(Reason::kOtherSchema,
                                "the latest applicants have other features than the vault");
    }
    dataset::Dataset data;
    data.schema = vault.schema;
    data.columns.resize(vault.schema.size());
    std::vector<std::string> person;
    for (size_t i = 0; i < vault.rows.size(); ++i) {
        append(data, vault.features_of(i), 0);
        person.push_back(vault.rows[i].person.value());
    }
    const std::span all(latest.features);
    for (size_t i = 0; i < latest.persons.size(); ++i) {
        append(data, all.subspan(i * latest.schema.size(), latest.schema.size()), 1);
        person.push_back(latest.persons[i].value());
    }
    for (size_t j = 0; j < vault.retired.size(); ++j) {
        if (vault.retired[j])
            data.columns[j].assign(person.size(), std::numeric_limits<float>::quiet_NaN());
    }
    RAMPART_TRY(auto drift, monitoring::measure_drift(data, person, {}, pool));
    const auto aside = static_cast<double>(latest.unexplained.decisions);
    const double share = aside / (aside + static_cast<double>(latest.persons.size()));
    drift.auc += share * (1 - drift.auc);
    return drift;
}

}  // namespace rampart::training
