#include "tests/peers/free_ports.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

namespace hedgerow::peers {

std::vector<std::uint16_t> free_ports(std::size_t count, std::uint16_t from) {
  using boost::asio::ip::tcp;
  boost::asio::io_context context(1);
  std::vector<std::uint16_t> ports;
  for (std::uint32_t port = from; port < 65536 && ports.size() < count; ++port) {
    tcp::acceptor acceptor(context, tcp::v4());
    boost::system::error_code error;
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
    acceptor.bind({boost::asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(port)}, error);
    if (!error) ports.push_back(static_cast<std::uint16_t>(port));
  }
  return ports;
}

}  // namespace hedgerow::peers
