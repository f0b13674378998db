#include "fault/rough_host/rough_host.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>

namespace rampart::rough_host {

RoughHost::RoughHost(std::filesystem::path file) : file_(std::move(file)) {
    const int opened = ::open(file_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    void* memory = MAP_FAILED;
    if (opened >= 0 && ::ftruncate(opened, sizeof(Faults)) == 0)
        memory = ::mmap(nullptr, sizeof(Faults), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
    const int error = errno;
    if (opened >= 0) ::close(opened);
    if (memory == MAP_FAILED)
        throw std::runtime_error("cannot map " + file_.string() + ": " + std::strerror(error));
    faults_ = new (memory) Faults();
}

RoughHost::~RoughHost() { ::munmap(faults_, sizeof(Faults)); }

}  // namespace rampart::rough_host
