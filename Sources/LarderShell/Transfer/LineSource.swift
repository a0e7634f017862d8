import ShellLanguage

/// The lines of a file or of standard input, one at a time.
struct LineSource {
  /// The size in bytes; nil if unknown.
  let size: Int?
  private let next: () throws -> [UInt8]
  private let item: (() throws -> [UInt8]?)?
  private var buffer: [UInt8] = []
  private var start = 0
  private var searched = 0
  private var isAtEnd = false
  /// The number of lines read.
  private(set) var count = 0
  /// The number of bytes read.
  private(set) var bytes = 0

  init(_ file: LocalFile) throws {
    let reader = try file.reader()
    size = reader.size
    next = reader.next
    item = nil
  }

  init(_ input: Host.Input) {
    size = nil
    next = { [] }
    item = { try input.item(.newline) }
  }

  /// The next line without its end.
  mutating func line() throws -> [UInt8]? {
    let line = try item.map { try $0() } ?? lineOfFile()
    guard var line else { return nil }
    count += 1
    bytes += line.count + 1
    if line.last == .carriageReturn { line.removeLast() }
    return line
  }

  private mutating func lineOfFile() throws -> [UInt8]? {
    while true {
      if let end = buffer[searched...].firstIndex(of: .newline) {
        defer {
          start = end + 1
          searched = start
        }
        return Array(buffer[start..<end])
      }
      searched = buffer.count
      if isAtEnd {
        guard start < buffer.count else { return nil }
        defer { start = buffer.count }
        return Array(buffer[start...])
      }
      let more = try next()
      isAtEnd = more.isEmpty
      buffer.removeFirst(start)
      searched -= start
      start = 0
      buffer += more
    }
  }
}
