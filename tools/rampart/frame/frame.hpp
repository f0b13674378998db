#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/runtime/exit_code.hpp"

namespace CLI {
class App;
}

/// The frame of the command line: what every command has in common.
///
/// Exit codes: runtime::ExitCode. With --json standard output holds
/// exactly one JSON document, also on failure: {"error": {"code", "reason", "message"}}. Messages
/// go to standard error.
///
/// A further command is a file with one function that calls Frame::add, and a line in main.cpp:
///
///     void add_verify(Frame& frame) {
///         auto options = std::make_shared<Options>();
///         auto& command = frame.add({.name = "verify", .summary = …, .example = …},
///                                   [options](const Context&) { return verify(*options); });
///         command.add_option("CERTIFICATE", options->path, "…")->required();
///     }
namespace rampart::cli {

using runtime::ExitCode;

/// What a command answers.
struct Answer {
    ExitCode exit_code = ExitCode::kDone;
    std::string text = {};                // for people, to standard output without --json
    std::string json = {};                // one document, to standard output with --json
    std::vector<std::string> notes = {};  // warnings, to standard error
};

/// How a command was called.
struct Context {
    bool json = false;
    bool terminal = false;  // standard error is one: progress may be shown there
};

using Run = std::function<base::Result<Answer>(const Context&)>;

struct CommandSpec {
    std::string name;         // "train"; a command of a command: "schema infer"
    std::string summary;      // one line
    std::string example;      // a full command line that works
    std::string detail = {};  // further lines of the help
    /// Whether all that it reads are files that the user names: what is damaged in them is bad
    /// input (named_file.hpp).
    bool reads_no_store = false;
};

class Frame {
  public:
    Frame();
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    /// Begins a section of the help: the families and commands that follow are listed under it.
    void section(std::string title);
    /// Declares a family, the first word of commands such as "backup create".
    void family(const std::string& name, const std::string& summary);
    /// Registers a command; add its options to what is returned. --help and --json are there
    /// already.
    CLI::App& add(const CommandSpec& spec, Run run);

    /// Parses, runs, prints; returns the exit code.
    int main(int argc, char** argv);

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::cli
