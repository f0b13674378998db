#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rampart/base/file.hpp"
#include "rampart/runtime/job_queue.hpp"
#include "rampart/runtime/system_clock.hpp"

namespace rampart::support {

/// A queue of jobs in a folder of its own, and the threads that do them.
class WorkingJobs {
  public:
    /// Jobs of one kind; `left`: those that a process that ended has left.
    WorkingJobs(const std::string& kind, const runtime::JobQueue::Work& work,
                const std::vector<runtime::JobRecord>& left = {}) {
        static int counter = 0;
        folder_ = std::filesystem::path(testing::TempDir()) /
                  fmt::format("working_jobs_{}_{}", ::getpid(), counter++);
        std::filesystem::create_directories(folder_);
        for (const auto& one : left)
            EXPECT_TRUE(base::write_file_atomically(folder_ / runtime::job_file(one.id),
                                                    runtime::encode_job(one)));
        runtime::JobQueueOptions options;
        options.folder = folder_;
        options.kinds = {kind};
        queue_ = runtime::JobQueue::open(std::move(options), clock_, metrics_).value();
        jobs_.add({.name = kind, .every = base::Duration::micros(1000)},
                  [this, kind, work](const auto& run) { return queue_->work(kind, work, run); });
    }
    ~WorkingJobs() {
        queue_->begin_stop();
        jobs_.stop(base::Duration::seconds(60));
        std::filesystem::remove_all(folder_);
    }
    WorkingJobs(const WorkingJobs&) = delete;
    WorkingJobs& operator=(const WorkingJobs&) = delete;

    runtime::JobQueue& queue() { return *queue_; }

  private:
    const runtime::SystemClock clock_;
    runtime::Metrics metrics_;
    std::filesystem::path folder_;
    std::unique_ptr<runtime::JobQueue> queue_;
    runtime::Jobs jobs_{metrics_};
};

}  // namespace rampart::support
