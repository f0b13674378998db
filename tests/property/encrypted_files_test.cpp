// Encrypted files read as what was written into them, whatever the order of calls: compared with a
// plain string, over generated calls.
#include "encrypted_files.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <rocksdb/file_system.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "encrypted_file.hpp"
#include "rampart/base/digest.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using rocksdb::FileOptions;
using rocksdb::IOOptions;

const FileKey kKey{"0123456789abcdef", std::string(32, 'k')};
const FileKey kOther{"fedcba9876543210", std::string(32, 'o')};

std::shared_ptr<rocksdb::FileSystem> files_with(FileKeys keys) {
    static std::vector<std::shared_ptr<rocksdb::Env>> kept;
    kept.push_back(with_encryption({}, std::make_shared<const FileKeys>(std::move(keys))));
    return kept.back()->GetFileSystem();
}

std::string raw(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A file of the file system under test, beside what it should hold.
class Compared {
  public:
    Compared() : files_(files_with({kKey, {}})) {
        static int counter = 0;
        folder_ =
            fs::path(::testing::TempDir()) / fmt::format("encrypted_{}_{}", ::getpid(), counter++);
        fs::remove_all(folder_);
        fs::create_directories(folder_);
        path_ = folder_ / "000001.sst";
        RC_ASSERT(files_->NewWritableFile(path_, {}, &out_, nullptr).ok());
    }
    ~Compared() {
        out_.reset();
        fs::remove_all(folder_);
    }
    Compared(const Compared&) = delete;
    Compared& operator=(const Compared&) = delete;

    void append(const std::string& bytes) {
        RC_ASSERT(out_->Append(bytes, {}, nullptr).ok());
        expected_ += bytes;
        RC_ASSERT(out_->GetFileSize({}, nullptr) == expected_.size());
    }
    void close() {
        RC_ASSERT(out_->Close({}, nullptr).ok());
        out_.reset();
    }
    void reopen() { RC_ASSERT(files_->ReopenWritableFile(path_, {}, &out_, nullptr).ok()); }
    void truncate(size_t size) {
        const auto done = files_->Truncate(path_, size, {}, nullptr);
        RC_ASSERT(done.ok() || done.IsNotSupported());  // RocksDB's own cannot
        if (!done.ok()) fs::resize_file(path_, size + kFileHeaderBytes);
        expected_.resize(size);
    }
    void rename() {
        const auto to = folder_ / fmt::format("{}.sst", ++renamed_);
        RC_ASSERT(files_->RenameFile(path_, to, {}, nullptr).ok());
        path_ = to;
    }
    void read(size_t from, size_t n, bool direct) const {
        FileOptions options;
        options.use_direct_reads = direct;
        if (direct) {
            from = from / 4096 * 4096;
            n = (n / 4096 + 1) * 4096;
        }
        std::unique_ptr<rocksdb::FSRandomAccessFile> in;
        const auto opened = files_->NewRandomAccessFile(path_, options, &in, nullptr);
        if (direct && !opened.ok()) return;  // some file systems refuse direct reads
        RC_ASSERT(opened.ok());
        const std::unique_ptr<char, decltype(&std::free)> scratch(
            static_cast<char*>(std::aligned_alloc(4096, (n / 4096 + 1) * 4096)), &std::free);
        rocksdb::Slice read;
        RC_ASSERT(in->Read(from, n, {}, &read, scratch.get(), nullptr).ok());
        const auto at = std::min(from, expected_.size());
        RC_ASSERT(read.ToString() == expected_.substr(at, n));
    }
    void read_several(size_t from, size_t n) const {
        std::unique_ptr<rocksdb::FSRandomAccessFile> in;
        RC_ASSERT(files_->NewRandomAccessFile(path_, {}, &in, nullptr).ok());
        std::array<rocksdb::FSReadRequest, 2> requests;
        std::array<std::string, 2> scratch{std::string(n + 1, '\0'), std::string(n + 1, '\0')};
        for (size_t i = 0; i < 2; ++i) {
            requests[i].offset = from + i * (n + 3);
            requests[i].len = n;
            requests[i].scratch = scratch[i].data();
        }
        RC_ASSERT(in->MultiRead(requests.data(), 2, {}, nullptr).ok());
        for (size_t i = 0; i < 2; ++i) {
            RC_ASSERT(requests[i].status.ok());
            const size_t at = from + i * (n + 3);
            RC_ASSERT(requests[i].offset == at);
            RC_ASSERT(requests[i].result.ToString() ==
                      expected_.substr(std::min(at, expected_.size()), n));
        }
    }
    void read_in_order(size_t skip, size_t piece) const {
        std::unique_ptr<rocksdb::FSSequentialFile> in;
        RC_ASSERT(files_->NewSequentialFile(path_, {}, &in, nullptr).ok());
        skip = std::min(skip, expected_.size());
        RC_ASSERT(in->Skip(skip).ok());
        std::string all, scratch(piece, '\0');
        rocksdb::Slice read;
        do {
            RC_ASSERT(in->Read(piece, {}, &read, scratch.data(), nullptr).ok());
            all += read.ToString();
        } while (!read.empty());
        RC_ASSERT(all == expected_.substr(skip));
    }
    void sizes() const {
        uint64_t size = 0;
        RC_ASSERT(files_->GetFileSize(path_, {}, &size, nullptr).ok());
        RC_ASSERT(size == expected_.size());
        std::vector<rocksdb::FileAttributes> all;
        RC_ASSERT(files_->GetChildrenFileAttributes(folder_, {}, &all, nullptr).ok());
        for (const auto& one : all) {
            if (one.name == path_.filename()) RC_ASSERT(one.size_bytes == expected_.size());
        }
    }
    const std::string& expected() const { return expected_; }
    fs::path path() const { return path_; }

  private:
    std::shared_ptr<rocksdb::FileSystem> files_;
    fs::path folder_, path_;
    std::unique_ptr<rocksdb::FSWritableFile> out_;
    std::string expected_;
    int renamed_ = 1;
};

std::string generated_bytes() {
    // long enough that pieces of 4096 and of the buffers' 64 kB are crossed now and then
    const auto n = *rc::gen::weightedOneOf<size_t>({{6, rc::gen::inRange<size_t>(0, 100)},
                                                    {2, rc::gen::inRange<size_t>(0, 9000)},
                                                    {1, rc::gen::inRange<size_t>(0, 150'000)}});
    const auto seed = *rc::gen::inRange(0, 1000);
    std::string bytes(n, '\0');
    for (size_t i = 0; i < n; ++i) bytes[i] = static_cast<char>((i * 131 + seed) >> (i % 3));
    return bytes;
}

RC_GTEST_PROP(EncryptedFiles, ReadAsWhatWasWritten, ()) {
    Compared file;
    const auto rounds = *rc::gen::inRange(1, 8);
    for (int round = 0; round < rounds; ++round) {
        const auto writes = *rc::gen::inRange(0, 5);
        for (int i = 0; i < writes; ++i) file.append(generated_bytes());
        file.close();
        if (*rc::gen::inRange(0, 4) == 0)
            file.truncate(*rc::gen::inRange<size_t>(0, file.expected().size() + 1));
        if (*rc::gen::inRange(0, 4) == 0) file.rename();
        file.sizes();
        const auto somewhere = [&] {
            return *rc::gen::inRange<size_t>(0, file.expected().size() + 5000);
        };
        file.read(somewhere(), *rc::gen::inRange<size_t>(1, 20'000), false);
        file.read(somewhere(), *rc::gen::inRange<size_t>(1, 20'000), true);
        file.read_several(somewhere(), *rc::gen::inRange<size_t>(1, 9000));
        file.read_in_order(somewhere(), *rc::gen::inRange<size_t>(1, 70'000));
        RC_ASSERT(raw(file.path()).size() == file.expected().size() + kFileHeaderBytes);
        file.reopen();
    }
}

RC_GTEST_PROP(EncryptedFiles, NoDamageOfAHeaderPasses, ()) {
    const auto header = make_header(kKey);
    RC_ASSERT(read_header(header).key_id == kKey.id);
    RC_ASSERT(cipher_of(header, kKey) != nullptr);
    RC_ASSERT(cipher_of(header, kOther) == nullptr);
    auto changed = header;
    const auto at = *rc::gen::inRange<size_t>(0, header.size());
    changed[at] = static_cast<char>(changed[at] ^ *rc::gen::inRange(1, 256));
    const auto kind = read_header(changed).kind;
    RC_ASSERT(kind == FileHeader::Kind::kDamaged ||
              (kind == FileHeader::Kind::kWhole && cipher_of(changed, kKey) == nullptr));
}

RC_GTEST_PROP(EncryptedFiles, PlainFilesAreTakenForPlain, (std::string text)) {
    text.resize(text.size() + *rc::gen::inRange(0, 5000), 'x');
    RC_ASSERT(read_header(text).kind == FileHeader::Kind::kPlain);
}

TEST(EncryptedFiles, AChangeThatFitsTheChecksumsDoesNotFitTheMac) {
    // another nonce, with checksums made for it: without the key there is no MAC for it
    const FileKey guessed{kKey.id, std::string(32, 'g')};
    const auto forged = make_header(guessed);
    EXPECT_EQ(read_header(forged).kind, FileHeader::Kind::kWhole);
    EXPECT_EQ(cipher_of(forged, kKey), nullptr);
}

TEST(EncryptedFiles, NoTwoFilesHaveTheSameBytes) {
    const auto files = files_with({kKey, {}});
    const auto folder = fs::path(::testing::TempDir()) / fmt::format("two_{}", ::getpid());
    fs::create_directories(folder);
    const std::string text(5000, 'p');
    for (const char* name : {"1.log", "2.log", "CURRENT"}) {
        std::unique_ptr<rocksdb::FSWritableFile> out;
        ASSERT_TRUE(files->NewWritableFile(folder / name, {}, &out, nullptr).ok());
        ASSERT_TRUE(out->Append(text, {}, nullptr).ok());
        ASSERT_TRUE(out->Close({}, nullptr).ok());
    }
    const auto first = raw(folder / "1.log"), second = raw(folder / "2.log");
    EXPECT_NE(first.substr(kFileHeaderBytes), second.substr(kFileHeaderBytes));
    EXPECT_EQ(first.find("pppp"), std::string::npos);
    EXPECT_EQ(raw(folder / "CURRENT"), text);

    // a log that takes the place of another begins anew
    std::unique_ptr<rocksdb::FSWritableFile> out;
    ASSERT_TRUE(
        files->ReuseWritableFile(folder / "3.log", folder / "1.log", {}, &out, nullptr).ok());
    ASSERT_TRUE(out->Append(text, {}, nullptr).ok());
    ASSERT_TRUE(out->Close({}, nullptr).ok());
    EXPECT_FALSE(fs::exists(folder / "1.log"));
    const auto reused = raw(folder / "3.log");
    EXPECT_EQ(reused.find("pppp"), std::string::npos);
    EXPECT_NE(reused.substr(0, kFileHeaderBytes), first.substr(0, kFileHeaderBytes));

    std::unique_ptr<rocksdb::FSRandomRWFile> anywhere;
    EXPECT_TRUE(files->NewRandomRWFile(folder / "2.log", {}, &anywhere, nullptr).IsNotSupported());
    EXPECT_TRUE(files->NewRandomRWFile(folder / "new", {}, &anywhere, nullptr).IsNotSupported());
    FileOptions mapped;
    mapped.use_mmap_reads = true;
    std::unique_ptr<rocksdb::FSRandomAccessFile> in;
    EXPECT_TRUE(
        files->NewRandomAccessFile(folder / "2.log", mapped, &in, nullptr).IsNotSupported());
    fs::remove_all(folder);
}

TEST(EncryptedFiles, AFileCutOffInItsHeaderIsEmpty) {
    const auto files = files_with({kKey, {}});
    const auto path = fs::path(::testing::TempDir()) / fmt::format("cut_{}.log", ::getpid());
    for (const size_t length : {size_t{0}, size_t{16}, size_t{2000}, kFileHeaderBytes}) {
        std::ofstream(path, std::ios::binary) << make_header(kKey).substr(0, length);
        uint64_t size = 1;
        ASSERT_TRUE(files->GetFileSize(path, {}, &size, nullptr).ok());
        EXPECT_EQ(size, 0u);
        std::unique_ptr<rocksdb::FSSequentialFile> in;
        ASSERT_TRUE(files->NewSequentialFile(path, {}, &in, nullptr).ok());
        std::string scratch(100, '\0');
        rocksdb::Slice read;
        ASSERT_TRUE(in->Read(100, {}, &read, scratch.data(), nullptr).ok());
        EXPECT_TRUE(read.empty());
        std::unique_ptr<rocksdb::FSWritableFile> out;
        ASSERT_TRUE(files->ReopenWritableFile(path, {}, &out, nullptr).ok());
        ASSERT_TRUE(out->Append("content", {}, nullptr).ok());
        ASSERT_TRUE(out->Close({}, nullptr).ok());
        ASSERT_TRUE(files->GetFileSize(path, {}, &size, nullptr).ok());
        EXPECT_EQ(size, 7u);
        EXPECT_EQ(key_id_of(path).value(), kKey.id);
    }
    fs::remove(path);
}

}  // namespace
}  // namespace rampart::storage
