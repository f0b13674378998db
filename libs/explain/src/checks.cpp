#include "checks.hpp"

#include "rampart/base/reasons.hpp"
#include "rampart/explain/reasons.hpp"

namespace rampart::explain {

base::Status check_data(const dataset::Dataset& data, size_t features) {
    if (data.columns.size() != features) {
        return base::make_error(Reason::kWrongWidth,
                                "the data has {} features, the model {}: read it with the "
                                "schema that the model was trained with",
                                data.columns.size(), features);
    }
    if (data.rows() == 0) return base::make_error(base::Reason::kNoRows, "the data has no rows");
    return dataset::check_columns(data);
}

}  // namespace rampart::explain
