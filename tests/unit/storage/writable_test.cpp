#include "rampart/storage/writable.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "rampart/storage/database.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
constexpr ColumnFamily kFirst{0};

base::Status write(Database& db, const std::string& key) {
    WriteBatch batch;
    batch.put(kFirst, key, std::string(5000, 'x'));
    return db.write(batch, Sync::kAlways);
}

void let_files_grow(bool may) {
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = may ? limit.rlim_max : 0;
    ::setrlimit(RLIMIT_FSIZE, &limit);
}

/// The line of what did not go as it should; 0: nothing.
int stop_and_open_anew(const fs::path& folder) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto stopping = *Database::open(folder / "stopping", {"first"});
    const auto other = *Database::open(folder / "other", {"first"});
    if (!write(*stopping, "before") || !all_writable()) return __LINE__;
    let_files_grow(false);
    if (write(*stopping, "without room")) return __LINE__;
    let_files_grow(true);
    if (write(*stopping, "with room again")) return __LINE__;  // others need not know
    if (!write(*other, "k")) return __LINE__;
    const auto status = all_writable();
    if (status || status.error().reason != "database_stopped") return __LINE__;
    if (status.error().message.find(folder / "stopping") == std::string::npos) return __LINE__;
    stopping.reset();
    if (!all_writable()) return __LINE__;
    stopping = *Database::open(folder / "stopping", {"first"});
    if (!write(*stopping, "after") || !all_writable()) return __LINE__;
    if (!stopping->get(kFirst, "before").value()) return __LINE__;
    if (stopping->get(kFirst, "without room").value()) return __LINE__;
    return 0;
}

TEST(AllWritable, SaysThatADatabaseHasStoppedUntilItIsOpenedAnew) {
    const fs::path folder =
        fs::path(testing::TempDir()) / ("writable." + std::to_string(::getpid()));
    fs::create_directories(folder);
    const pid_t child = ::fork();  // the limit is one of the process
    if (child == 0) {
        const int line = stop_and_open_anew(folder);
        if (line != 0) ::dprintf(2, "line %d\n", line);
        ::_exit(line == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    fs::remove_all(folder);
}

}  // namespace
}  // namespace rampart::storage
