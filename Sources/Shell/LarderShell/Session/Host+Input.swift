extension Host.Input {
  /// - Parameter next: Reads the next bytes. Returns no bytes at the end.
  package init(size: Int? = nil, next: @escaping () throws -> [UInt8]) {
    var pieces = Pieces(next: next)
    self.init(
      size: size, item: { try pieces.item(endedBy: $0, atMost: $1) },
      rest: { try pieces.rest(atMost: $0) })
  }
}

/// Bytes that come in pieces. The time to read all bytes is linear in their number.
private struct Pieces {
  let next: () throws -> [UInt8]
  var buffer: [UInt8] = []
  var start = 0
  var isAtEnd = false

  mutating func item(endedBy end: UInt8, atMost most: Int) throws -> [UInt8]? {
    var searched = start
    while true {
      if let found = buffer[searched...].firstIndex(of: end) {
        defer { start = found + 1 }
        return Array(buffer[start..<found])
      }
      searched = buffer.count - start
      if isAtEnd || searched > most { return searched == 0 ? nil : takeRest() }
      try fill()
    }
  }

  mutating func rest(atMost most: Int) throws -> [UInt8] {
    while !isAtEnd, buffer.count - start <= most { try fill() }
    return takeRest()
  }

  /// Reads the next piece, and frees the bytes that callers have already received.
  private mutating func fill() throws {
    let piece = try next()
    isAtEnd = piece.isEmpty
    buffer.removeFirst(start)
    start = 0
    buffer += piece
  }

  private mutating func takeRest() -> [UInt8] {
    defer { (buffer, start) = ([], 0) }
    return Array(buffer[start...])
  }
}
