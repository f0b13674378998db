#include "rampart/runtime/product_toml.hpp"

#include <limits>

#include "rampart/base/file.hpp"

namespace rampart::runtime {
namespace {

constexpr double kAny = std::numeric_limits<double>::max();
constexpr int64_t kMaxGraceDays = 3650;
constexpr size_t kMostBytes = 1 << 20;

domain::Measure read_timing(config::Table& table) {
    domain::Measure measure;
    measure.name = table.string("name");
    measure.horizon_months = static_cast<int>(table.integer("horizon_months", 1, 600));
    measure.grace = base::Duration::days(table.integer("grace_days", 0, kMaxGraceDays));
    return measure;
}

domain::Measure read_measure(config::Table& table) {
    domain::Measure measure = read_timing(table);
    measure.lo = table.number("lo", -kAny, kAny);
    measure.hi = table.number("hi", -kAny, kAny);
    return measure;
}

domain::Impact read_impact(config::Table table) {
    domain::Impact impact;
    impact.units = table.string("units");
    impact.lo = table.number("lo", -kAny, kAny);
    impact.hi = table.number("hi", -kAny, kAny);
    impact.declined = table.number("declined", -kAny, kAny);
    if (table.has("measure")) {
        impact.measure = table.string("measure");
        for (const char* key : {"favourable", "unfavourable"}) {
            if (table.has(key)) table.fail(key, "cannot be used together with 'measure'; omit one");
        }
        // Unused if a measure is given, but the record's own checks read both.
        impact.favourable = impact.unfavourable = impact.declined;
    } else {
        impact.favourable = table.number("favourable", -kAny, kAny);
        impact.unfavourable = table.number("unfavourable", -kAny, kAny);
    }
    return impact;
}

}  // namespace

domain::Product read_product(config::Table table) {
    domain::Product product;
    product.name = table.string("name");
    auto label = table.table("label");
    product.label = read_timing(label);
    for (auto& measure : table.tables("measure")) {
        product.measures.push_back(read_measure(measure));
    }
    product.impact = read_impact(table.table("impact"));
    return product;
}

base::Result<domain::Product> parse_product(std::string_view toml, std::string_view name) {
    RAMPART_TRY(auto root, config::parse(toml, name));
    auto product = read_product(root);
    RAMPART_RETURN_IF_ERROR(root.finish());
    if (const auto valid = domain::validate(product); !valid) {
        return valid.error().with_context(name);
    }
    return product;
}

base::Result<domain::Product> load_product(const std::filesystem::path& path) {
    RAMPART_TRY(const auto toml, base::read_file(path, kMostBytes));
    return parse_product(toml, path.string());
}

}  // namespace rampart::runtime
