#pragma once

#include <boost/json/fwd.hpp>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fault/chaos/load.hpp"
#include "fault/chaos/node.hpp"
#include "fault/chaos/oracle.hpp"
#include "fault/chaos/service.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/streaming_kafka/kafka_reader.hpp"
#include "support/kafka_broker.hpp"
#include "support/kafka_mock.hpp"

namespace rampart::chaos {

/// A broker, a stream of applicants and a folder, for the runs of one program. Main thread only.
class Arena {
  public:
    enum class Kind {
        kBroker,  // a real one
        kMock,  // librdkafka's, in this process: for errors that a real one does not make on demand
    };
    /// `brokers`: of the mock; a real one is alone.
    Arena(std::filesystem::path folder, uint64_t seed, Kind kind, int brokers = 1);
    ~Arena();

    std::string bootstrap() const { return broker_ ? broker_->bootstrap() : mock_->bootstrap(); }
    test_support::KafkaBroker& broker() { return *broker_; }
    support::KafkaMock* mock() { return mock_.get(); }  // nullptr: a real broker
    void create(const std::vector<streaming::TopicSpec>& specs);
    const loan_stream::Stream& stream() const { return stream_; }
    const std::filesystem::path& folder() const { return folder_; }
    uint64_t seed() const { return seed_; }
    /// The first event time of every run.
    base::TimePoint start() const { return start_; }
    /// Prints progress messages, with the contents of small disks.
    void keep_folder() { keep_ = true; }
    /// Returns a new folder on its own small file system, mounted once; nullopt: it cannot be
    /// mounted here.
    std::optional<std::filesystem::path> small_disk(size_t mebibytes);

  private:
    const std::filesystem::path folder_;
    const uint64_t seed_;
    base::TimePoint start_;
    loan_stream::Stream stream_;
    std::unique_ptr<test_support::KafkaBroker> broker_;
    std::unique_ptr<support::KafkaMock> mock_;
    std::vector<std::filesystem::path> mounted_;
    bool keep_ = false;
};

/// The final state of all partitions, and the counts.
struct FinalState {
    std::map<int32_t, std::string> hashes;  // hashes of the joined state, by partition
    joiner::Counts counts;                  // over all nodes that own partitions
};

struct RunOptions {
    int64_t lease_ms = 3000;
    bool on_small_disk = false;  // keeps the stores on a small disk, if one is available
    /// As in production, with the nodes "learner" and "reader" beside (Group::service); this many
    /// old customers. 0: by event time.
    size_t old_customers = 0;
};

/// One deployment with its own topics: nodes, load, and the checks of all of them. Violations go to
/// the oracle. Main thread only.
class Run {
  public:
    /// `nodes`: all nodes of the run, by name.
    Run(Arena& arena, const std::string& name, const std::vector<std::string>& nodes,
        const RunOptions& options, LoadOptions load);

    Arena& arena() { return arena_; }
    Node& node(const std::string& name) { return *nodes_.at(name); }
    Oracle& oracle() { return oracle_; }
    Load& load() { return *load_; }
    DecisionLog& log() { return log_; }
    const std::filesystem::path& small_disk() const { return small_disk_; }  // empty: none
    int64_t lease_ms() const { return group_.lease_ms; }
    int32_t partitions() const { return group_.partitions; }
    const wire::Topics& topics() const { return topics_; }
    Service* service() { return service_.get(); }  // nullptr: by event time

    /// From now on these nodes own all partitions, as they are configured.
    void set_owners(const std::vector<Node*>& nodes);
    const std::vector<Node*>& owners() const { return owners_; }

    /// Sends applications beside the stream to `node` alone, one by one; true: it acknowledged
    /// some. decide_probes() decides the others.
    bool probe(const Node& node, size_t count);
    void decide_probes();
    const std::vector<domain::Application>& probes() const { return probes_; }
    void add_probes(std::vector<domain::Application> probes);

    /// Continues the load, and erasures.
    void resume();
    /// Has old customers decided, by `nodes` with the shares that they have got, more than a month
    /// ago; then starts the nodes as owners today.
    void begin_service(const std::vector<Node*>& nodes);
    /// Instead of mature() and finish(), for a service: stops the load; has the index of every
    /// owner and the joined states made anew from the log, asks for all decisions again, ends the
    /// nodes, and checks the stores.
    void finish_service();
    /// Whether nodes may end by themselves until this is said again, as they do where they cannot
    /// write. They are then started again at any wait, as a supervisor does. A crash is a
    /// violation.
    void may_end(bool may) { may_end_ = may; }
    void tend();
    int ended_by_themselves() const { return ended_by_themselves_; }
    /// Checks that the load makes progress; otherwise there is a violation that names `after`.
    void expect_progress(const std::string& after);
    /// Stops the load and compares all: the log with the acknowledged decisions, the states of the
    /// nodes with that of an undisturbed reader, answers with answers. Then continues the load if
    /// it ran before.
    void check(const std::string& after);
    /// Moves time until all decisions have matured. `between` is called after each step.
    void mature(const std::function<void()>& between = {});
    /// After mature(): ends the nodes in order and checks their stores.
    FinalState finish();

  private:
    void drain(const std::string& after);
    void tick(Node& node, base::TimePoint now, const std::string& after);
    void read_reference(const std::string& after);
    void compare_states(const std::string& after);
    void compare_partition(const std::string& where, const joiner::PartitionState& right,
                           const boost::json::object& found);
    void ask_again(const std::string& after, size_t most);
    void set_walls(const std::vector<Node*>& nodes, base::Duration ahead);
    void check_store(const Node& node);
    void look_into(Node& node, FinalState& state);
    joiner::JoinerOptions joiner_options(const std::vector<int32_t>& held) const;

    Arena& arena_;
    const std::string name_;
    const wire::Topics topics_;
    Group group_;
    std::filesystem::path small_disk_;
    std::map<std::string, std::unique_ptr<Node>> nodes_;
    std::vector<Node*> owners_;
    Routes routes_;
    Oracle oracle_;
    Asker asker_;
    DecisionLog log_;
    domain::Product product_;
    std::unique_ptr<streaming_kafka::KafkaReader> reader_;
    std::unique_ptr<joiner::OutcomeJoiner> reference_;  // reads the same log, and gets no fault
    base::TimePoint clock_;
    std::vector<domain::Application> probes_;
    std::unique_ptr<Service> service_;
    std::unique_ptr<Load> load_;
    uint64_t checks_ = 0;
    bool may_end_ = false;
    int ended_by_themselves_ = 0;
};

}  // namespace rampart::chaos
