#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace rampart::test_support {

/// A plain socket, for requests that no client would send. Gives up after 10 s.
class RawConnection {
  public:
    explicit RawConnection(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
        const timeval patience{10, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    }
    ~RawConnection() { ::close(fd_); }
    bool connected() const { return connected_; }
    int descriptor() const { return fd_; }
    RawConnection(const RawConnection&) = delete;
    RawConnection& operator=(const RawConnection&) = delete;
    /// Sends until all is sent or the server has closed.
    void send(std::string_view bytes) {
        while (!bytes.empty()) {
            const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0) return;
            bytes.remove_prefix(static_cast<size_t>(n));
        }
    }
    /// Reads until the server closes, or until `wanted` has arrived.
    std::string receive(const std::string& wanted = {}) {
        std::string all;
        char chunk[4096];
        while (wanted.empty() || all.find(wanted) == std::string::npos) {
            const auto n = ::recv(fd_, chunk, sizeof chunk, 0);
            if (n <= 0) break;
            all.append(chunk, static_cast<size_t>(n));
        }
        return all;
    }

  private:
    int fd_;
    bool connected_ = false;
};

}  // namespace rampart::test_support
