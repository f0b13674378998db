#include "rampart/runtime/job_queue.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>

#include "rampart/base/file.hpp"
#include "rampart/runtime/reasons.hpp"
#include "rampart/runtime/system_clock.hpp"

namespace rampart::runtime {
namespace {

namespace fs = std::filesystem;
using base::Duration;

const auto kLong = Duration::seconds(60);
const std::string kErase = "erase", kOther = "other", kSecret = "kx7QvW2mZp9RtYb4";

/// Waits until something holds; false after 60 s.
bool soon(const std::function<bool()>& holds) {
    for (int i = 0; i < 60'000; ++i) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
}

class Queue : public testing::Test {
  protected:
    Queue() {
        options_.folder = base_ / "jobs";
        options_.kinds = {kErase, kOther};
    }
    ~Queue() override {
        end_process();
        fs::remove_all(base_);
    }
    /// Opens the queue of the folder, as a process does when it starts.
    void open() {
        end_process();
        metrics_ = std::make_unique<Metrics>();
        queue_ = JobQueue::open(options_, clock_, *metrics_).value();
        jobs_ = std::make_unique<Jobs>(*metrics_);
    }
    void end_process() {
        if (queue_) queue_->begin_stop();
        jobs_.reset();
        queue_.reset();
    }
    /// Starts to do the jobs of a kind.
    void work(const std::string& kind, JobQueue::Work work) {
        jobs_->add({.name = kind, .every = Duration::micros(1000)},
                   [this, kind, work](const JobRun& run) { return queue_->work(kind, work, run); });
    }
    static base::Result<std::string> echo(JobTask& task) { return "done: " + task.request(); }
    JobRecord submit(const std::string& request, const std::string& kind = kErase) {
        const auto job = queue_->submit(kind, request, 3);
        EXPECT_TRUE(job) << job.error().message;
        return *job;
    }
    JobRecord ended(const std::string& id) {
        const auto job = queue_->wait(id, kLong);
        EXPECT_TRUE(job) << job.error().message;
        EXPECT_TRUE(job->ended());
        return *job;
    }
    /// Whether a file of the folder has the bytes.
    bool on_disk(std::string_view bytes) const {
        for (const auto& entry : fs::recursive_directory_iterator(options_.folder)) {
            const auto text = base::read_file(entry.path(), 1 << 20);
            if (text && text->find(bytes) != std::string::npos) return true;
        }
        return false;
    }
    fs::path file(const std::string& id) const { return options_.folder / job_file(id); }

    const fs::path base_ = fs::path(testing::TempDir()) / fmt::format("job_queue_{}", ::getpid());
    ManualClock clock_{base::TimePoint::from_micros(1'000'000)};
    JobQueueOptions options_;
    std::unique_ptr<Metrics> metrics_;
    std::unique_ptr<JobQueue> queue_;
    std::unique_ptr<Jobs> jobs_;
};

TEST_F(Queue, AJobIsDurableBeforeItIsAcceptedAndForItsOwnerOnly) {
    open();
    const auto job = submit(kSecret);
    EXPECT_EQ(job.phase, JobPhase::kWaiting);
    EXPECT_EQ(job.id.size(), 32u);
    EXPECT_EQ(job.request, "") << "nothing that is shown has the request";
    const auto found = read_jobs(options_.folder).value();
    ASSERT_EQ(found.records.size(), 1u);
    EXPECT_EQ(found.records[0].id, job.id);
    EXPECT_EQ(found.records[0].request, kSecret);
    struct stat status {};
    ASSERT_EQ(::stat(file(job.id).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    ASSERT_EQ(::stat(options_.folder.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(Queue, JobsOfAKindAreDoneInTheirOrderAndForgetTheRequest) {
    open();
    std::vector<std::string> order;
    const auto first = submit(kSecret), second = submit("b");
    work(kErase, [&](JobTask& task) -> base::Result<std::string> {
        order.push_back(task.request());
        EXPECT_EQ(queue_->find(first.id)->phase,
                  order.size() == 1 ? JobPhase::kRunning : JobPhase::kDone);
        EXPECT_TRUE(task.keep(kSecret + "kept", 2));
        return std::string(R"({"n":1})");
    });
    const auto done = ended(second.id);
    EXPECT_EQ(order, (std::vector<std::string>{kSecret, "b"}));
    EXPECT_EQ(done.result, R"({"n":1})");
    EXPECT_EQ(done.done, 3u);
    EXPECT_FALSE(on_disk(kSecret)) << "neither request nor what was kept";
    open();
    EXPECT_EQ(queue_->find(first.id)->result, R"({"n":1})") << "after a restart, too";
    EXPECT_EQ(queue_->list(1).at(0).id, second.id);
    EXPECT_EQ(queue_->list(9).size(), 2u);
}

TEST_F(Queue, WhatFailsSaysWhyAndKeepsNoRequest) {
    open();
    work(kErase, [](JobTask& task) -> base::Result<std::string> {
        if (task.request() == "throw") throw std::runtime_error("no memory");
        return base::Error{base::ErrorCode::kFailedPrecondition, "on_hold", "held"};
    });
    const auto refused = ended(submit(kSecret).id);
    EXPECT_EQ(refused.phase, JobPhase::kFailed);
    EXPECT_EQ(refused.error->reason, "on_hold");
    EXPECT_TRUE(ended(submit("throw").id).error->is(Reason::kJobThrew));
    EXPECT_FALSE(on_disk(kSecret));
    open();
    EXPECT_EQ(queue_->find(refused.id)->error, refused.error);
    EXPECT_TRUE(queue_->check());
}

TEST_F(Queue, AKindDoesNotWaitForAnotherOne) {
    open();
    std::promise<void> free;
    work(kOther, [&](JobTask&) -> base::Result<std::string> {
        free.get_future().wait();
        return std::string("{}");
    });
    work(kErase, echo);
    const auto slow = submit("slow", kOther);
    EXPECT_EQ(ended(submit("quick").id).result, "done: quick");
    EXPECT_FALSE(queue_->find(slow.id)->ended());
    free.set_value();
    ended(slow.id);
}

TEST_F(Queue, TheSameRequestIsTheSameJobUntilItHasEnded) {
    open();
    const auto job = submit("a");
    EXPECT_EQ(submit("a").id, job.id);
    EXPECT_NE(submit("a", kOther).id, job.id);
    EXPECT_NE(submit("b").id, job.id);
    open();
    EXPECT_EQ(submit("a").id, job.id) << "after a restart, too";
    work(kErase, echo);
    ended(job.id);
    EXPECT_NE(submit("a").id, job.id);
}

TEST_F(Queue, AProcessThatIsKilledLeavesAJobThatGoesOnUnderItsId) {
    open();
    const auto job = submit("a"), later = submit("b");
    const auto copy = base_ / "copy";
    std::atomic<bool> copied = false, hold = true;
    work(kErase, [&](JobTask& task) -> base::Result<std::string> {
        EXPECT_TRUE(task.first_time());
        EXPECT_TRUE(task.rewrite("the same, by other words"));
        EXPECT_TRUE(task.keep("half", 1));
        fs::copy(options_.folder, copy);  // as a process that dies here leaves it
        copied = true;
        while (hold && !task.stopping()) std::this_thread::yield();
        return std::string("of the process that was killed");
    });
    ASSERT_TRUE(soon([&] { return copied.load(); }));
    hold = false;
    end_process();
    options_.folder = copy;
    ASSERT_TRUE(base::write_file_atomically(file(job.id) += ".tmp.77", kSecret));
    open();
    EXPECT_FALSE(on_disk(kSecret)) << "what a write that was cut off left";
    EXPECT_EQ(queue_->find(job.id)->phase, JobPhase::kWaiting);
    EXPECT_EQ(queue_->find(job.id)->done, 1u);
    std::vector<std::string> order;
    work(kErase, [&](JobTask& task) -> base::Result<std::string> {
        order.push_back(task.request());
        EXPECT_EQ(task.first_time(), task.request() == "b");
        return "from " + task.kept();
    });
    EXPECT_EQ(ended(job.id).result, "from half");
    EXPECT_EQ(queue_->find(job.id)->begun, 2u);
    ended(later.id);
    EXPECT_EQ(order, (std::vector<std::string>{"the same, by other words", "b"}));
}

TEST_F(Queue, AFailureWhileTheProcessEndsIsNoEndOfTheJob) {
    open();
    std::atomic<bool> begun = false;
    work(kErase, [&](JobTask& task) -> base::Result<std::string> {
        begun = true;
        while (!task.stopping()) std::this_thread::yield();
        return base::Error{base::ErrorCode::kUnavailable, "stopping", "stopping"};
    });
    const auto job = submit("a");
    ASSERT_TRUE(soon([&] { return begun.load(); }));
    const auto waiting =
        std::async(std::launch::async, [&] { return queue_->wait(job.id, kLong); });
    queue_->begin_stop();
    waiting.wait();  // the wait ends at once
    open();
    EXPECT_EQ(queue_->find(job.id)->phase, JobPhase::kWaiting);
    work(kErase, echo);
    EXPECT_EQ(ended(job.id).result, "done: a");
}

TEST_F(Queue, MoreThanMayWaitAreRefused) {
    options_.most_waiting = 2;
    options_.most_waiting_bytes = 10;
    open();
    const auto job = submit(std::string(20, 'x'));  // alone it may have more
    const auto long_one = queue_->submit(kErase, "y", 1);
    ASSERT_FALSE(long_one);
    EXPECT_TRUE(long_one.error().is(Reason::kTooManyJobs));
    options_.most_waiting_bytes = 100;
    open();
    submit("b");
    EXPECT_FALSE(queue_->submit(kOther, "c", 1)) << "two wait";
    EXPECT_EQ(submit("b").kind, kErase) << "one of those that wait";
    EXPECT_EQ(read_jobs(options_.folder)->records.size(), 2u) << "nothing of those refused";
    const auto text = metrics_->prometheus_text();
    EXPECT_NE(text.find("rampart_request_jobs_refused_total{kind=\"other\"} 1\n"),
              std::string::npos)
        << text;
    work(kErase, echo);
    ended(job.id);
    EXPECT_TRUE(soon([&] { return queue_->submit(kOther, "c", 1).has_value(); }));
}

TEST_F(Queue, WhatHasEndedIsForgottenByNumberByBytesAndByAge) {
    options_.most_kept = 3;
    options_.most_kept_bytes = 100;
    options_.keep = Duration::seconds(10);
    open();
    work(kErase, [](JobTask& task) -> base::Result<std::string> {
        return std::string(task.request() == "large" ? 200 : 20, 'x');
    });
    std::vector<std::string> ids;
    for (const char* request : {"a", "b", "c", "d"}) ids.push_back(ended(submit(request).id).id);
    EXPECT_TRUE(soon([&] { return !fs::exists(file(ids[0])); }));
    EXPECT_TRUE(queue_->find(ids[0]).error().is(Reason::kUnknownJob));
    EXPECT_TRUE(queue_->find(ids[1]));
    const auto large = ended(submit("large").id);
    EXPECT_TRUE(soon([&] { return !queue_->find(ids[3]); })) << "they are too large together";
    EXPECT_EQ(queue_->find(large.id)->result.size(), 200u) << "the latest stays";
    clock_.advance_to(clock_.now() + Duration::seconds(11));
    EXPECT_TRUE(soon([&] { return !queue_->find(large.id); }));
    EXPECT_TRUE(soon([&] { return fs::is_empty(options_.folder); }));
}

TEST_F(Queue, AFileThatCannotBeReadIsAFailedJobThatIsNamedAndTheOthersGoOn) {
    open();
    const auto bad = submit("a"), good = submit("b");
    end_process();
    auto bytes = base::read_file(file(bad.id), 1 << 20).value();
    bytes[bytes.size() / 2] ^= 1;
    ASSERT_TRUE(base::write_file_atomically(file(bad.id), bytes));
    JobRecord unknown;
    unknown.kind = "of a later release";
    ASSERT_TRUE(base::write_file_atomically(file("ff"), encode_job(unknown)));
    open();
    std::atomic<int> runs = 0;
    work(kErase, [&](JobTask&) -> base::Result<std::string> {
        ++runs;
        return std::string("{}");
    });
    ended(good.id);
    EXPECT_EQ(runs, 1);
    const auto found = queue_->find(bad.id).value();
    EXPECT_EQ(found.phase, JobPhase::kFailed);
    EXPECT_TRUE(found.error->is(Reason::kBadJobRecord));
    EXPECT_NE(found.error->message.find(bad.id), std::string::npos);
    EXPECT_TRUE(queue_->find("ff")->error->is(Reason::kBadJobRecord));
    EXPECT_TRUE(queue_->check().error().is(Reason::kBadJobRecord));
    EXPECT_EQ(base::read_file(file(bad.id), 1 << 20).value(), bytes) << "it stays as it is";
    EXPECT_NE(metrics_->prometheus_text().find("rampart_request_jobs_unreadable 2\n"),
              std::string::npos);
    end_process();
    fs::remove(file(bad.id));
    fs::remove(file("ff"));
    open();
    EXPECT_TRUE(queue_->check());
}

TEST_F(Queue, WhatCannotBeWrittenIsNotAcceptedAndNotDoneWithoutARecord) {
    open();
    fs::remove_all(options_.folder);
    EXPECT_FALSE(queue_->submit(kErase, "a", 1));
    EXPECT_TRUE(queue_->list(9).empty());
    fs::create_directories(options_.folder);
    const auto job = submit("b");
    std::atomic<int> runs = 0;
    std::atomic<bool> broken = true;
    work(kErase, [&](JobTask&) -> base::Result<std::string> {
        if (broken) fs::remove_all(options_.folder);  // its end cannot be written
        ++runs;
        return std::string("{}");
    });
    ASSERT_TRUE(soon([&] { return jobs_->states()[0].failures > 0; }));
    EXPECT_FALSE(queue_->find(job.id)->ended());
    broken = false;
    fs::create_directories(options_.folder);
    EXPECT_EQ(ended(job.id).phase, JobPhase::kDone);
    EXPECT_EQ(runs, 2);
}

TEST_F(Queue, AWaitEndsWithItsTimeAndOnlySomeMayWait) {
    options_.most_callers = 1;
    open();
    const auto job = submit("a");
    EXPECT_EQ(queue_->wait(job.id, Duration::micros(1))->phase, JobPhase::kWaiting);
    EXPECT_TRUE(queue_->wait("none", kLong).error().is(Reason::kUnknownJob));
    auto first = std::async(std::launch::async, [&] {
        while (true)  // until it is the one that may wait
            if (const auto one = queue_->wait(job.id, kLong); one->ended()) return *one;
    });
    // a further one returns at once, as soon as the first one waits
    EXPECT_TRUE(soon([&] {
        const auto from = std::chrono::steady_clock::now();
        (void)queue_->wait(job.id, Duration::micros(200'000));
        return std::chrono::steady_clock::now() - from < std::chrono::milliseconds(100);
    }));
    work(kErase, echo);
    EXPECT_TRUE(first.get().ended());
}

TEST_F(Queue, MetricsAndSummarySayWhatWaitsRunsAndFailed) {
    open();
    std::promise<void> begun, free;
    submit("a");
    submit("b");
    clock_.advance_to(clock_.now() + Duration::seconds(5));
    auto text = metrics_->prometheus_text();
    EXPECT_NE(text.find("rampart_request_jobs_waiting{kind=\"erase\"} 2\n"), std::string::npos);
    EXPECT_NE(text.find("rampart_request_jobs_oldest_seconds{kind=\"erase\"} 5\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("rampart_request_jobs_oldest_seconds{kind=\"other\"} 0\n"),
              std::string::npos);
    std::atomic<int> runs = 0;
    work(kErase, [&](JobTask&) -> base::Result<std::string> {
        if (++runs > 1) return std::string("{}");
        begun.set_value();
        free.get_future().wait();
        return base::Error{base::ErrorCode::kUnavailable, "x", "x"};
    });
    begun.get_future().wait();
    EXPECT_EQ(queue_->summary().at(kErase).running, 1u);
    EXPECT_EQ(queue_->summary().at(kErase).waiting, 1u);
    free.set_value();
    EXPECT_TRUE(soon([&] {
        text = metrics_->prometheus_text();
        return text.find("rampart_request_jobs_failed_total{kind=\"erase\"} 1\n") !=
                   std::string::npos &&
               text.find("rampart_request_jobs_done_total{kind=\"erase\"} 1\n") !=
                   std::string::npos;
    })) << text;
    EXPECT_EQ(queue_->summary().at(kErase).failed, 1u);
}

}  // namespace
}  // namespace rampart::runtime
