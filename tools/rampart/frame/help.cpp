#include "frame/help.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "rampart/runtime/exit_code.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kIndent = 2, kColumn = 30;
constexpr std::string_view kHelpGroup = "Help";

/// Counts characters, not bytes, of UTF-8.
size_t width_of(const std::string& text) {
    return static_cast<size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string path_of(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name()
                                       : path_of(*app.get_parent()) + " " + app.get_name();
}

/// Returns the commands below; option groups are Apps too, but have no name.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
    return app.get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); });
}

/// Returns the options of the command and of its option groups.
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
    auto options = app.get_options([](const CLI::Option* o) { return !o->get_group().empty(); });
    for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (!sub->get_name().empty()) continue;
        for (const auto* option : sub->get_options())
            if (option != sub->get_help_ptr()) options.push_back(option);
    }
    return options;
}

/// Splits a type with its checks, "TEXT:{a,b}" or "INT:INT in [1 - 9]", into what a user types and
/// what is allowed.
std::pair<std::string, std::string> type_of(const CLI::Option& option) {
    const auto text = option.get_type_name();
    const auto colon = text.find(':');
    std::string type = text.substr(0, colon), check;
    if (colon != std::string::npos) check = text.substr(colon + 1);
    if (type == "UINT") type = "INT";
    if (const auto open = check.find('{'); open != std::string::npos) {
        auto choices = check.substr(open + 1, check.find('}') - open - 1);
        for (size_t at = 0; (at = choices.find(',', at)) != std::string::npos; at += 2)
            choices.replace(at, 1, ", ");
        return {type, "one of " + choices};
    }
    if (const auto open = check.find(" in ["); open != std::string::npos) {
        auto range = check.substr(open + 5, check.find(']') - open - 5);
        if (const auto dash = range.find(" - "); dash != std::string::npos)
            range.replace(dash, 3, " to ");
        return {type, range};
    }
    if (check == "NONNEGATIVE") return {type, "not negative"};
    if (check == "POSITIVE") return {type, "positive"};
    return {type, check};
}

std::string name_of(const CLI::Option& option) {
    auto name = option.get_name(option.get_positional(), true);
    for (size_t at = 0; (at = name.find(',', at)) != std::string::npos; at += 2)
        name.replace(at, 1, ", ");
    const auto type = type_of(option).first;
    if (option.get_positional() || type.empty()) return name;
    return name + " " + type + (option.get_expected_max() > 1 ? ",…" : "");
}

std::string description_of(const CLI::Option& option) {
    auto text = option.get_description();
    std::vector<std::string> facts;
    if (option.get_required()) facts.emplace_back("required");
    if (const auto allowed = type_of(option).second; !allowed.empty()) facts.push_back(allowed);
    if (const auto value = option.get_default_str(); !value.empty() && value != "\"\"")
        facts.push_back("default: " + value);
    for (size_t k = 0; k < facts.size(); ++k) text += (k == 0 ? " [" : "; ") + facts[k];
    return facts.empty() ? text : text + "]";
}

/// Writes a name and its text beside it, or below where the name is long.
void append_entry(std::string& out, const std::string& name, const std::string& text) {
    const auto column = wrapped(text, kColumn);
    out += std::string(kIndent, ' ') + name;
    const size_t used = kIndent + width_of(name);
    if (used + 2 > kColumn) {
        out += "\n" + column;
    } else {
        out += std::string(kColumn - used, ' ') + column.substr(std::min(kColumn, column.size()));
    }
}

/// Appends the entries by group, each group in the order in which it first appears.
template <class Item, class Entry>
void append_groups(std::string& out, const std::vector<const Item*>& items, const Entry& entry) {
    std::vector<std::string> groups;
    for (const auto* item : items)
        if (std::find(groups.begin(), groups.end(), item->get_group()) == groups.end())
            groups.push_back(item->get_group());
    // what every command has comes last
    std::stable_partition(groups.begin(), groups.end(),
                          [](const auto& group) { return group != kHelpGroup; });
    for (const auto& group : groups) {
        out += fmt::format("\n{}:\n", group);
        for (const auto* item : items)
            if (item->get_group() == group) entry(*item);
    }
}

}  // namespace

std::string wrapped(const std::string& text, size_t indent) {
    std::string out;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string current;
        for (std::string word; words >> word;) {
            const size_t width = indent + width_of(current) + 1 + width_of(word);
            if (!current.empty() && width > kHelpWidth) {
                out += std::string(indent, ' ') + current + "\n";
                current.clear();
            }
            current += (current.empty() ? "" : " ") + word;
        }
        out += std::string(indent, ' ') + current + "\n";
    }
    return out;
}

std::string wrapped_command(const std::string& command) {
    std::string out = std::string(kIndent, ' '), line;
    const auto indent = [&] { return out.size() == kIndent ? kIndent : 2 * kIndent; };
    for (size_t at = 0; at < command.size();) {
        size_t end = at;
        for (char quote = 0; end < command.size(); ++end) {
            const char c = command[end];
            if (quote == 0 && c == ' ') break;
            if (c == '\'' || c == '"') quote = quote == 0 ? c : quote == c ? 0 : quote;
        }
        const auto word = command.substr(at, end - at);
        // room for " \\" behind the line
        if (!line.empty() && indent() + width_of(line) + 1 + width_of(word) + 2 > kHelpWidth) {
            out += line + " \\\n" + std::string(2 * kIndent, ' ');
            line.clear();
        }
        line += (line.empty() ? "" : " ") + word;
        at = std::min(end + 1, command.size());
    }
    return out + line + "\n";
}

std::string help_text(const CLI::App& app) {
    const auto commands = commands_of(app);
    std::vector<const CLI::Option*> positionals, options;
    for (const auto* option : options_of(app))
        (option->get_positional() ? positionals : options).push_back(option);
    std::string usage = path_of(app);
    if (!commands.empty()) usage += " COMMAND";
    if (!options.empty()) usage += " [OPTIONS]";
    for (const auto* option : positionals) {
        const auto name = option->get_name(true);
        usage += option->get_required() ? " " + name : " [" + name + "]";
    }

    std::string out = wrapped(app.get_description(), 0) + "\nUsage:\n  " + usage + "\n";
    if (!positionals.empty()) {
        out += "\nArguments:\n";
        for (const auto* option : positionals)
            append_entry(out, name_of(*option), description_of(*option));
    }
    append_groups(out, commands, [&](const CLI::App& sub) {
        append_entry(out, sub.get_name(), sub.get_description());
    });
    append_groups(out, options, [&](const CLI::Option& option) {
        append_entry(out, name_of(option), description_of(option));
    });
    if (!app.get_footer().empty()) out += "\n" + app.get_footer();
    return out + "\n" + wrapped(fmt::format("Exit codes: {}.", runtime::kExitCodesText), 0);
}

}  // namespace rampart::cli
