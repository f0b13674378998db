#include <netinet/in.h>
#include <sanitizer/allocator_interface.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <thread>

#include "fuzz.hpp"
#include "http_reading.hpp"
#include "rampart/base/log.hpp"
#include "rampart/http/response.hpp"
#include "rampart/http/server.hpp"
#include "rampart/wire/json_value.hpp"

/// All bytes that any client can send on a connection, to a real server on the loopback. What its
/// handlers see and what it answers is compared with the reader of http_reading.hpp.
namespace rampart::fuzz {
namespace {

/// How many bytes the reads of a socket give.
struct Pieces {
    std::vector<size_t> first;  // at least one byte each
    size_t others = 0;          // 0: as many as have come
};

/// Cuts what the server reads, as an input decides: all splits of a message are tried without
/// waiting for the network. Thread safe.
class Cuts {
  public:
    void begin(Pieces pieces) {
        const std::lock_guard lock(mutex_);
        pieces_ = std::move(pieces);
        at_ = 0;
    }
    size_t next(size_t most) {
        const std::lock_guard lock(mutex_);
        if (at_ < pieces_.first.size()) return std::min(most, pieces_.first[at_]);
        return pieces_.others == 0 ? most : std::min(most, pieces_.others);
    }
    void taken(size_t bytes) {
        const std::lock_guard lock(mutex_);
        if (at_ >= pieces_.first.size()) return;
        pieces_.first[at_] -= bytes;
        if (pieces_.first[at_] == 0) ++at_;
    }

  private:
    std::mutex mutex_;
    Pieces pieces_;
    size_t at_ = 0;
};

Cuts& cuts() {
    static auto* const made = new Cuts;  // the server's threads outlive what ends with the program
    return *made;
}

}  // namespace
}  // namespace rampart::fuzz

// The linker puts these in the place of the server's calls (--wrap). This program reads by read().
extern "C" {
ssize_t __real_recv(int socket, void* to, size_t size, int flags);
ssize_t __real_recvmsg(int socket, msghdr* message, int flags);

ssize_t __wrap_recv(int socket, void* to, size_t size, int flags) {
    auto& cuts = rampart::fuzz::cuts();
    const ssize_t n = __real_recv(socket, to, cuts.next(size), flags);
    if (n > 0) cuts.taken(static_cast<size_t>(n));
    return n;
}

ssize_t __wrap_recvmsg(int socket, msghdr* message, int flags) {
    if (message->msg_iovlen == 0) return __real_recvmsg(socket, message, flags);
    msghdr first = *message;
    iovec part = message->msg_iov[0];
    auto& cuts = rampart::fuzz::cuts();
    part.iov_len = cuts.next(part.iov_len);
    first.msg_iov = &part;
    first.msg_iovlen = 1;
    const ssize_t n = __real_recvmsg(socket, &first, flags);
    if (n > 0) cuts.taken(static_cast<size_t>(n));
    return n;
}
}

namespace rampart::fuzz {
namespace {

constexpr const char* kToken = "t";
// Longest wait for the server; an input takes a millisecond.
constexpr auto kPatience = std::chrono::seconds(8);
constexpr size_t kLivesEvery = 16;       // inputs
constexpr size_t kHeldSpare = 64 << 10;  // bytes that may stay with the server after an input
constexpr size_t kSpare = 1 << 20;       // bytes allocated for short requests that are many

struct Route {
    std::string_view method, path;
    http::Access access;
    bool group = false;
    http::Lane lane = http::Lane::kWork;
};
// The token's principal may decide, and may not read.
constexpr Route kRoutes[] = {
    {"GET", "/open", http::kOpen, false, http::Lane::kInline},
    {"POST", "/open", http::kOpen},
    {"GET", "/item/{id}", http::kOpen, false, http::Lane::kBulk},
    {"POST", "/scoped", access::Scope::kDecide},
    {"GET", "/scoped", access::Scope::kDecide, false, http::Lane::kAdministrative},
    {"POST", "/group", access::Scope::kDecide, true},
    {"GET", "/read", access::Scope::kRead},
};

/// Returns all that a handler was given, in words.
std::string echo(const http::Request& request) {
    auto text = fmt::format("{} {}\n", request.method, request.path);
    for (const auto& [name, value] : request.query) text += fmt::format("?{}={}\n", name, value);
    for (const auto& [name, value] : request.path_values)
        text += fmt::format("{{{}}}={}\n", name, value);
    // the server keeps headers of one name together
    auto headers = request.headers;
    std::stable_sort(headers.begin(), headers.end(),
                     [](const auto& a, const auto& b) { return lower(a.name) < lower(b.name); });
    for (const auto& [name, value] : headers) text += fmt::format("{}: {}\n", name, value);
    return text + "\n" + request.body;
}

struct Seen {
    size_t route = 0;
    std::string text, principal;
};

/// The server, and what its handlers saw of one input.
class Service {
  public:
    Service() {
        base::set_log_level(base::LogLevel::kOff);
        for (size_t i = 0; i < std::size(kRoutes); ++i) add(i);
        http::ServerOptions options;
        options.threads = options.bulk_threads = options.administrative_threads = 1;
        options.max_header_bytes = kMaxHead;
        options.max_body_bytes = kMaxBody;
        server_ = http::Server::start(options, router_).value();
    }
    uint16_t port() const { return server_->port(); }
    std::vector<Seen> take_seen() {
        const std::lock_guard lock(mutex_);
        return std::exchange(seen_, {});
    }
    /// Waits until the server has let go of each connection.
    void wait_for_none() const {
        const auto limit = std::chrono::steady_clock::now() + kPatience;
        while (router_.traffic()->connections().open > 0) {
            FUZZ_LAW(std::chrono::steady_clock::now() < limit, "a connection does not end");
            std::this_thread::yield();
        }
    }

