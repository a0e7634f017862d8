import Foundation

/// A minimal client of Redis on this machine. The client can send many commands before it reads the replies.
final class RedisConnection {
  private let socket: Int32
  private var out: [UInt8] = []
  private var input = [UInt8](repeating: 0, count: 1 << 16)
  private var start = 0
  private var end = 0

  enum Reply {
    case text(String)
    case number(Int)
    case bytes(Range<Int>)
    case nothing
    case list(Int)
  }

  init(port: UInt16) throws {
    socket = Foundation.socket(AF_INET, streamType, 0)
    var address = loopback(port)
    let result = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result != 0 {
      Foundation.close(socket)
      throw Failure("nothing listens on port \(port)")
    }
    var yes: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
  }

  deinit { Foundation.close(socket) }

  /// Adds a command to the commands that are sent together later.
  func append(_ parts: [UInt8]...) { append(parts: parts) }

  func append(parts: [[UInt8]]) {
    appendHead("*", parts.count)
    for part in parts {
      appendHead("$", part.count)
      out.append(contentsOf: part)
      out.append(contentsOf: [13, 10])
    }
  }

  private func appendHead(_ kind: Unicode.Scalar, _ count: Int) {
    out.append(UInt8(kind.value))
    out.append(contentsOf: String(count).utf8)
    out.append(contentsOf: [13, 10])
  }

  func send() throws {
    var sent = 0
    while sent < out.count {
      let count = out.withUnsafeBytes { bytes in
        Foundation.send(socket, bytes.baseAddress! + sent, bytes.count - sent, noSignal)
      }
      if count <= 0 { throw Failure("Redis took no more") }
      sent += count
    }
    out.removeAll(keepingCapacity: true)
  }

  /// The next reply. If the reply is ``Reply/bytes(_:)``, read the bytes by ``withBytes(_:_:)`` before the next call.
  func reply() throws -> Reply {
    let line = try self.line()
    let rest = String(decoding: input[line.lowerBound + 1..<line.upperBound], as: UTF8.self)
    switch input[line.lowerBound] {
    case UInt8(ascii: "+"): return .text(rest)
    case UInt8(ascii: ":"): return .number(Int(rest) ?? 0)
    case UInt8(ascii: "*"): return .list(Int(rest) ?? 0)
    case UInt8(ascii: "$"):
      guard let count = Int(rest), count >= 0 else { return .nothing }
      while end - start < count + 2 { try fill() }
      defer { start += count + 2 }
      return .bytes(start..<start + count)
    default: throw Failure("Redis: \(rest)")
    }
  }

  func withBytes<Result>(_ range: Range<Int>, _ body: (UnsafeRawBufferPointer) -> Result) -> Result
  {
    input.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
  }

  /// Sends one command and waits for an answer that is not a list.
  @discardableResult
  func command(_ words: String...) throws -> Reply {
    append(parts: words.map { Array($0.utf8) })
    try send()
    return try reply()
  }

  private func line() throws -> Range<Int> {
    var at = start
    while true {
      while at < end {
        if input[at] == 10 {
          defer { start = at + 1 }
          return start..<at - 1
        }
        at += 1
      }
      let seen = at - start
      try fill()
      at = start + seen
    }
  }

  private func fill() throws {
    if start > 0, start == end || input.count - end < 4096 {
      input.replaceSubrange(0..<end - start, with: input[start..<end])
      end -= start
      start = 0
    }
    if input.count - end < 4096 { input += [UInt8](repeating: 0, count: input.count) }
    let count = input.withUnsafeMutableBytes { bytes in
      recv(socket, bytes.baseAddress! + end, bytes.count - end, 0)
    }
    if count <= 0 { throw Failure("Redis has closed the connection") }
    end += count
  }
}

#if canImport(Darwin)
  private let streamType = SOCK_STREAM
  private let noSignal: Int32 = 0
#else
  private let streamType = Int32(SOCK_STREAM.rawValue)
  private let noSignal = Int32(MSG_NOSIGNAL)
#endif

private func loopback(_ port: UInt16) -> sockaddr_in {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  return address
}

extension RedisConnection {
  /// A port that no program uses at this moment.
  static func freePort() throws -> UInt16 {
    let socket = Foundation.socket(AF_INET, streamType, 0)
    defer { Foundation.close(socket) }
    var address = loopback(0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(socket, address, length) == 0 ? getsockname(socket, address, &length) : -1
      }
    }
    if result != 0 { throw Failure("no port is free") }
    return UInt16(bigEndian: address.sin_port)
  }
}
