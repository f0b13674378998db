#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/keyed_hash.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::training_set {

/// A sample of whole persons with at most so many rows, taken in one pass over rows in any order.
///
/// Each person has a place in [0, 1), a keyed hash. The sample has the persons of the lowest
/// places, as many as fit with all of their rows. So it depends on rows, key and `max_rows` alone,
/// not on the order in which rows come; more rows take persons out of it, and put none in. Persons
/// of equal numbers of rows are in with equal probability; one with n rows with a probability
/// smaller by about n / (all rows), since all of them have to fit. Two persons of one place (2^-53
/// for a pair) are in or out together. Memory: eight bytes a row as long as all fit, then that of
/// the persons who are in.
class PersonSample {
  public:
    PersonSample(std::string_view key, size_t max_rows) : hash_(key), max_rows_(max_rows) {}

    /// Returns the key of a seed. `salt`: the secret of the split, of which places are independent.
    static std::string key_of(std::string_view salt, uint64_t seed);

    double place_of(std::string_view person) const;
    double place_of(const domain::PersonId& person) const { return place_of(person.value()); }
    /// Counts a row of the person of that place. False: the person is not in the sample. A row that
    /// was taken may be out of it later: holds().
    bool add(double place);
    bool holds(double place) const { return place < limit_; }

    size_t rows_there() const { return there_; }  // all that were added
    size_t rows() const { return rows_; }  // those of persons in the sample: at most max_rows

  private:
    base::KeyedHash hash_;
    size_t max_rows_;
    size_t there_ = 0, rows_ = 0;
    double limit_ = std::numeric_limits<double>::infinity();  // lowest place that is out
    std::vector<double> places_;                              // those of the rows, while all fit
    std::map<double, size_t> rows_of_;                        // by place, from then on
};

}  // namespace rampart::training_set
