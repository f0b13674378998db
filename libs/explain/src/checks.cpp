#include "checks.hpp"

namespace rampart::explain {

base::Status check_data(const dataset::Dataset& data, size_t features) {
    if (data.columns.size() != features) {
        return base::invalid_argument("wrong_width",
                                      "the data has {} features, the model {}: read it with the "
                                      "schema that the model was trained with",
                                      data.columns.size(), features);
    }
    if (data.rows() == 0) return base::invalid_argument("no_rows", "the data has no rows");
    return dataset::check_columns(data);
}

}  // namespace rampart::explain
