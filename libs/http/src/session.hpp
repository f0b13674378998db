#pragma once

#include <array>
#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connection_shares.hpp"
#include "group_queue.hpp"
#include "head_watch.hpp"
#include "messages.hpp"
#include "rampart/http/request_id.hpp"
#include "rampart/http/server.hpp"
#include "rate_limit.hpp"
#include "sessions.hpp"

/// One connection of a server, from its first byte to its end.
namespace rampart::http {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

inline std::chrono::microseconds chrono_of(base::Duration duration) {
    return std::chrono::microseconds(duration.micros());
}

class Session;

using Gate = LaneGate<Session>;
using Groups = GroupQueue<Session>;
using Sessions = OpenSessions<Session>;

/// State shared by the sessions of one server.
struct Shared {
    using Planner = std::function<Plan(Request&)>;

    ServerOptions options;
    std::deque<Planner> planners;  // requests under way may have the plan of an earlier one
    std::atomic<const Planner*> planner{nullptr};
    std::shared_ptr<Traffic> traffic;
    RequestIds ids;
    std::array<Gate, 3> gates;   // for the lanes kWork, kBulk and kAdministrative
    Groups groups;               // for kGroup
    asio::any_io_executor pool;  // the threads of the lanes
    RateLimit by_principal, by_address;
    ConnectionShares shares;
    std::atomic<size_t> body_bytes{0};  // those of requests under way
    std::atomic<bool> stopping{false};
};

/// One connection. All its steps but the handler run on its strand, one at a time: (handshake) ->
/// header -> (100 continue) -> body -> (gate of the lane, or group) -> handler -> response ->
/// header …, or response -> drain -> close, or the bytes of a stream -> close. A spare connection
/// is answered once, and inline only. Its stream is that of a derived class, which does each step
/// of reading and writing in one call.
class Session : public std::enable_shared_from_this<Session> {
  public:
    virtual ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Begins, on the strand.
    void serve();
    /// Runs the handler on a thread of the lane; called when the turn in the lane has come.
    void run();
    bool same_group(const Session& other) const;
    /// Answers groups until none waits. Not on a strand: it waits for the disk.
    static void answer_groups(Shared& shared);
    /// Closes at once if no request is running; otherwise after the response.
    void stop();

    // Closing to make room for another connection; from any thread.
    /// Returns whether it has waited for a request long enough.
    bool may_close() const;
    /// Returns whether this one is to go first: unknown clients do, then who has waited longer.
    bool closes_before(const Session& other) const;
    /// Closes as stop() does.
    void make_room();

    // What the derived class calls when a step is done.
    /// `client`: the name in the certificate that it has shown.
    void on_open(error_code ec, HandshakeFailure why, std::string client);
    void on_bytes(error_code ec, size_t bytes);
    void on_continue_sent(error_code ec);
    void on_sent(error_code ec);
    void on_bytes_sent(error_code ec);
    void on_ended();
    void on_drained(error_code ec, size_t bytes);

  protected:
    Session(Shared& shared, Sessions& sessions, bool spare, std::string address);

    /// Steps; each ends with the call of the function of its name above.
    virtual void open() = 0;
    virtual void read_some(size_t most) = 0;
    virtual void send_continue() = 0;
    virtual void send_response() = 0;
    virtual void send_bytes() = 0;   // out_
    virtual void end_sending() = 0;  // nothing more is sent
    virtual void drain_some() = 0;   // reads what will be discarded
    /// Returns the socket with its time limit.
    virtual beast::tcp_stream& socket() = 0;

    beast::flat_buffer buffer_;
    std::optional<bhttp::request_parser<bhttp::string_body>> parser_;
    bhttp::response<bhttp::empty_body> continue_;
    bhttp::response<bhttp::string_body> response_;
    std::string out_;  // bytes of a stream that are being sent

  private:
    /// Refuses the extensions of a chunk that hold control characters: within quotes the parser
    /// takes any byte, also the end of a line, where other readers would see the chunk begin.
    struct CheckExtensions {
        void operator()(uint64_t size, beast::string_view extensions, error_code& ec) const;
    };

    void read_header();
    void parse_header();
    void read_body();
    void parse_body();
    void on_header();
    std::optional<Response> refused_by_head();
    std::optional<Response> over_the_rate();
    bool count_for_principal();
    void count_for_none();
    bool reserve_body();
    void release_body();
    void waits();
    void refuse(Response response);
    Response too_large() const;
    Response head_too_large() const;
    void on_bad_request(error_code ec);
    void answer();
    void enter_group();
    static void answer_group(Shared& shared, const std::vector<std::shared_ptr<Session>>& group);
    void respond(Response response);
    void run_in_lane();
    Gate& gate() { return shared_.gates[static_cast<size_t>(plan_.lane)]; }
    void write(Response response, bool keep_alive);
    void note(const Response& response);
    void count();
    void drain();
    void begin_stream(Response response);
    void send_out();
    void send_more();
    void on_bytes_of_listener(error_code ec, size_t bytes);
    void look_again_later();
    void look_again();
    void end_stream();
    void cut_stream();
    void close() { socket().close(); }

    Shared& shared_;
    Sessions& sessions_;
    const bool spare_;
    const std::string address_;
    HeadWatch seen_;                       // sees the request's head
    CheckExtensions check_extensions_;     // looks at each chunk
    std::atomic<int64_t> waits_since_{0};  // steady clock, microseconds; 0: at work
    std::atomic<bool> known_{false};       // a principal has called on it
    std::atomic<bool> leaving_{false};     // makes room
    size_t reserved_ = 0;                  // share in Shared::body_bytes
    Request request_;
    Plan plan_;
    std::string client_;
    std::string counted_for_;  // principal whose connection this is in Shared::shares
    std::chrono::steady_clock::time_point begun_{};  // the request's first byte
    size_t body_bytes_ = 0;
    Answered answered_;
    size_t drained_ = 0;
    bool keep_alive_ = false, keep_open_ = false;  // as asked; after this response
    bool head_ = false;
    bool in_body_ = false;
    bool idle_ = true;  // waiting for a request that has not begun
    // a response that goes on; the last of the connection
    std::shared_ptr<ResponseStream> stream_;
    std::optional<asio::steady_timer> look_again_;
    bool chunked_ = false, sending_ = false;
    bool last_sent_ = false;  // nothing is sent from here on
    bool ends_late_ = false;  // it has ended, and the client had time to take what waits
};

}  // namespace rampart::http
