// Sends applications to an HTTP server over many connections: each the next when the last was
// answered, or at a steady rate whatever the answers take. Prints one JSON object.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "rampart/base/random.hpp"

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Steady = std::chrono::steady_clock;

struct Options {
    std::string host = "127.0.0.1", port, token, path = "/v1/decisions", bodies, prefix = "p";
    size_t connections = 64;
    double seconds = 10, warm_up = 1, rate = 0;
    uint64_t seed = 1;
};

/// Makes requests from templates: '@' stands for the request's number.
class Requests {
  public:
    explicit Requests(const Options& options) : options_(options) {
        std::ifstream lines(options.bodies);
        for (std::string line; std::getline(lines, line);) templates_.push_back(line);
    }
    bool empty() const { return templates_.empty(); }
    std::string next() {
        const std::string& from = templates_[number_ % templates_.size()];
        const std::string id = fmt::format("{}{}", options_.prefix, number_++);
        std::string body;
        body.reserve(from.size() + 2 * id.size());
        for (const char c : from) {
            if (c == '@') {
                body += id;
            } else {
                body += c;
            }
        }
        return fmt::format(
            "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: "
            "application/json\r\nContent-Length: {}\r\n\r\n{}",
            options_.path, options_.host, options_.token, body.size(), body);
    }

  private:
    const Options& options_;
    std::vector<std::string> templates_;
    size_t number_ = 0;
};

/// The times of the answers.
class Record {
  public:
    Record(Steady::time_point from, Steady::time_point to) : from_(from), to_(to), last_(from) {}
    void answered(Steady::time_point due, bool ok) {
        const auto now = Steady::now();
        if (now < from_ || now > to_) return;
        longest_gap_ = std::max(longest_gap_, now - last_);
        last_ = now;
        failed_ += !ok;
        times_.push_back(std::chrono::duration<double, std::milli>(now - due).count());
    }
    void print() {
        std::sort(times_.begin(), times_.end());
        const auto at = [&](double share) {
            if (times_.empty()) return 0.0;
            const auto i = static_cast<size_t>(share * static_cast<double>(times_.size()));
            return times_[std::min(i, times_.size() - 1)];
        };
        const double seconds = std::chrono::duration<double>(to_ - from_).count();
        fmt::print(
            "{{\"answers\": {}, \"failed\": {}, \"seconds\": {}, \"rate\": {}, \"p50_ms\": {}, "
            "\"p99_ms\": {}, \"max_ms\": {}, \"longest_gap_ms\": {}}}\n",
            times_.size(), failed_, seconds, static_cast<double>(times_.size()) / seconds, at(0.5),
            at(0.99), at(1),
            std::chrono::duration<double, std::milli>(std::max(longest_gap_, to_ - last_)).count());
    }

  private:
    const Steady::time_point from_, to_;
    Steady::time_point last_;
    Steady::duration longest_gap_{};
    size_t failed_ = 0;
    std::vector<double> times_;
};

class Connection {
  public:
    using Done = std::function<void(Connection&)>;
    Connection(asio::io_context& context, const tcp::endpoint& to, Record& record, Done done)
        : socket_(context), record_(record), done_(std::move(done)) {
        socket_.connect(to);
        socket_.set_option(tcp::no_delay(true));
    }

    void send(std::string request, Steady::time_point due) {
        request_ = std::move(request);
        due_ = due;
        asio::async_write(socket_, asio::buffer(request_), [this](auto failure, size_t) {
            if (failure) return lost();
            got_.clear();
            read();
        });
    }

  private:
    void read() {
        socket_.async_read_some(asio::buffer(piece_), [this](auto failure, size_t bytes) {
            if (failure) return lost();
            got_.append(piece_.data(), bytes);
            if (!whole()) return read();
            record_.answered(due_, got_.starts_with("HTTP/1.1 200 "));
            done_(*this);
        });
    }
    bool whole() const {
        const size_t end = got_.find("\r\n\r\n");
        if (end == std::string::npos) return false;
        constexpr std::string_view kLength = "Content-Length: ";
        const size_t at = got_.find(kLength);
        if (at == std::string::npos || at > end) return true;
        return got_.size() >= end + 4 + std::stoul(got_.substr(at + kLength.size(), 12));
    }
    void lost() { record_.answered(due_, false); }

