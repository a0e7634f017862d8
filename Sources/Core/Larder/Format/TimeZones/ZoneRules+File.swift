import LarderSystem

extension ZoneRules {
  struct Flaw: Error, Hashable {
    let reason: String

    static let short = Flaw(reason: "it ends too early")
  }

  /// Reads a file in the format of RFC 9636: `TZif`, version 1 to 4.
  init(file bytes: [UInt8]) throws(Flaw) {
    var file = BigEndianReader(bytes)
    var head = try Head(&file)
    let isLong = head.version >= UInt8(ascii: "2")
    if isLong {
      // Skips the first table, which has 32-bit times for old readers. The second table has 64-bit times.
      try file.skip(head.count(timeWidth: 4))
      head = try Head(&file)
    }
    self = try Self.table(head, timeWidth: isLong ? 8 : 4, &file)
    if isLong { later = try Self.footer(&file) }
  }

  private struct Head {
    let version: UInt8
    let universal, standard, leaps, times, types, letters: Int

    init(_ file: inout BigEndianReader) throws(Flaw) {
      guard try file.bytes(4).elementsEqual("TZif".utf8) else {
        throw Flaw(reason: "it does not begin with TZif")
      }
      version = try file.bytes(1).first!
      try file.skip(15)
      universal = Int(try file.number(4) & 0xFFFF_FFFF)
      standard = Int(try file.number(4) & 0xFFFF_FFFF)
      leaps = Int(try file.number(4) & 0xFFFF_FFFF)
      times = Int(try file.number(4) & 0xFFFF_FFFF)
      types = Int(try file.number(4) & 0xFFFF_FFFF)
      letters = Int(try file.number(4) & 0xFFFF_FFFF)
    }

    /// The number of bytes of the table after the header.
    func count(timeWidth: Int) -> Int {
      times * (timeWidth + 1) + types * 6 + letters + leaps * (timeWidth + 4) + standard + universal
    }
  }

  private static func table(
    _ head: Head, timeWidth: Int, _ file: inout BigEndianReader
  ) throws(Flaw) -> ZoneRules {
    // Checks the size before reserving memory for the table, because a damaged file may claim any size.
    guard head.count(timeWidth: timeWidth) <= file.left else { throw .short }
    guard head.leaps == 0 else { throw Flaw(reason: "it counts leap seconds") }
    guard (1...256).contains(head.types) else {
      throw Flaw(reason: "it has \(head.types) kinds of time")
    }
    var changes: [Int64] = []
    for _ in 0..<head.times {
      let moment = try file.number(timeWidth)
      guard changes.last.map({ $0 < moment }) ?? true else {
        throw Flaw(reason: "its times are not in order")
      }
      // Sums with times near the limits of 64 bits would overflow, so such times are refused. RFC 9636 advises at least -2^59.
      guard (-(1 << 60)...1 << 60).contains(moment) else {
        throw Flaw(reason: "\(moment) seconds are not a time")
      }
      changes.append(moment)
    }
    let kinds = try file.bytes(head.times)
    var known: [Int64] = []
    for _ in 0..<head.types {
      let offset = try file.number(4)
      guard possibleOffsets.contains(offset) else {
        throw Flaw(reason: "\(offset) seconds are not an offset")
      }
      known.append(offset)
      try file.skip(2)
    }
    // The first kind of time applies before the first change.
    var offsets = [known[0]]
    for kind in kinds {
      guard known.indices.contains(Int(kind)) else { throw Flaw(reason: "it has no kind \(kind)") }
      offsets.append(known[Int(kind)])
    }
    try file.skip(head.letters + head.standard + head.universal)
    return ZoneRules(changes: changes, offsets: offsets)
  }

  /// The rule in the last line of the file; nil if the line is empty.
  private static func footer(_ file: inout BigEndianReader) throws(Flaw) -> YearlyChanges? {
    let newline = UInt8(ascii: "\n")
    guard try file.bytes(1).first == newline else { throw Flaw(reason: "it has no last line") }
    let line = file.rest.prefix { $0 != newline }
    guard line.count < file.left else { throw .short }
    if line.isEmpty { return nil }
    guard let changes = YearlyChanges(line) else {
      throw Flaw(reason: "its rule \(String(decoding: line, as: UTF8.self)) cannot be read")
    }
    return changes
  }
}

/// Reads bytes from the start. Numbers are big-endian and signed.
private struct BigEndianReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  var left: Int { rest.count }

  mutating func bytes(_ count: Int) throws(ZoneRules.Flaw) -> ArraySlice<UInt8> {
    guard count <= rest.count else { throw .short }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  mutating func skip(_ count: Int) throws(ZoneRules.Flaw) { _ = try bytes(count) }

  mutating func number(_ width: Int) throws(ZoneRules.Flaw) -> Int64 {
    let bytes = try bytes(width)
    var number: Int64 = bytes.first! < 0x80 ? 0 : -1
    for byte in bytes { number = number << 8 | Int64(byte) }
    return number
  }
}
