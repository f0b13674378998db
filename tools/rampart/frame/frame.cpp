#include "frame/frame.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/json.hpp>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string_view>

#include "frame/help.hpp"
#include "frame/named_file.hpp"
#include "frame/printable.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/check.hpp"
#include "rampart/runtime/secrets.hpp"
#include "services/rampartd/software.hpp"

namespace rampart::cli {
namespace {

/// Levenshtein's distance.
size_t distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), size_t{0});
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            const size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
        }
    }
    return row.back();
}

/// The command that the arguments name: the deepest one parsed.
const CLI::App* innermost(const CLI::App* app) {
    const auto chosen = app->get_subcommands();
    return chosen.empty() ? app : innermost(chosen.front());
}

std::vector<std::string> names_at(const CLI::App* app) {
    std::vector<std::string> names;
    for (const auto* option : app->get_options())
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    for (const auto* command : app->get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return names;
}

/// "did you mean --label? " for the nearest name, or nothing.
std::string nearest(const CLI::App* app, std::string_view unknown) {
    unknown = unknown.substr(0, unknown.find('='));
    std::string best;
    size_t least = std::max<size_t>(2, unknown.size() / 3) + 1;
    for (const auto& name : names_at(app))
        if (const size_t d = distance(unknown, name); d < least) {
            least = d;
            best = name;
        }
    return best.empty() ? "" : fmt::format("did you mean {}? ", best);
}

/// "there are train, evaluate, …; "
std::string known_commands(const CLI::App* app) {
    std::vector<std::string> names;
    for (const auto* command : app->get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(command->get_name());
    return fmt::format("there are {}; ", fmt::join(names, ", "));
}

/// Whether --help came with a command that is not there, and so is about nothing.
bool names_no_command(const CLI::App& root) {
    const CLI::App* at = innermost(&root);
    const auto extras = at->remaining();
    return !at->get_subcommands([](const CLI::App*) { return true; }).empty() && !extras.empty() &&
           !extras.front().starts_with('-');
}

std::string path_of(const CLI::App* app) {
    return app->get_parent() == nullptr ? app->get_name()
                                        : path_of(app->get_parent()) + " " + app->get_name();
}

base::Error misuse(const CLI::App& root, const CLI::ParseError& error) {
    const CLI::App* at = innermost(&root);
    const auto extras = at->remaining();
    const auto all_extras = extras.empty() ? root.remaining(true) : extras;
    const bool no_command = at->get_subcommands([](const CLI::App*) { return true; }).size() > 0;
    std::string what = error.what();
    std::string hint;
    if (!all_extras.empty()) {
        what = fmt::format("unknown {} '{}'",
                           all_extras.front().starts_with('-') ? "option"
                           : no_command                        ? "command"
                                                               : "argument",
                           all_extras.front());
        hint = nearest(at, all_extras.front());
    } else if (no_command) {
        what = "no command given";
    }
    if (no_command && hint.empty()) hint = known_commands(at);
    std::replace(what.begin(), what.end(), '\n', ' ');
    return base::make_error(Reason::kMisuse, "{}; {}see `{} --help`", what, hint, path_of(at));
}

std::string to_json(const base::Error& error) {
    return boost::json::serialize(
        boost::json::object{{"error",
                             {{"code", std::string(to_string(error.code))},
                              {"reason", error.reason},
                              {"message", error.message}}}});
}

void print_line(std::FILE* to, std::string_view text) {
    if (text.empty()) return;
    const auto line = fmt::format("{}{}", text, text.back() == '\n' ? "" : "\n");
    // fails on a full disk: of an answer that is seen at the end, of an error nothing is left to do
    std::fwrite(line.data(), 1, line.size(), to);
}

/// Prints text in which there may be that of others; a command's own has no control characters.
void print_text(std::FILE* to, std::string_view text) { print_line(to, printable_lines(text)); }

void add_help(CLI::App& app) { app.set_help_flag("-h,--help", "print this help")->group("Help"); }

}  // namespace

struct Frame::Impl {
    CLI::App app{"Rampart: live loan decisions behind a fairness gate.", "rampart"};
    bool json = false;
    std::optional<Run> chosen;
    std::string section = "Commands";

    int fail(const base::Error& error, bool as_json) const {
        print_text(stderr, fmt::format("{}: {}", path_of(innermost(&app)), error.message));
        if (as_json) print_line(stdout, to_json(error));
        return static_cast<int>(runtime::exit_code_of(error.code));
    }
};

Frame::Frame() : impl_(std::make_unique<Impl>()) {
    impl_->app.require_subcommand(1);
    auto& app = impl_->app;
    app.formatter_fn(
        [](const CLI::App* of, const std::string&, CLI::AppFormatMode) { return help_text(*of); });
    add_help(app);
    app.set_version_flag("--version", rampartd::software(), "print the version")->group("Help");
    app.footer("`rampart COMMAND --help` explains a command and gives an example.\n");
}

Frame::~Frame() = default;

void Frame::section(std::string title) { impl_->section = std::move(title); }

void Frame::family(const std::string& name, const std::string& summary) {
    auto* added = impl_->app.add_subcommand(name, summary);
    added->require_subcommand(1)->group(impl_->section);
    add_help(*added);
}

CLI::App& Frame::add(const CommandSpec& spec, Run run) {
    CLI::App* parent = &impl_->app;
    std::string name = spec.name, section = impl_->section;
    if (const auto space = name.find(' '); space != std::string::npos) {
        const auto families = parent->get_subcommands(
            [&](const CLI::App* app) { return app->get_name() == name.substr(0, space); });
        RAMPART_CHECK(families.size() == 1);  // declared by Frame::family, with what it is for
        parent = families.front();
        name = name.substr(space + 1);
        section = "Commands";
    }
    auto* command = parent->add_subcommand(name, spec.summary)->group(section);
    add_help(*command);
    command->add_flag("--json", impl_->json, "print one JSON document on standard output")
        ->group("Help");
    auto footer = wrapped(spec.detail, 0);
    footer +=
        (footer.empty() ? "" : "\n") + std::string("Example:\n") + wrapped_command(spec.example);
    command->footer(footer);
    if (spec.reads_no_store) {
        run = [run = std::move(run)](const Context& context) { return named_file(run(context)); };
    } else {
        run = [run = std::move(run)](const Context& context) {
            runtime::make_files_private();
            return run(context);
        };
    }
    command->final_callback([impl = impl_.get(), run = std::move(run)] { impl->chosen = run; });
    return *command;
}

int Frame::main(int argc, char** argv) {
    auto& app = impl_->app;
    const bool wants_json = std::any_of(
        argv, argv + argc, [](const char* a) { return std::string_view(a) == "--json"; });
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& help) {  // --help, --version
        if (names_no_command(app)) return impl_->fail(misuse(app, help), wants_json);
        return app.exit(help);
    } catch (const CLI::ParseError& error) {
        return impl_->fail(misuse(app, error), wants_json);
    }
    const Context context{.json = impl_->json, .terminal = isatty(STDERR_FILENO) == 1};
    const auto answer = [&]() -> base::Result<Answer> {
        try {
            return (*impl_->chosen)(context);
        } catch (const std::exception&
                     error) {  // a foreign library's, not mapped where it should have been
            return base::make_error(Reason::kException, "{}", error.what());
        }
    }();
    if (!answer) return impl_->fail(answer.error(), context.json);
    for (const auto& note : answer->notes) print_text(stderr, "note: " + note);
    if (context.json) {
        print_line(stdout, answer->json);
    } else {
        print_text(stdout, answer->text);
    }
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)  // a full disk, a closed pipe
        return static_cast<int>(ExitCode::kFailed);
    return static_cast<int>(answer->exit_code);
}

}  // namespace rampart::cli
