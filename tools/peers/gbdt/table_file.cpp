#include "tools/peers/gbdt/table_file.hpp"

#include <filesystem>
#include <fstream>

#include "rampart/base/limits.hpp"
#include "rampart/dataset/category_limit.hpp"
#include "tools/peers/reasons.hpp"

namespace rampart::peer_gbdt {
namespace {

namespace limits = base::limits;

template <class T>
bool read_into(std::ifstream& in, T* to, size_t count) {
    const auto bytes = static_cast<std::streamsize>(count * sizeof(T));
    return static_cast<bool>(in.read(reinterpret_cast<char*>(to), bytes));
}

base::Result<dataset::FeatureSchema> schema_of(const std::vector<uint32_t>& categories) {
    std::vector<dataset::FeatureSpec> specs;
    for (size_t f = 0; f < categories.size(); ++f) {
        const auto kind = categories[f] == 0 ? dataset::FeatureKind::kNumeric
                                             : dataset::FeatureKind::kCategorical;
        dataset::FeatureSpec spec{fmt::format("x{}", f), kind, {}};
        for (uint32_t c = 0; c < categories[f] && c <= dataset::kMostCategories; ++c) {
            spec.categories.push_back(fmt::format("{}", c));
        }
        specs.push_back(std::move(spec));
    }
    return dataset::FeatureSchema::create(std::move(specs));
}

}  // namespace

base::Result<dataset::Dataset> read_table_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return base::make_error(peers::Reason::kNoTable, "'{}' cannot be opened", path);
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(path, error);
    uint64_t n = 0, d = 0;
    const bool sized = !error && read_into(in, &n, 1) && read_into(in, &d, 1) && n > 0 &&
                       n <= limits::kMaxRows && d > 0 && d <= limits::kMaxFeatures &&
                       bytes == 16 + 4 * d + n + 4 * n * d;
    if (!sized) {
        return base::make_error(peers::Reason::kBadTable,
                                "'{}' has {} bytes and announces {} rows and {} features; "
                                "make it again",
                                path, bytes, n, d);
    }
    std::vector<uint32_t> categories(d);
    dataset::Dataset data;
    data.label.resize(n);
    bool whole = read_into(in, categories.data(), d) && read_into(in, data.label.data(), n);
    data.columns.assign(d, {});
    for (size_t f = 0; f < d && whole; ++f) {
        data.columns[f].resize(n);
        whole = read_into(in, data.columns[f].data(), n);
    }
    if (!whole) return base::make_error(peers::Reason::kBadTable, "'{}' ends early", path);
    RAMPART_TRY(data.schema, schema_of(categories));
    RAMPART_RETURN_IF_ERROR(dataset::check_columns(data));
    return data;
}

}  // namespace rampart::peer_gbdt
