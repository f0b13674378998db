#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <new>
#include <type_traits>

namespace rampart::test_support {

/// Runs `work` in a child process; returns its exit code, or 128 + the signal that ended it. Fork
/// before this process has threads: a database makes threads that a child would wait for without
/// end. So a test that uses in_child opens databases only in children.
template <class Work>
int in_child(const Work& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        work();
        ::_exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/// A value that children can read and change.
template <class T>
class Shared {
  public:
    static_assert(std::is_trivially_destructible_v<T>);
    Shared() {
        void* memory =
            ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        EXPECT_NE(memory, MAP_FAILED);
        value_ = new (memory) T();
    }
    ~Shared() { ::munmap(value_, sizeof(T)); }
    Shared(const Shared&) = delete;
    Shared& operator=(const Shared&) = delete;
    T& operator*() { return *value_; }
    T* operator->() { return value_; }

  private:
    T* value_;
};

}  // namespace rampart::test_support
