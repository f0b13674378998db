#include "fault/rough_host/one_way.hpp"

#include <array>
#include <boost/asio.hpp>
#include <chrono>
#include <thread>

namespace rampart::rough_host {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Failure = boost::system::error_code;
using Held = OneWay::Held;

constexpr auto kLook = std::chrono::milliseconds(5);

/// What the main thread says to all connections.
struct State {
    std::atomic<Held> held = Held::kNothing;
    std::atomic<int> breaks = 0;  // how often held connections were reset
    std::atomic<uint64_t> held_back = 0;
};

struct Connection {
    Connection(tcp::socket of_process, tcp::socket of_port)
        : process(std::move(of_process)), port(std::move(of_port)) {}
    void close() {
        Failure ignored;
        process.close(ignored);
        port.close(ignored);
    }
    tcp::socket process, port;
};

/// One direction of a connection.
class Pump : public std::enable_shared_from_this<Pump> {
  public:
    Pump(State& state, std::shared_ptr<Connection> connection, Held direction)
        : state_(state),
          connection_(std::move(connection)),
          direction_(direction),
          timer_(connection_->process.get_executor()) {}
    void read() {
        from().async_read_some(asio::buffer(bytes_),
                               [self = shared_from_this()](const Failure& failure, size_t size) {
                                   if (failure) return self->connection_->close();
                                   self->breaks_ = self->state_.breaks;
                                   self->counted_ = false;
                                   self->pass_on(size);
                               });
    }

  private:
    tcp::socket& from() {
        return direction_ == Held::kRequests ? connection_->process : connection_->port;
    }
    tcp::socket& to() {
        return direction_ == Held::kRequests ? connection_->port : connection_->process;
    }
    void pass_on(size_t size) {
        if (state_.breaks != breaks_) return connection_->close();
        if (state_.held == direction_) return wait(size);
        asio::async_write(to(), asio::buffer(bytes_.data(), size),
                          [self = shared_from_this()](const Failure& failure, size_t) {
                              if (failure) return self->connection_->close();
                              self->read();
                          });
    }
    void wait(size_t size) {
        if (!std::exchange(counted_, true)) state_.held_back += size;
        timer_.expires_after(kLook);
        timer_.async_wait([self = shared_from_this(), size](const Failure& failure) {
            if (!failure) self->pass_on(size);
        });
    }

    State& state_;
    const std::shared_ptr<Connection> connection_;
    const Held direction_;
    asio::steady_timer timer_;
    std::array<char, 1 << 16> bytes_{};
    int breaks_ = 0;
    bool counted_ = false;
};

}  // namespace

struct OneWay::Impl {
    explicit Impl(uint16_t to)
        : target(asio::ip::address_v4::loopback(), to),
          acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), 0)) {
        accept();
        thread = std::thread([this] { context.run(); });
    }
    void accept() {
        acceptor.async_accept([this](const Failure& failure, tcp::socket process) {
            if (failure) return;
            tcp::socket port(context);
            Failure refused;
            port.connect(target, refused);  // on the loopback: at once, or refused
            if (!refused) relay(std::move(process), std::move(port));
            accept();
        });
    }
    void relay(tcp::socket process, tcp::socket port) {
        Failure ignored;
        process.set_option(tcp::no_delay(true), ignored);
        port.set_option(tcp::no_delay(true), ignored);
        const auto one = std::make_shared<Connection>(std::move(process), std::move(port));
        for (const Held direction : {Held::kRequests, Held::kAnswers})
            std::make_shared<Pump>(state, one, direction)->read();
    }

    State state;
    asio::io_context context;
    const tcp::endpoint target;
    tcp::acceptor acceptor;
    std::thread thread;
};

OneWay::OneWay(uint16_t to) : impl_(std::make_unique<Impl>(to)) {}

OneWay::~OneWay() {
    impl_->context.stop();
    impl_->thread.join();
}

uint16_t OneWay::port() const { return impl_->acceptor.local_endpoint().port(); }

void OneWay::hold(Held held) { impl_->state.held = held; }

void OneWay::release(bool breaks) {
    if (breaks) ++impl_->state.breaks;
    impl_->state.held = Held::kNothing;
}

uint64_t OneWay::held_back() const { return impl_->state.held_back; }

}  // namespace rampart::rough_host
