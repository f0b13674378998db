#include "store/passphrase.hpp"

#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "frame/named_secret.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/file_access.hpp"
#include "rampart/base/reasons.hpp"

namespace rampart::cli {

namespace fs = std::filesystem;
using base::Result;

namespace {

/// Reads a line from the terminal without showing it.
Result<std::string> ask(const char* prompt) {
    termios shown{};
    if (::tcgetattr(STDIN_FILENO, &shown) != 0)
        return base::make_error(Reason::kMisuse,
                                "--passphrase-file is required where there is no terminal");
    termios hidden = shown;
    hidden.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    fmt::print(stderr, "{}: ", prompt);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    std::string line;
    for (int c = std::getchar(); c != EOF && c != '\n'; c = std::getchar())
        line += static_cast<char>(c);
    ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown);
    fmt::print(stderr, "\n");
    return line;
}

}  // namespace

Result<std::string> read_passphrase(const fs::path& named, bool twice) {
    if (named.empty()) {
        RAMPART_TRY(auto typed, ask("passphrase"));
        if (!twice) return typed;
        RAMPART_TRY(const auto again, ask("passphrase, again"));
        if (again != typed) return base::make_error(Reason::kMisuse, "the passphrases differ");
        return typed;
    }
    RAMPART_TRY(const auto file, named_secret(named));
    struct stat status {};
    if (::stat(file.c_str(), &status) == 0 && base::others_have_access(file, status.st_mode)) {
        return base::make_error(base::Reason::kSecretExposed,
                                "{}: others than its owner have access (mode {:04o}); chmod 600",
                                file.string(), status.st_mode & 07777);
    }
    RAMPART_TRY(auto text, base::read_file(file, 4096));
    if (text.ends_with('\n')) text.pop_back();
    if (text.find('\n') == text.npos) return text;
    return base::make_error(Reason::kMisuse, "{}: the passphrase has to be one line",
                            file.string());
}

void add_passphrase_option(CLI::App& command, fs::path& file) {
    command.add_option("--passphrase-file", file,
                       "file with the passphrase, for its owner only; default: asked for");
}

}  // namespace rampart::cli