    tcp::socket socket_;
    Record& record_;
    const Done done_;
    std::string request_, got_;
    std::array<char, 8192> piece_;
    Steady::time_point due_;
};

/// Gives the connections their requests until the time is over.
class Load {
  public:
    Load(const Options& options, Requests& requests)
        : options_(options),
          requests_(requests),
          begin_(Steady::now()),
          end_(begin_ + span(options.warm_up + options.seconds)),
          record_(begin_ + span(options.warm_up), end_),
          random_(options.seed),
          timer_(context_) {}

    void run() {
        const tcp::endpoint to(asio::ip::make_address(options_.host),
                               static_cast<uint16_t>(std::stoi(options_.port)));
        for (size_t i = 0; i < options_.connections; ++i) {
            connections_.push_back(std::make_unique<Connection>(
                context_, to, record_, [this](Connection& one) { next(one); }));
            next(*connections_.back());
        }
        due_ = Steady::now();
        if (options_.rate > 0) arrive();
        context_.run_until(end_ + std::chrono::seconds(options_.rate > 0 ? 1 : 0));
        record_.print();
    }

  private:
    static Steady::duration span(double seconds) {
        return std::chrono::duration_cast<Steady::duration>(std::chrono::duration<double>(seconds));
    }
    void next(Connection& one) {
        if (Steady::now() > end_) return;
        if (options_.rate <= 0) return one.send(requests_.next(), Steady::now());
        if (late_.empty()) return idle_.push_back(&one);
        const auto due = late_.front();
        late_.pop_front();
        one.send(requests_.next(), due);
    }
    /// Lets all come whose time it is; the times between are exponential.
    void arrive() {
        for (const auto now = Steady::now(); due_ <= now;
             due_ += span(-std::log(1 - random_.uniform()) / options_.rate)) {
            late_.push_back(due_);
            if (idle_.empty()) continue;
            Connection* one = idle_.front();
            idle_.pop_front();
            next(*one);
        }
        if (Steady::now() > end_) return;
        timer_.expires_at(due_);
        timer_.async_wait([this](auto failure) {
            if (!failure) arrive();
        });
    }

    const Options& options_;
    Requests& requests_;
    asio::io_context context_{1};
    const Steady::time_point begin_, end_;
    Record record_;
    rampart::base::Random random_;
    asio::steady_timer timer_;
    Steady::time_point due_;
    std::vector<std::unique_ptr<Connection>> connections_;
    std::deque<Connection*> idle_;  // each has its turn: the service closes what is idle for long
    std::deque<Steady::time_point> late_;
};

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("Sends applications to an HTTP server and prints how it answered.");
    std::string endpoint;
    app.add_option("--endpoint", endpoint, "host:port")->required();
    app.add_option("--bodies", options.bodies, "a file with a body a line")->required();
    app.add_option("--token", options.token);
    app.add_option("--path", options.path);
    app.add_option("--prefix", options.prefix, "of the numbers in place of '@'");
    app.add_option("--connections", options.connections)->check(CLI::Range(1, 1000));
    app.add_option("--seconds", options.seconds);
    app.add_option("--warm-up", options.warm_up);
    app.add_option("--rate", options.rate, "requests a second; 0: as fast as they are answered");
    app.add_option("--seed", options.seed, "of the times between");
    CLI11_PARSE(app, argc, argv);
    const size_t colon = endpoint.rfind(':');
    if (colon == std::string::npos) {
        std::fprintf(stderr, "--endpoint %s: write host:port\n", endpoint.c_str());
        return 1;
    }
    options.host = endpoint.substr(0, colon);
    options.port = endpoint.substr(colon + 1);
    Requests requests(options);
    if (requests.empty()) {
        std::fprintf(stderr, "--bodies %s: no line can be read\n", options.bodies.c_str());
        return 1;
    }
    try {
        Load(options, requests).run();
    } catch (const std::exception& e) {
        std::fprintf(stderr, "peer_service_load: %s\n", e.what());
        return 1;
    }
    return 0;
}
