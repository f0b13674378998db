#include "fuzz.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/config/table.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/runtime/product_toml.hpp"

/// Configuration, and the schema files that people edit by hand.
namespace rampart::fuzz {
namespace {

bool configuration(std::string_view text) {
    auto root = config::parse(text, "fuzz.toml");
    if (!root) return refused(root.error());
    const auto port = root->integer("port", 1, 65535, 8080);
    const auto ratio = root->number("ratio", -1, 1, 0);
    const auto mode = root->choice("mode", {"fast", "safe"}, "safe");
    root->string("name", "none");
    root->boolean("on", false);
    root->strings("names");
    for (const auto& row : root->number_rows("rows")) {
        for (const double value : row) FUZZ_LAW(value - value == 0, "{}", value);
    }
    auto log = root->table("log");
    log.string("level", "info");
    for (auto& item : root->tables("item")) item.integer("n", 0, 9);
    const auto status = root->finish();
    // the ranges hold after an error too: a getter then gives its default
    FUZZ_LAW(port >= 1 && port <= 65535 && ratio >= -1 && ratio <= 1, "{} {}", port, ratio);
    FUZZ_LAW(mode == "fast" || mode == "safe", "{}", mode);
    return status ? true : refused(status.error());
}

bool table_schema(std::string_view text) {
    const auto schema = dataset::parse_table_schema(text, "fuzz.toml");
    if (!schema) return refused(schema.error());
    FUZZ_LAW(dataset::validate(*schema).has_value(), "accepted, but not valid");
    const std::string written = dataset::write_table_schema(*schema);
    const auto again = dataset::parse_table_schema(written, "again.toml");
    FUZZ_LAW(again.has_value(), "refuses what it wrote: {}", again.error().message);
    FUZZ_LAW(dataset::write_table_schema(*again) == written, "writes one schema in two ways");
    return true;
}

bool product(std::string_view text) {
    const auto product = runtime::parse_product(text, "fuzz.toml");
    if (!product) return refused(product.error());
    FUZZ_LAW(domain::validate(*product).has_value(), "accepted, but not valid");
    const auto decided = base::parse_iso8601("9999-12-31T23:59:59Z").value();
    for (const auto& measure : product->all_measures()) {
        FUZZ_LAW(measure.maturity(decided) > decided, "matures before it is decided");
    }
    return true;
}

using Seeds = std::vector<std::string>;

}  // namespace

std::vector<Target> targets() {
    return {
        {"configuration", configuration,
         [] {
             return Seeds{
                 "port = 80\nratio = 0.5\nmode = \"fast\"\nname = 'x'\non = true\n"
                 "names = [\"a\", \"b\"]\nrows = [[1, 2.5], []]\n[log]\nlevel = \"debug\"\n"
                 "[[item]]\nn = 3\n[[item]]\nn = 0x4 # remark\n",
                 "log.level = \"\"\"\nx\\u00e9\"\"\"\nitem = [{n = 1}]\nratio = -1e-3\n"};
         }},
        {"table_schema", table_schema,
         [] {
             return Seeds{
                 "label = \"y\"\nfavourable = \"0\"\nprotected = [\"SEX\"]\nweight = \"w\"\n"
                 "missing = [\"?\"]\nignored = [\"ID\"]\n[[feature]]\nname = \"x\"\n"
                 "kind = \"numeric\"\n[[feature]]\nname = \"c\"\nkind = \"categorical\"\n"
                 "categories = [\"1\", \"b\"]\n"};
         }},
        {"product", product,
         [] {
             return Seeds{
                 "name = \"card\"\n[label]\nname = \"repaid\"\nhorizon_months = 6\n"
                 "grace_days = 62\n[[measure]]\nname = \"income\"\nlo = -1.0\nhi = 1.0\n"
                 "horizon_months = 12\ngrace_days = 31\n[impact]\nunits = \"points\"\nlo = -150\n"
                 "hi = 75\nfavourable = 75\nunfavourable = -150\ndeclined = 0\n"};
         }},
    };
}

}  // namespace rampart::fuzz
