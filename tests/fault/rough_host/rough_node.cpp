// `rampart serve` on a host with faults: the program of rampartd, with functions of the system in
// front of those of the C library. The file that RAMPART_ROUGH_HOST names says what is wrong.
// gettimeofday stays right: RocksDB and librdkafka wait until moments of it, by the kernel's clock.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "fault/rough_host/rough_host.hpp"
#include "services/rampartd/program.hpp"

namespace {

using rampart::rough_host::Faults;

// The C library calls the functions below before main() begins: until then nothing is wrong.
Faults kNone;
std::atomic<Faults*> faults{&kNone};

Faults* map(const char* file) {
    const int opened = ::open(file, O_RDWR | O_CLOEXEC);
    if (opened < 0) return nullptr;
    void* memory = ::mmap(nullptr, sizeof(Faults), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    ::close(opened);
    return memory == MAP_FAILED ? nullptr : static_cast<Faults*>(memory);
}

int slowly(long call, int file) {
    if (const int64_t more = faults.load()->sync_micros; more > 0) {
        ::usleep(static_cast<useconds_t>(more));
        ++faults.load()->slow_syncs;
    }
    return static_cast<int>(::syscall(call, file));
}

constexpr int64_t kMicros = 1'000'000;

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
    const auto done = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
    if (done != 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return done;
    const int64_t more = faults.load()->wall_micros;
    const int64_t micros = time->tv_sec * kMicros + time->tv_nsec / 1000 + more;
    time->tv_sec = micros / kMicros;
    time->tv_nsec = micros % kMicros * 1000 + time->tv_nsec % 1000;
    return 0;
}

time_t time(time_t* result) noexcept {
    timespec now{};
    if (::clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
    if (result != nullptr) *result = now.tv_sec;
    return now.tv_sec;
}

int fsync(int file) { return slowly(SYS_fsync, file); }
int fdatasync(int file) { return slowly(SYS_fdatasync, file); }

int connect(int socket, const sockaddr* address, socklen_t size) {
    sockaddr_in other{};
    const auto* asked = reinterpret_cast<const sockaddr_in*>(address);
    const auto& host = *faults.load();
    if (host.port_reached != 0 && address->sa_family == AF_INET && size >= sizeof other &&
        asked->sin_port == htons(static_cast<uint16_t>(host.port_asked))) {
        other = *asked;
        other.sin_port = htons(static_cast<uint16_t>(host.port_reached));
        address = reinterpret_cast<const sockaddr*>(&other);
    }
    return static_cast<int>(::syscall(SYS_connect, socket, address, size));
}

}  // extern "C"

int main(int argc, char** argv) {
    const char* file = std::getenv(rampart::rough_host::kVariable);
    Faults* mapped = file == nullptr ? nullptr : map(file);
    if (mapped == nullptr) {
        std::fprintf(stderr, "rough_node: %s does not name the file of a host\n",
                     rampart::rough_host::kVariable);
        return 2;
    }
    faults = mapped;
    return rampart::rampartd::run_program(argc, argv, "rough_node", "");
}
