#include "rampart/evaluation/table_digest.hpp"

#include <string_view>
#include <vector>

namespace rampart::evaluation {
namespace {

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace

base::Digest digest_of(const dataset::Dataset& data) {
    base::Sha256 hash;
    hash.update_field(data.schema.digest().hex());
    for (const auto& column : data.columns) hash.update_field(bytes_of(column));
    hash.update_field(bytes_of(data.label));
    if (data.numeric()) hash.update_field(bytes_of(data.target));
    hash.update_field(bytes_of(data.weight));
    hash.update_field(bytes_of(data.group));
    for (const auto& name : data.group_names) hash.update_field(name);
    return hash.finish();
}

}  // namespace rampart::evaluation
