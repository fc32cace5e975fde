#include "ctl/exporter/listen_address.hpp"

#include <gmock/gmock.h>

#include <stdexcept>
#include <system_error>

namespace tailrace {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(ListenAddress, ReadsBothFamilies) {
  EXPECT_EQ(parse_listen_address("0.0.0.0:80").text(), "0.0.0.0:80");
  EXPECT_EQ(parse_listen_address("[::1]:9464").text(), "[::1]:9464");
  EXPECT_EQ(parse_listen_address("localhost:0").text(), "127.0.0.1:0");
  EXPECT_EQ(ListenAddress().text(), "127.0.0.1:9464") << "other machines cannot ask unless it is configured";
}

TEST(ListenAddress, RefusesWhatIsNone) {
  for (const std::string text :
       {"", "9464", "127.0.0.1", "127.0.0.1:", ":9464", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
        "::1:9464", "[127.0.0.1]:80", "256.0.0.1:80", "[::1]", "example.org:80", "127.0.0.1:80,443", "[]:80",
        "127.0.0.1:80s"})
    EXPECT_THAT([&] { static_cast<void>(parse_listen_address(text)); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("it has the form 127.0.0.1:9464")))
        << text;
}

TEST(ListenAddress, IsTakenWhereAnotherServerListens) {
  ListenAddress address = parse_listen_address("127.0.0.1:0");
  const UniqueFd first = listen_on(address);
  EXPECT_NE(address.port, 0);
  try {
    static_cast<void>(listen_on(address));
    FAIL() << "two servers on one port";
  } catch (const std::system_error& error) {
    EXPECT_EQ(error.code(), std::errc::address_in_use);
    EXPECT_THAT(error.what(), HasSubstr(address.text()));
  }
}

}  // namespace
}  // namespace tailrace
