#include "rampart/training_set/person_sample.hpp"

#include <iterator>

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"

namespace rampart::training_set {

std::string PersonSample::key_of(std::string_view salt, uint64_t seed) {
    std::string text = "sample of the development set";
    base::append_u64(text, seed);
    return base::hmac_sha256(salt, text).hex();
}

double PersonSample::place_of(std::string_view person) const { return hash_.uniform(person); }

bool PersonSample::add(double place) {
    ++there_;
    if (!holds(place)) return false;
    if (++rows_ <= max_rows_ && rows_of_.empty()) {
        places_.push_back(place);
        return true;
    }
    for (const double one : places_) ++rows_of_[one];
    places_ = {};
    ++rows_of_[place];
    while (rows_ > max_rows_) {
        const auto last = std::prev(rows_of_.end());
        limit_ = last->first;
        rows_ -= last->second;
        rows_of_.erase(last);
    }
    return holds(place);
}

}  // namespace rampart::training_set