  private:
    void add(size_t i) {
        const auto& route = kRoutes[i];
        const std::string method(route.method), path(route.path);
        if (route.group)
            return router_.add_group(method, path, route.access,
                                     [this, i](std::span<const http::Grouped> group) {
                                         for (const auto& one : group)
                                             one.answer(answer(i, one.request));
                                     });
        router_.add(
            method, path, route.access,
            [this, i](const http::Request& request) { return answer(i, request); }, route.lane);
    }
    http::Response answer(size_t route, const http::Request& request) {
        const auto given = request.header("Authorization");
        FUZZ_LAW(!kRoutes[route].access || (kRoutes[route].access == access::Scope::kDecide &&
                                            given == "Bearer t" && request.principal == "anna"),
                 "{} let in with '{}'", kRoutes[route].path, given);
        auto text = echo(request);
        const std::lock_guard lock(mutex_);
        seen_.push_back({route, text, request.principal});
        return {200, std::move(text), "text/plain", {}};
    }

    std::mutex mutex_;
    std::vector<Seen> seen_;
    http::Router router_{access::one_token(kToken, {"anna", {access::Scope::kDecide}})};
    std::unique_ptr<http::Server> server_;
};

Service& service() {
    static auto* const made = new Service;  // as cuts()
    return *made;
}

/// Sends the bytes and no more, and returns all that is answered.
std::string answers_to(std::string_view bytes) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(service().port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{kPatience.count(), 0};
    ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    // the alarm clock of libFuzzer interrupts calls
    const int connected =
        TEMP_FAILURE_RETRY(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
    FUZZ_LAW(connected == 0 || errno == EISCONN, "no connection: errno {}", errno);
    while (!bytes.empty()) {
        const auto n = TEMP_FAILURE_RETRY(::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL));
        FUZZ_LAW(n > 0, "the server reads no more: errno {}", errno);
        bytes.remove_prefix(static_cast<size_t>(n));
    }
    ::shutdown(fd, SHUT_WR);
    std::string all;
    std::array<char, 4096> part;
    while (true) {
        const auto n = TEMP_FAILURE_RETRY(::read(fd, part.data(), part.size()));
        FUZZ_LAW(n >= 0, "no end of the answers: errno {}", errno);
        if (n == 0) break;
        all.append(part.data(), static_cast<size_t>(n));
    }
    ::close(fd);
    return all;
}

/// What a request that is whole must get.
struct Expected {
    int status = 200;
    bool closes = true;
    size_t route = 0;
    std::string text{};  // the body of a 200
};

/// Finds the route, and returns the status where no body is too long.
int status_by_head(http::Request& request, size_t& route) {
    constexpr std::string_view kItem = "/item/";
    std::string_view path = request.path;
    if (path.starts_with(kItem) && path.size() > kItem.size() &&
        path.find('/', kItem.size()) == path.npos) {
        request.path_values["id"] = path.substr(kItem.size());
        path = "/item/{id}";
    }
    int status = 404;
    for (size_t i = 0; i < std::size(kRoutes); ++i) {
        if (kRoutes[i].path != path) continue;
        if (status == 404) status = 405;
        if (kRoutes[i].method != request.method) continue;
        route = i;
        status = 200;
    }
    if (status != 200 || !kRoutes[route].access) return status;
    const auto given = request.header("Authorization");
    if (given != fmt::format("Bearer {}", kToken)) return 401;
    return kRoutes[route].access == access::Scope::kDecide ? 200 : 403;
}

Expected expected(const Message& message) {
    Expected out;
    if (message.length.value_or(0) > kMaxBody) return {413};
    out.closes = !message.current || message.close || message.has_body();
    http::Request request;
    request.method = message.method == "HEAD" ? "GET" : message.method;
    request.headers = message.headers;
    request.body = message.body;
    out.status = read_target(message.target, request) ? status_by_head(request, out.route) : 400;
    if (out.status != 200) return out;
    const bool open = !kRoutes[out.route].access;
    if (message.body.size() > (open ? http::kMaxOpenBody : kMaxBody)) {
        out.status = 413;
        return out;
    }
    out.closes = !message.current || message.close;
    out.text = echo(request);
    return out;
}

/// Checks what a problem document has.
void check_refusal(const Answer& answer, bool to_head) {
    constexpr std::array kDocumented{400, 401, 403, 404, 405, 413, 431};
    FUZZ_LAW(std::count(kDocumented.begin(), kDocumented.end(), answer.status) == 1, "status {}",
             answer.status);
    FUZZ_LAW(answer.header("Content-Type") == "application/problem+json", "{}: {}", answer.status,
             answer.header("Content-Type"));
    FUZZ_LAW(answer.count("Allow") == (answer.status == 405 ? 1u : 0u), "{}: Allow", answer.status);
    FUZZ_LAW(answer.status != 401 || answer.count("WWW-Authenticate") == 1, "401");
    if (!to_head)
        FUZZ_LAW(wire::parse_json(answer.body).has_value(), "{}: {}", answer.status, answer.body);
}

/// Checks the answer, if there is one, to a message that is not whole or may not be answered.
void check_refused(const Message& message, std::string_view& answers) {
    if (answers.empty()) return;
    const auto answer = read_answer(answers, message.head_request);
    check_refusal(answer, message.head_request);
    FUZZ_LAW(answer.closes, "{}: goes on after a message without an end", answer.status);
}

/// Skips a 100 Continue where one was asked for.
void skip_continue(const Message& message, std::string_view& answers) {
    if (!message.expects || !answers.starts_with("HTTP/1.1 100 ")) return;
    read_answer(answers, false);
}

/// Checks the answer to a whole request. `seen`: what handlers saw that was not checked yet.
/// Returns whether the connection goes on.
bool check_answer(const Message& message, std::string_view& answers, std::span<const Seen>& seen) {
    const auto wanted = expected(message);
    FUZZ_LAW(!answers.empty(), "no answer to {} {}", message.method, message.target);
    const auto answer = read_answer(answers, message.head_request);
    if (message.doubtful && answer.status == 400) {
        FUZZ_LAW(answer.closes, "goes on after bad trailers");
        return false;
    }
    FUZZ_LAW(answer.status == wanted.status, "{} {}: {}, not {}: {}", message.method,
             message.target, answer.status, wanted.status, answer.body);
    FUZZ_LAW(answer.closes == wanted.closes, "{} {}: {} and closes: {}", message.method,
             message.target, answer.status, answer.closes);
    if (answer.status != 200) {
        check_refusal(answer, message.head_request);
        return !answer.closes;
    }
    FUZZ_LAW(!seen.empty(), "{} {}: answered by no handler", message.method, message.target);
    FUZZ_LAW(seen.front().route == wanted.route, "{}: the handler of {}", message.target,
             kRoutes[seen.front().route].path);
    FUZZ_LAW(seen.front().text == wanted.text, "a handler saw\n{}\nof\n{}", seen.front().text,
             wanted.text);
    FUZZ_LAW(answer.header("Content-Length") == std::to_string(wanted.text.size()), "{} of {}",
             answer.header("Content-Length"), wanted.text.size());
    FUZZ_LAW(message.head_request || answer.body == wanted.text, "the answer to another: {}",
             answer.body);
    seen = seen.subspan(1);
    return !answer.closes;
}

/// Checks all answers on one connection; returns whether a handler answered.
bool check(std::string_view bytes, std::string_view answers, std::span<const Seen> seen) {
    const size_t handled = seen.size();
    while (!bytes.empty()) {
        Message message;
        const End end = read_request(bytes, message);
        skip_continue(message, answers);
        if (end != End::kWhole) {
            check_refused(message, answers);
            break;
        }
        if (!check_answer(message, answers, seen)) break;
    }
    FUZZ_LAW(answers.empty(), "more answers than requests: {}", answers);
    FUZZ_LAW(seen.empty(), "handlers ran for no request:\n{}", seen.front().text);
    return handled > 0;
}

/// Asks as a good client does.
void check_alive() {
    cuts().begin({});
    const auto answers = answers_to("GET /open HTTP/1.1\r\nHost: a\r\n\r\n");
    FUZZ_LAW(answers.starts_with("HTTP/1.1 200 ") && answers.ends_with("GET /open\nHost: a\n\n"),
             "a good request: {}", answers);
    FUZZ_LAW(service().take_seen().size() == 1, "a good request");
}

/// Waits until no more than this is held: what ended last may not be gone yet.
void check_held(size_t before) {
    const auto limit = std::chrono::steady_clock::now() + kPatience;
    while (true) {
        const size_t held = __sanitizer_get_current_allocated_bytes();
        if (held <= before + kHeldSpare) return;
        FUZZ_LAW(std::chrono::steady_clock::now() < limit, "the server holds {} bytes more",
                 held - before);
        std::this_thread::yield();
    }
}

/// Takes from an input where its bytes are cut: up to 15 pieces, or all of one size.
Pieces take_pieces(Choices& choices) {
    Pieces pieces;
    const size_t choice = choices.byte();
    if (choice >= 0x80) {
        pieces.others = choice - 0x80 + 1;
    } else {
        for (size_t i = 0; i < choice % 16; ++i) pieces.first.push_back(size_t{1} + choices.byte());
    }
    return pieces;
}

bool exchange(Pieces pieces, std::string_view bytes) {
    static size_t inputs = 0;
    if (inputs++ % kLivesEvery == 0) check_alive();
    service().wait_for_none();
    const size_t before = __sanitizer_get_current_allocated_bytes();
    cuts().begin(std::move(pieces));
    const auto answers = answers_to(bytes);
    service().wait_for_none();
    const bool handled = check(bytes, answers, service().take_seen());
    check_held(before + answers.capacity());
    return handled;
}

bool connection(std::string_view input) {
    Choices choices(input);
    auto pieces = take_pieces(choices);
    return exchange(std::move(pieces), choices.rest());
}

// What a fuzzer would have to find out letter by letter.
constexpr std::string_view kFragments[] = {
    "GET /open HTTP/1.1\r\nHost: a\r\n\r\n",
    "POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
    "POST /scoped HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n",
    "POST /group HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n",
    "GET /open HTTP/1.1\r\n",
    "GET /open HTTP/1.0\r\n",
    "HEAD /open HTTP/1.1\r\n",
    "HEAD /scoped HTTP/1.1\r\n",
    "POST /open HTTP/1.1\r\n",
    "POST /open HTTP/1.0\r\n",
    "POST /scoped HTTP/1.1\r\n",
    "POST /group HTTP/1.1\r\n",
    "GET /read HTTP/1.1\r\n",
    "GET /item/x%20y?a=1&b=+&c HTTP/1.1\r\n",
    "GET /item/%2F HTTP/1.1\r\n",
    "DELETE /open HTTP/1.1\r\n",
    "GET /none HTTP/1.1\r\n",
    "GET http://a/open HTTP/1.1\r\n",
    "HEAD /open HTTP/1.2\r\n",
    "Host: a\r\n",
    "Host: [::1]:80\r\n",
    "Host: a b\r\n",
    "Authorization: Bearer t\r\n",
    "Authorization: Bearer x\r\n",
    "Content-Length: 3\r\n",
    "Content-Length: 0\r\n",
    "Content-Length: 4\r\n",
    "Content-Length: 3, 3\r\n",
    "content-length:3\t\r\n",
    "Content-Length : 3\r\n",
    "Content-Length: +3\r\n",
    "Content-Length: 99999\r\n",
    "Transfer-Encoding: chunked\r\n",
    "transfer-encoding:\tCHUNKED \r\n",
    "Transfer-Encoding: gzip, chunked\r\n",
    "Transfer-Encoding: chunked, gzip\r\n",
    "Transfer-Encoding: \vchunked\r\n",
    "Transfer-Encoding : chunked\r\n",
    "Expect: 100-continue\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive\r\n",
    "Connection: x, close\r\n",
    "Connection: a b\r\n",
    "X-Request-Id: r1\r\n",
    "X-A: b\r\n",
    " c: d\r\n",
    "\r\n",
    "\n",
    "\r",
    "abc",
    "3\r\nabc\r\n",
    "3;a=b;c=\"d\\\"\"\r\nabc\r\n",
    "3;a=\"\n\"\r\nabc\r\n",
    "00003\r\nabc\r\n",
    "3 \r\nabc\r\n",
    "3\nabc\r\n",
    "FFFFFFFFFFFFFFFF\r\n",
    "0\r\n\r\n",
    "0\r\n",
    "0\r\nX-A: b\r\n\r\n",
    "0\r\nContent-Length: 1\r\n\r\n",
};
constexpr size_t kMostFragments = 96;  // all that they say fits into the buffers of two sockets

bool fragments(std::string_view input) {
    Choices choices(input);
    auto pieces = take_pieces(choices);
    std::string bytes;
    for (const char c : choices.text(kMostFragments))
        bytes += kFragments[static_cast<unsigned char>(c) % std::size(kFragments)];
    return exchange(std::move(pieces), bytes);
}

using Seeds = std::vector<std::string>;

/// Returns the input of the target `fragments` that gives these, byte by byte.
std::string made(std::initializer_list<std::string_view> parts) {
    std::string input = "\x80";
    for (const auto part : parts) {
        const auto* const found = std::find(std::begin(kFragments), std::end(kFragments), part);
        FUZZ_LAW(found != std::end(kFragments), "no fragment '{}'", part);
        input += static_cast<char>(found - std::begin(kFragments));
    }
    return input;
}

/// Returns the inputs of the target `connection`: each message whole, byte by byte, and in three
/// pieces, after a good request, so that a handler answers.
Seeds connections() {
    const std::string good =
        "GET /open?a=%20b&c=+ HTTP/1.1\r\nHost: a:80\r\nX-Request-Id: r\r\n\r\n";
    const std::string caller = "Host: a\r\nAuthorization: Bearer t\r\n";
    Seeds seeds;
    for (const auto& message : Seeds{
             good, "HEAD /open HTTP/1.1\r\nHost: a\r\n\r\n",
             "POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" + good,
             "POST /scoped HTTP/1.1\r\n" + caller +
                 "Transfer-Encoding: chunked\r\n\r\n"
                 "3;a=b;c=\"d\"\r\nabc\r\n00\r\nX-A: b\r\n\r\n" +
                 good,
             "POST /group HTTP/1.1\r\n" + caller +
                 "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n0\r\n\r\n",
             "GET /item/x%20y HTTP/1.0\r\n\r\n",
             "GET /scoped HTTP/1.1\r\n" + caller + "Connection: x, close\r\n\r\n",
             "GET /read HTTP/1.1\r\n" + caller + "\r\n" + good,
             "POST /scoped HTTP/1.1\r\nHost: a\r\n\r\n", "DELETE /open HTTP/1.1\r\nHost: a\r\n\r\n",
             "GET /open HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n",
             "POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
             "POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
             "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
             "GET /open HTTP/1.1\r\nHost: a b\r\n\r\n",
             "GET /open HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
             "GET /open HTTP/1.1\r\nConnection: keep-alive\r\n\r\n"})
        for (const auto& where : Seeds{{'\0'}, "\x80", "\2\x40\x20", "\1\x60"})
            seeds.push_back(where + good + message);
    return seeds;
}

}  // namespace

std::vector<Target> targets() {
    return {
        {"connection", connection, connections, kSpare},
        {"fragments", fragments,
         [] {
             const auto scoped = "POST /scoped HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n";
             return Seeds{
                 made({"GET /open HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD /open HTTP/1.1\r\n",
                       "Host: a\r\n", "\r\n"}),
                 made({scoped, "Content-Length: 3\r\n", "\r\n", "abc", scoped,
                       "Transfer-Encoding: chunked\r\n", "Expect: 100-continue\r\n", "\r\n",
                       "3\r\nabc\r\n", "0\r\nX-A: b\r\n\r\n"}),
             };
         },
         kMostFragments * kSpare / 8},
    };
}

}  // namespace rampart::fuzz
