import LarderSystem

extension ZoneRules {
  struct Flaw: Error, Hashable {
    let reason: String

    static let short = Flaw(reason: "it ends too early")
  }

  /// Reads a file in the format of RFC 9636: `TZif`, version 1 to 4.
  init(file bytes: [UInt8]) throws(Flaw) {
    let file = bytes.span
    var table = try Table(file, at: 0, timeWidth: 4)
    let isLong = table.version >= UInt8(ascii: "2")
    // Skips the first table, which has 32-bit times for old readers. The second table has 64-bit times.
    if isLong { table = try Table(file, at: table.end, timeWidth: 8) }
    self = try table.rules(in: file)
    if isLong { later = try Self.footer(file.extracting(table.end..<file.count).copied) }
  }

  /// The rule in the last line of the file; nil if the line is empty.
  private static func footer(_ rest: [UInt8]) throws(Flaw) -> YearlyChanges? {
    let newline = UInt8(ascii: "\n")
    guard let first = rest.first else { throw .short }
    guard first == newline else { throw Flaw(reason: "it has no last line") }
    guard let end = rest.dropFirst().firstIndex(of: newline) else { throw .short }
    let line = rest[1..<end]
    if line.isEmpty { return nil }
    guard let changes = YearlyChanges(line) else {
      throw Flaw(reason: "its rule \(String(decoding: line, as: UTF8.self)) cannot be read")
    }
    return changes
  }

  private struct Table {
    let version: UInt8
    private let timeWidth: Int
    /// The place in the file after the header of the table.
    private let start: Int
    /// The counts in the header, in the file's order: the third of leap seconds, the next two of times and kinds of time.
    private let counts: [Int]

    private var times: Int { counts[3] }
    private var kinds: Int { counts[4] }

    init(_ file: Span<UInt8>, at place: Int, timeWidth: Int) throws(Flaw) {
      guard file.count - place >= 4 else { throw .short }
      guard file.extracting(place..<place + 4).copied.elementsEqual("TZif".utf8) else {
        throw Flaw(reason: "it does not begin with TZif")
      }
      guard file.count - place >= 44 else { throw .short }
      version = file[place + 4]
      self.timeWidth = timeWidth
      start = place + 44
      counts = (0..<6).map { Int(file.bigEndian(at: place + 20 + 4 * $0, as: UInt32.self)) }
    }

    var end: Int {
      let widths = [1, 1, timeWidth + 4, timeWidth + 1, 6, 1]
      return zip(counts, widths).reduce(start) { $0 + $1.0 * $1.1 }
    }

    func rules(in file: Span<UInt8>) throws(Flaw) -> ZoneRules {
      // Checks the size before reserving memory for the table, because a damaged file may claim any size.
      guard end <= file.count else { throw .short }
      guard counts[2] == 0 else { throw Flaw(reason: "it counts leap seconds") }
      guard (1...256).contains(kinds) else { throw Flaw(reason: "it has \(kinds) kinds of time") }
      var changes: [Int64] = []
      for index in 0..<times {
        let place = start + index * timeWidth
        let moment =
          timeWidth == 4
          ? Int64(file.bigEndian(at: place, as: Int32.self))
          : file.bigEndian(at: place, as: Int64.self)
        guard changes.last.map({ $0 < moment }) ?? true else {
          throw Flaw(reason: "its times are not in order")
        }
        // Refuses times near the limits of 64 bits, because sums would overflow. RFC 9636 advises against times before -2^59.
        guard (-(1 << 60)...1 << 60).contains(moment) else {
          throw Flaw(reason: "\(moment) seconds are not a time")
        }
        changes.append(moment)
      }
      let kindOfTimes = start + times * timeWidth
      var known: [Int64] = []
      for index in 0..<kinds {
        let offset = Int64(file.bigEndian(at: kindOfTimes + times + 6 * index, as: Int32.self))
        guard ZoneRules.possibleOffsets.contains(offset) else {
          throw Flaw(reason: "\(offset) seconds are not an offset")
        }
        known.append(offset)
      }
      // The first kind of time applies before the first change.
      var offsets = [known[0]]
      for place in kindOfTimes..<kindOfTimes + times {
        let kind = Int(file[place])
        guard known.indices.contains(kind) else { throw Flaw(reason: "it has no kind \(kind)") }
        offsets.append(known[kind])
      }
      return ZoneRules(changes: changes, offsets: offsets)
    }
  }
}
