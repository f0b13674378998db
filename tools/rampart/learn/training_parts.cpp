#include "learn/training_parts.hpp"

#include "rampart/dataset/read_table.hpp"
#include "rampart/dataset/split.hpp"
#include "rampart/dataset/table_cache.hpp"

namespace rampart::cli {

base::Result<TableParts> read_table_parts(const TableSource& source,
                                          const dataset::TableSchema& schema) {
    RAMPART_TRY(const auto fractions, dataset::parse_split(source.split));
    TableParts parts;
    if (source.cache.empty()) {
        RAMPART_TRY(parts.all, dataset::read_table(source.data, schema));
    } else {
        RAMPART_TRY(auto cached, dataset::read_table_cached(source.data, schema, source.cache));
        parts.all = std::move(cached.data);
        parts.note = std::move(cached.note);
    }
    const auto split = dataset::split_rows(parts.all, fractions, source.seed);
    parts.train = parts.all.subset(split.train);
    parts.validation = parts.all.subset(split.validation);
    parts.test = parts.all.subset(split.test);
    return parts;
}

}  // namespace rampart::cli
