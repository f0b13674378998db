#include "rampart/config/table.hpp"

#include <cmath>
#include <map>
#include <set>

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include "rampart/base/file.hpp"

namespace rampart::config {

/// What every table of one file shares.
struct Table::State {
    std::string name;
    toml::table root;
    std::optional<base::Error> error;
};

/// One table: the keys asked for, and the sub-tables made of it.
struct Table::Node {
    const toml::table* toml = nullptr;  // nullptr: absent
    std::string path;
    std::set<std::string, std::less<>> asked;
    std::map<std::string, std::vector<Table>, std::less<>> children;
};

namespace {

const toml::node* as_node(const void* node) { return static_cast<const toml::node*>(node); }

std::string join(const std::string& path, std::string_view key) {
    return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

}  // namespace

const void* Table::find(std::string_view key) const {
    node_->asked.emplace(key);
    return node_->toml == nullptr ? nullptr : node_->toml->get(key);
}

void Table::fail_at(const void* node, std::string_view key, std::string_view message) {
    if (state_->error) return;
    const uint32_t line = node != nullptr ? as_node(node)->source().begin.line
                          : node_->toml != nullptr ? node_->toml->source().begin.line : 1;
    state_->error = base::invalid_argument("bad_configuration", "{}, line {}: {}: {}", state_->name, line,
                                           join(node_->path, key), message);
}

void Table::fail(std::string_view key, std::string_view message) { fail_at(find(key), key, message); }

bool Table::has(std::string_view key) const { return find(key) != nullptr; }

template <class T, class Read>
T Table::get(std::string_view key, const T* fallback, Read read) {
    const toml::node* node = as_node(find(key));
    if (node == nullptr) {
        if (fallback != nullptr) return *fallback;
        fail_at(nullptr, key, "is required");
        return T{};
    }
    T value{};
    if (const std::string wanted = read(*node, value); !wanted.empty()) {
        fail_at(node, key, wanted);
        return fallback != nullptr ? *fallback : T{};
    }
    return value;
}

namespace {

std::string read_string(const toml::node& node, std::string& out) {
    const auto value = node.value_exact<std::string>();
    if (!value) return "must be a text in quotes";
    out = *value;
    return {};
}

auto integer_reader(int64_t lo, int64_t hi) {
    return [lo, hi](const toml::node& node, int64_t& out) -> std::string {
        const auto value = node.value_exact<int64_t>();
        if (!value) return fmt::format("must be a whole number from {} to {}", lo, hi);
        if (*value < lo || *value > hi) return fmt::format("is {}; allowed are {} to {}", *value, lo, hi);
        out = *value;
        return {};
    };
}

auto number_reader(double lo, double hi) {
    return [lo, hi](const toml::node& node, double& out) -> std::string {
        const auto value = node.value<double>();
        if (!value || !node.is_number()) return fmt::format("must be a number from {} to {}", lo, hi);
        if (!(*value >= lo && *value <= hi) || !std::isfinite(*value)) {
            return fmt::format("is {}; allowed are {} to {}", *value, lo, hi);
        }
        out = *value;
        return {};
    };
}

std::string read_boolean(const toml::node& node, bool& out) {
    const auto value = node.value_exact<bool>();
    if (!value) return "must be true or false";
    out = *value;
    return {};
}

}  // namespace

std::string Table::string(std::string_view key) { return get<std::string>(key, nullptr, read_string); }
std::string Table::string(std::string_view key, std::string_view fallback) {
    const std::string otherwise(fallback);
    return get<std::string>(key, &otherwise, read_string);
}
int64_t Table::integer(std::string_view key, int64_t lo, int64_t hi) {
    return get<int64_t>(key, nullptr, integer_reader(lo, hi));
}
int64_t Table::integer(std::string_view key, int64_t lo, int64_t hi, int64_t fallback) {
    return get<int64_t>(key, &fallback, integer_reader(lo, hi));
}
double Table::number(std::string_view key, double lo, double hi) {
    return get<double>(key, nullptr, number_reader(lo, hi));
}
double Table::number(std::string_view key, double lo, double hi, double fallback) {
    return get<double>(key, &fallback, number_reader(lo, hi));
}
bool Table::boolean(std::string_view key) { return get<bool>(key, nullptr, read_boolean); }
bool Table::boolean(std::string_view key, bool fallback) { return get<bool>(key, &fallback, read_boolean); }

std::string Table::choice(std::string_view key, const std::vector<std::string>& allowed,
                          std::string_view fallback) {
    const std::string otherwise(fallback);
    return get<std::string>(key, &otherwise, [&](const toml::node& node, std::string& out) -> std::string {
        const auto value = node.value_exact<std::string>();
        for (const auto& one : allowed) {
            if (value && *value == one) {
                out = one;
                return {};
            }
        }
        return fmt::format("is '{}'; allowed are {}", value.value_or("(not a text)"), fmt::join(allowed, ", "));
    });
}

std::vector<std::string> Table::strings(std::string_view key) {
    const std::vector<std::string> none;
    return get<std::vector<std::string>>(key, &none, [](const toml::node& node, auto& out) -> std::string {
        const auto* array = node.as_array();
        if (array == nullptr) return "must be a list of texts";
        for (const auto& element : *array) {
            const auto value = element.template value_exact<std::string>();
            if (!value) return "must be a list of texts";
            out.push_back(*value);
        }
        return {};
    });
}

std::vector<std::vector<double>> Table::number_rows(std::string_view key) {
    using Rows = std::vector<std::vector<double>>;
    const Rows none;
    return get<Rows>(key, &none, [](const toml::node& node, Rows& out) -> std::string {
        const char* wanted = "must be a list of lists of finite numbers";
        const auto* array = node.as_array();
        if (array == nullptr) return wanted;
        for (const auto& element : *array) {
            const auto* row = element.as_array();
            if (row == nullptr) return wanted;
            auto& values = out.emplace_back();
            for (const auto& cell : *row) {
                const auto value = cell.is_number() ? cell.value<double>() : std::nullopt;
                if (!value || !std::isfinite(*value)) return wanted;
                values.push_back(*value);
            }
        }
        return {};
    });
}

Table Table::table(std::string_view key) {
    const auto known = node_->children.find(key);
    if (known != node_->children.end() && !known->second.empty()) return known->second.front();
    const toml::node* node = as_node(find(key));
    if (node != nullptr && !node->is_table()) fail_at(node, key, "must be a table");
    Table child;
    child.state_ = state_;
    child.node_ = std::make_shared<Node>();
    child.node_->toml = node != nullptr ? node->as_table() : nullptr;
    child.node_->path = join(node_->path, key);
    node_->children[std::string(key)] = {child};
    return child;
}

std::vector<Table> Table::tables(std::string_view key) {
    const auto known = node_->children.find(key);
    if (known != node_->children.end()) return known->second;
    const toml::node* node = as_node(find(key));
    std::vector<Table> children;
    if (node != nullptr && !node->is_array_of_tables()) {
        fail_at(node, key, "must be a list of tables, [[…]]");
    } else if (node != nullptr) {
        for (const auto& element : *node->as_array()) {
            Table& child = children.emplace_back();
            child.state_ = state_;
            child.node_ = std::make_shared<Node>();
            child.node_->toml = element.as_table();
            child.node_->path = fmt::format("{}[{}]", join(node_->path, key), children.size());
        }
    }
    node_->children[std::string(key)] = children;
    return children;
}

base::Status Table::finish() {
    if (state_->error) return *state_->error;
    if (node_->toml == nullptr) return base::ok();
    for (const auto& [key, value] : *node_->toml) {
        if (!node_->asked.contains(key.str())) {
            fail_at(&value, key.str(), fmt::format("is not a known key; known here are {}",
                                                   fmt::join(node_->asked, ", ")));
            return *state_->error;
        }
    }
    for (auto& [key, tables] : node_->children) {
        for (auto& child : tables) RAMPART_RETURN_IF_ERROR(child.finish());
    }
    return base::ok();
}

base::Result<Table> parse(std::string_view text, std::string_view name) {
    auto parsed = toml::parse(text, std::string(name));
    if (!parsed) {
        return base::invalid_argument("bad_toml", "{}, line {}: {}", name, parsed.error().source().begin.line,
                                      parsed.error().description());
    }
    Table table;
    table.state_ = std::make_shared<Table::State>();
    table.state_->name = std::string(name);
    table.state_->root = std::move(parsed).table();
    table.node_ = std::make_shared<Table::Node>();
    table.node_->toml = &table.state_->root;
    return table;
}

base::Result<Table> parse_file(const std::filesystem::path& path) {
    constexpr size_t kLimit = 8 << 20;
    RAMPART_TRY(const auto text, base::read_file(path, kLimit));
    return parse(text, path.string());
}

}  // namespace rampart::config
