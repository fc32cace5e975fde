#include "producer/sources/image_source.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <map>
#include <stdexcept>

#include "producer/input_pipeline.hpp"
#include "tests/sources/plain_memory.hpp"
#include "tests/sources/temp_folder.hpp"
#include "tests/sources/test_images.hpp"

namespace tailrace {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::ThrowsMessage;

SourceConfig config_of(const fs::path& path) {
  SourceConfig config;
  config.kind = SourceKind::kImages;
  config.path = path.string();
  config.height = 16;
  config.width = 24;
  config.batch_size = 64;
  return config;
}

class ImageSourceTest : public testing::Test {
 protected:
  std::string png(int red = 9) const { return encode(plain_colour(12, 8, red, 0, 0), ".png"); }

  static std::map<std::string, Row> read_all(const Source& source) {
    std::map<std::string, Row> rows;
    std::vector<std::byte> bytes(source.spec().item_bytes());
    for (std::uint64_t i = 0; i < source.item_count(); ++i) {
      Row row;
      source.read(i, bytes, row);
      rows[row.name] = row;
    }
    return rows;
  }

  ImageDecoder starts_vips_{{1, 1}, ResizeMode::kFit};
  TempFolder folder_;
};

TEST_F(ImageSourceTest, DescribesWhatItRead) {
  folder_.write("sub/a.png", png());
  const ImageSource source(config_of(folder_.path()));
  EXPECT_EQ(source.spec().item_shape, (std::vector<std::int64_t>{16, 24, 3}));
  EXPECT_TRUE(source.spec().image);
  const Row row = read_all(source).at("sub/a.png");
  EXPECT_EQ(row.output_name, "sub/a");
  EXPECT_EQ(row.height, 8);
  EXPECT_EQ(row.width, 12);
  EXPECT_EQ(row.source, (Rect{0, 0, 8, 12}));
  EXPECT_EQ(row.content, (Rect{0, 0, 16, 24}));
  EXPECT_TRUE(row.valid());
  EXPECT_EQ(source.max_name_bytes(), std::string("sub/a.pngsub/a").size());
}

TEST_F(ImageSourceTest, SkipsEveryBadItemWithItsReasonAndGoesOn) {
  folder_.write("good.png", png());
  folder_.write("text.png", "text");
  folder_.write("empty.jpg", "");
  folder_.write("cut.png", png().substr(0, 60));
  fs::create_directories(folder_.path() / "folder.jpg");
  fs::create_symlink("nowhere", folder_.path() / "dangling.png");
  fs::create_symlink("self.png", folder_.path() / "self.png");
  ASSERT_EQ(::mkfifo((folder_.path() / "fifo.png").c_str(), 0600), 0);
  const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder_.path() / "socket.png").string().copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(server, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(server);
  folder_.write("vanished.png", png());
  const ImageSource source(config_of(folder_.path()));
  fs::remove(folder_.path() / "vanished.png");

  const std::map<std::string, Row> rows = read_all(source);
  const std::map<std::string, std::string> reasons{
      // "": in the words of the library's version
      {"text.png", "known format"},     {"empty.jpg", "empty"},   {"cut.png", ""},
      {"folder.jpg", "a folder"},       {"fifo.png", "a FIFO"},   {"socket.png", "a socket"},
      {"dangling.png", "No such file"}, {"self.png", "symbolic"}, {"vanished.png", "No such file"}};
  EXPECT_EQ(rows.size(), reasons.size() + 1);
  EXPECT_TRUE(rows.at("good.png").valid());
  for (const auto& [name, reason] : reasons) {
    EXPECT_THAT(rows.at(name).skip_reason, AllOf(Not(IsEmpty()), HasSubstr(reason))) << name;
    EXPECT_EQ(rows.at(name).height, 0) << name;
    EXPECT_FALSE(rows.at(name).output_name.empty());
  }
}

TEST_F(ImageSourceTest, CountsBadItemsAsUnreadableUndecodableOrTooLarge) {
  folder_.write("text.png", "text");
  folder_.write("cut.png", png().substr(0, 60));
  fs::resize_file(folder_.write("huge.png", png()), kMaxImageFileBytes + 1);
  fs::create_symlink("nowhere", folder_.path() / "dangling.png");
  fs::create_directories(folder_.path() / "folder.jpg");
  const std::map<std::string, Row> rows = read_all(ImageSource(config_of(folder_.path())));
  const std::map<std::string, SkipKind> kinds{{"text.png", SkipKind::kUndecodable},
                                              {"cut.png", SkipKind::kUndecodable},
                                              {"huge.png", SkipKind::kTooLarge},
                                              {"dangling.png", SkipKind::kUnreadable},
                                              {"folder.jpg", SkipKind::kUnreadable}};
  ASSERT_EQ(rows.size(), kinds.size());
  for (const auto& [name, kind] : kinds) {
    EXPECT_FALSE(rows.at(name).valid()) << name;
    EXPECT_EQ(rows.at(name).skip_kind, kind) << name << ": " << rows.at(name).skip_reason;
  }
}

TEST_F(ImageSourceTest, ZeroesTheBytesOfASkippedItem) {
  folder_.write("cut.png", encode(quadrants(300, 300), ".png").substr(0, 900));
  const ImageSource source(config_of(folder_.path()));
  std::vector<std::byte> bytes(source.spec().item_bytes(), std::byte{0xA5});
  Row row;
  source.read(0, bytes, row);
  EXPECT_FALSE(row.valid());
  EXPECT_THAT(bytes, testing::Each(std::byte{0}));
}

TEST_F(ImageSourceTest, TakesOddNames) {
  const std::string long_name = std::string(251, 'n') + ".png";
  const std::vector<std::string> names{"new\nline.png", " spaces .png", "\xff\xfe.png", "UPPER.PNG",
                                       long_name};
  for (const std::string& name : names) folder_.write(name, png());
  const std::map<std::string, Row> rows = read_all(ImageSource(config_of(folder_.path())));
  ASSERT_EQ(rows.size(), names.size());
  for (const std::string& name : names) EXPECT_EQ(rows.at(name).skip_reason, "") << name;
  EXPECT_LE(rows.at(long_name).output_name.size(), 200U);
}

TEST_F(ImageSourceTest, FollowsAListFileInItsOrderRelativeToItsFolder) {
  folder_.write("data/b.png", png());
  folder_.write("data/a", png());
  const TempFolder elsewhere;
  const std::string absolute = elsewhere.write("c.png", png()).string();
  const fs::path list =
      folder_.write("list.txt", "data/b.png\ndata/a\n" + absolute + "\ndata/b.png\nmissing.png\n");
  const ImageSource source(config_of(list));
  ASSERT_EQ(source.item_count(), 5U);
  std::vector<std::byte> bytes(source.spec().item_bytes());
  std::vector<Row> rows(5);
  for (std::uint64_t i = 0; i < 5; ++i) source.read(i, bytes, rows[i]);
  for (std::uint64_t i = 0; i < 4; ++i) EXPECT_TRUE(rows[i].valid()) << rows[i].skip_reason;
  EXPECT_EQ(rows[0].output_name, "data/b");
  EXPECT_EQ(rows[1].name, "data/a");
  EXPECT_EQ(rows[3].output_name, "data/b~2");
  EXPECT_FALSE(rows[4].valid());
}

TEST_F(ImageSourceTest, TakesALineWithANulByteAsABadItem) {
  const fs::path list = folder_.write("list.txt", std::string("a\0b.png\n", 8));
  const ImageSource source(config_of(list));
  EXPECT_THAT(read_all(source).begin()->second.skip_reason, HasSubstr("NUL"));
}

TEST_F(ImageSourceTest, RefusesAPathWithNothingToRead) {
  const auto refuses = [](const fs::path& path, const std::string& reason) {
    EXPECT_THAT([&] { ImageSource source(config_of(path)); },
                ThrowsMessage<std::invalid_argument>(HasSubstr(reason)));
  };
  refuses(folder_.path(), "no images");
  refuses(folder_.write("empty.txt", "\n\n"), "is empty");
  refuses(folder_.write("one.png", png()), "is an image");
  ASSERT_EQ(::mkfifo((folder_.path() / "fifo").c_str(), 0600), 0);
  refuses(folder_.path() / "fifo", "neither");
  EXPECT_THROW(ImageSource(config_of("/nonexistent")), std::system_error);
}

TEST_F(ImageSourceTest, HasADigestOfNamesOrderAndShape) {
  folder_.write("a.png", png());
  const SourceConfig config = config_of(folder_.path());
  const std::uint64_t digest = ImageSource(config).digest();
  EXPECT_EQ(digest, ImageSource(config).digest());
  SourceConfig changed = config;
  changed.resize = ResizeMode::kFill;
  EXPECT_NE(digest, ImageSource(changed).digest());
  changed = config;
  changed.width = 32;
  EXPECT_NE(digest, ImageSource(changed).digest());
  folder_.write("b.png", png());
  EXPECT_NE(digest, ImageSource(config).digest());
  const fs::path forwards = folder_.write("forwards", "a.png\nb.png\n");
  const fs::path backwards = folder_.write("backwards", "b.png\na.png\n");
  EXPECT_NE(ImageSource(config_of(forwards)).digest(), ImageSource(config_of(backwards)).digest());
}

TEST_F(ImageSourceTest, GivesTheSameItemsOfAThousandWithOneWorkerOrSixteen) {
  for (int i = 0; i < 1000; ++i)
    folder_.write(std::to_string(i % 10) + "/" + std::to_string(i) + ".png",
                  i % 97 == 0 ? "bad" : png(i % 256));
  SourceConfig config = config_of(folder_.path());
  ASSERT_EQ(ImageSource(config).item_count(), 1000U);
  config.shard_count = 4;
  const ImageSource source(config);
  ASSERT_EQ(source.item_count(), 250U);
  PlainAllocator allocator;
  InputPipeline one(source, {.batch_size = 64, .workers = 1, .prefetch = 1}, allocator);
  InputPipeline many(source, {.batch_size = 64, .workers = 16, .prefetch = 3}, allocator);
  int skipped = 0;
  while (const InputBatch* a = one.next()) {
    const InputBatch* b = many.next();
    ASSERT_NE(b, nullptr);
    ASSERT_TRUE(std::equal(a->bytes.begin(), a->bytes.end(), b->bytes.begin()));
    for (std::size_t r = 0; r < a->rows.size(); ++r) {
      EXPECT_EQ(a->rows[r].name, b->rows[r].name);
      EXPECT_EQ(a->rows[r].skip_reason, b->rows[r].skip_reason);
      skipped += a->rows[r].valid() ? 0 : 1;
    }
    one.release(*a);
    many.release(*b);
  }
  EXPECT_EQ(many.next(), nullptr);
  EXPECT_GT(skipped, 0);
}

}  // namespace
}  // namespace tailrace
