import Larder
package import LarderShared

/// The server sent bytes that the protocol does not allow.
package struct ProtocolError: Error, Equatable { package let reason: String }

/// Reads RESP2 replies from pieces of bytes. Checks lengths, counts and nesting before it reserves memory for them.
package struct RESPParser {
  package static let longestString = 64 << 20
  /// The longest line. A line is a type with a number or a short text.
  package static let longestLine = 64 << 10
  /// The most elements of all arrays of a reply together.
  package static let mostElements = 16_384
  package static let deepestNesting = 8

  private var buffer: [UInt8] = []
  private var start = 0
  /// The unfinished arrays, the outermost first. The parser keeps the arrays between pieces, to read no part of a reply twice.
  private var unfinished: [(list: [Reply], left: Int)] = []
  /// For the reply under way: the number of elements that all its arrays announce, and the number of bytes that were read.
  private var elements = 0
  private var size = 0

  package init() {}

  package var waiting: Int { buffer.count - start }

  package mutating func append(_ bytes: some Sequence<UInt8>) { buffer += bytes }

  /// The next whole reply; nil if more bytes are needed. After an error no further reply can be read.
  package mutating func next() throws(ProtocolError) -> Reply? {
    defer { discardRead() }
    while true {
      var cursor = start
      guard let item = try item(&cursor) else { break }
      size += cursor - start
      start = cursor
      if case .array(let count) = item, count > 0 {
        guard unfinished.count < Self.deepestNesting else {
          throw ProtocolError(reason: "arrays are too deep")
        }
        unfinished.append(([], count))
      } else if let reply = finish(item) {
        (elements, size) = (0, 0)
        return reply
      }
    }
    // The size of a reply is limited. The buffer is limited, too, because a reply without an end could fill the memory.
    if size + waiting > Self.longestString + Self.longestLine {
      throw ProtocolError(reason: "a reply has no end")
    }
    return nil
  }

  private mutating func discardRead() {
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: buffer.capacity <= 1 << 20)
      start = 0
    } else if start > 1 << 16, start > buffer.count / 2 {
      buffer.removeFirst(start)
      start = 0
    }
  }

  private enum Item {
    case whole(Reply)
    case array(Int)
  }

  /// Adds a complete item to its array. Returns the reply if the item completes the reply.
  private mutating func finish(_ item: Item) -> Reply? {
    var reply = if case .whole(let whole) = item { whole } else { Reply.list([]) }
    while var array = unfinished.popLast() {
      array.list.append(reply)
      array.left -= 1
      if array.left > 0 {
        unfinished.append(array)
        return nil
      }
      reply = .list(array.list)
    }
    return reply
  }

  private mutating func item(_ cursor: inout Int) throws(ProtocolError) -> Item? {
    guard let line = try line(&cursor) else { return nil }
    guard let type = line.first else { throw ProtocolError(reason: "an empty line") }
    let rest = line.dropFirst()
    switch type {
    case UInt8(ascii: "+"): return .whole(.bytes(Array(rest)))
    case UInt8(ascii: "-"): return .whole(.failure(String(decoding: rest, as: UTF8.self)))
    case UInt8(ascii: ":"): return .whole(.number(try number(rest)))
    case UInt8(ascii: "$"):
      let count = try number(rest)
      if count == -1 { return .whole(.null) }
      guard (0...Int64(Self.longestString)).contains(count) else {
        throw ProtocolError(reason: "a string of \(count) bytes")
      }
      let end = cursor + Int(count)
      guard buffer.count >= end + 2 else { return nil }
      guard buffer[end] == 13, buffer[end + 1] == 10 else {
        throw ProtocolError(reason: "a string is longer than it says")
      }
      defer { cursor = end + 2 }
      return .whole(.bytes(Array(buffer[cursor..<end])))
    case UInt8(ascii: "*"):
      let count = try number(rest)
      if count == -1 { return .whole(.null) }
      guard count >= 0, count <= Int64(Self.mostElements - elements) else {
        throw ProtocolError(reason: "an array of \(count) elements")
      }
      elements += Int(count)
      return .array(Int(count))
    default: throw ProtocolError(reason: "a reply begins with the byte \(type)")
    }
  }

  /// The bytes before the next CR LF; nil if CR LF has not arrived yet.
  private func line(_ cursor: inout Int) throws(ProtocolError) -> ArraySlice<UInt8>? {
    let limit = min(buffer.count, cursor + Self.longestLine)
    var index = cursor
    while index < limit, buffer[index] != 13 { index += 1 }
    guard index < limit else {
      if limit < buffer.count { throw ProtocolError(reason: "a line has no end") }
      return nil
    }
    guard index + 1 < buffer.count else { return nil }
    guard buffer[index + 1] == 10 else { throw ProtocolError(reason: "CR without LF") }
    defer { cursor = index + 2 }
    return buffer[cursor..<index]
  }

  private func number(_ digits: ArraySlice<UInt8>) throws(ProtocolError) -> Int64 {
    guard (1...20).contains(digits.count), digits.first != UInt8(ascii: "+"),
      let number = Int64(String(decoding: digits, as: UTF8.self))
    else { throw ProtocolError(reason: "not a number") }
    return number
  }
}

extension Command {
  package var encoded: [UInt8] {
    var bytes = Array("*\(words.count)\r\n".utf8)
    bytes.reserveCapacity(words.reduce(bytes.count) { $0 + $1.count + 16 })
    for word in words {
      bytes += "$\(word.count)\r\n".utf8
      bytes += word
      bytes += [13, 10]
    }
    return bytes
  }
}
