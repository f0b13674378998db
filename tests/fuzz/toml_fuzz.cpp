#include <limits>

#include "fuzz.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/config/table.hpp"
#include "rampart/constraints/membership.hpp"
#include "rampart/constraints/parse.hpp"
#include "rampart/constraints/program.hpp"
#include "rampart/dataset/feature_schema_toml.hpp"
#include "rampart/runtime/product_toml.hpp"

/// Configuration, the schema files that people edit by hand, and the constraints in them.
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
    // the ranges also hold after an error: a getter then returns its default
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

/// Evaluates a condition for a few people: a result for each, or a refusal.
bool membership(const constraints::Condition& condition) {
    const float none = std::numeric_limits<float>::quiet_NaN();
    const constraints::People people{
        .records = 3,
        .columns = {{"age", {}, {20, 30, none}}, {"region", {"N", "S"}, {0, none, 1}}},
        .groups = {{"sex=F", {0, 1}}, {"sex=M", {2}}}};
    const auto who = constraints::members(condition, people);
    if (!who) return refused(who.error());
    FUZZ_LAW(who->size() == people.records, "{} answers", who->size());
    for (const uint8_t mask : *who) FUZZ_LAW(mask <= 3, "{}", mask);
    return true;
}

bool constraint(std::string_view text) {
    const auto constraint = constraints::parse(text);
    if (!constraint) return refused(constraint.error());
    FUZZ_LAW(constraints::validate(*constraint).has_value(), "accepted, but not valid");
    const std::string written = constraints::text(*constraint);
    const auto again = constraints::parse(written);
    FUZZ_LAW(again.has_value(), "refuses what it wrote: {}", again.error().message);
    FUZZ_LAW(*again == *constraint, "reads back another constraint: {}", written);
    FUZZ_LAW(constraints::text(*again) == written, "writes one constraint in two ways");
    const auto program = constraints::compile(*constraint, {-150, 75});
    if (!program) return refused(program.error());
    FUZZ_LAW(program->leaves.size() <= constraints::kMaxLeaves, "{}", program->leaves.size());
    FUZZ_LAW(
        !program->statements.empty() && program->statements.size() <= constraints::kMaxStatements,
        "{}", program->statements.size());
    std::vector<constraints::Known> known;
    const std::vector<double> thresholds(program->leaves.size(), -50);
    for (const auto& leaf : program->leaves) {
        known.push_back(constraints::range_of(leaf, program->impact_range));
        membership(leaf.condition);
    }
    for (const auto& statement : program->statements) {
        FUZZ_LAW(!statement.needs.empty(), "a statement that needs no data");
        const auto interval =
            constraints::propagate(statement.formula, known, {program->impact_range, thresholds});
        FUZZ_LAW(!interval || interval->lo <= interval->hi, "an interval without numbers");
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
                 "categories = [\"1\", \"b\"]\n",
                 "label = \"'late' in [a, 'b, c', 3]\"\nfavourable = \"false\"\n"
                 "label_missing = \"leave_out\"\nprotected = [\"age\", \"race\"]\n"
                 "ignored = [\"o\", \"d\", \"b\"]\n[[column]]\nname = \"age\"\n"
                 "bands = [25, 45.5]\nrange = [0, 120]\noutside = \"error\"\nempty = \"n\"\n"
                 "[[column]]\nname = \"race\"\npool_below = 9\npool = \"rest\"\n"
                 "keep = [\"w\"]\n[[column]]\nname = \"o\"\ndate = \"DD.MM.YYYY\"\n"
                 "[[column]]\nname = \"d\"\ndate = \"ISO\"\n[[feature]]\nname = \"m\"\n"
                 "kind = \"numeric\"\nderived = \"months_since(o, d)\"\n[[feature]]\n"
                 "name = \"l\"\nkind = \"numeric\"\nderived = \"log(b)\"\n",
                 "label = \"days late >= 90\"\nfavourable = \"true\"\n[[feature]]\n"
                 "name = \"x\"\nkind = \"numeric\"\n"};
         }},
        {"product", product,
         [] {
             return Seeds{
                 "name = \"card\"\n[label]\nname = \"repaid\"\nhorizon_months = 6\n"
                 "grace_days = 62\n[[measure]]\nname = \"income\"\nlo = -1.0\nhi = 1.0\n"
                 "horizon_months = 12\ngrace_days = 31\n[impact]\nunits = \"points\"\nlo = -150\n"
                 "hi = 75\nfavourable = 75\nunfavourable = -150\ndeclined = 0\n"};
         }},
        // a tree is copied a few times if it has several meanings
        {"constraint", constraint,
         [] {
             return Seeds{
                 "mean(impact | group = \"women\") - mean(impact, reference | group = \"women\") "
                 ">= 0",
                 "abs(mean(decision | sex = 'F' and label = 0) - mean(decision | not (sex != \"F\" "
                 "or age < 25))) <= 0.05",
                 "1 - mean(loss, anchor) * -2.5e-1 / min(3, mean(label)) >= max(0.8, "
                 "mean(decision * label | `region` in (\"N\", \"S\")))",
                 "cvar(impact, 0.1 | sex = \"F\") >= cvar(impact, 0.1, reference | sex = \"F\") "
                 "- 5",
                 "abs(quantile(impact, 0.5 | age < 25) - 2 * quantile(impact, .5, anchor)) <= 5",
                 "mean(impact <= -100, reference | group = \"a\") * 2 <= 1 - mean(impact > 8)",
                 "quantile(impact, 0.25) >= -30"};
         },
         4 << 20},
    };
}

}  // namespace rampart::fuzz
