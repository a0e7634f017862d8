import Foundation

/// A sequence of requests. Keys are numbers, given in the order of their first request.
struct Trace: Sendable {
  var name: String
  var keys = 0
  var requests: [Int32] = []
  /// The size of each request in bytes. Empty if the trace does not contain sizes.
  var sizes: [Int32] = []
  /// The capacity for which the trace was made; nil if several capacities are to be tried.
  var capacity: Int?
  /// For each request, the position of the next request of the same key, or `Request.never`.
  private(set) var nextRequests: [Int32] = []

  init(name: String, requests: [Int32], sizes: [Int32] = []) {
    self.name = name
    self.requests = requests
    self.sizes = sizes
    keys = Int(requests.max() ?? -1) + 1
    nextRequests = Array(repeating: Int32(Request.never), count: requests.count)
    var latest = nextRequests.isEmpty ? [] : Array(repeating: Int32(Request.never), count: keys)
    for position in requests.indices.reversed() {
      nextRequests[position] = latest[Int(requests[position])]
      latest[Int(requests[position])] = Int32(position)
    }
  }

  /// Reads a trace from a file, which may be compressed by gzip. Each line has `key` or `key size`.
  init(contentsOf file: URL) throws {
    var lines = LineParser()
    try TraceFile(file).read { chunk in try lines.parse(chunk) }
    try lines.finish()
    guard lines.sizes.isEmpty || lines.sizes.count == lines.requests.count else {
      throw TraceError(text: "\(file.path): some lines have a size and some have none")
    }
    let name = file.lastPathComponent
    self.init(
      name: name.hasSuffix(".gz") ? String(name.dropLast(3)) : name, requests: lines.requests,
      sizes: lines.sizes)
  }

  /// A part of the trace, as a new trace.
  func slice(_ range: Range<Int>, named name: String) -> Trace {
    var dense: [Int32: Int32] = [:]
    let part = requests[range].map { key in
      let number = dense[key] ?? Int32(dense.count)
      dense[key] = number
      return number
    }
    return Trace(name: name, requests: part, sizes: sizes.isEmpty ? [] : Array(sizes[range]))
  }
}

struct TraceError: Error, CustomStringConvertible {
  var text: String
  var description: String { text }
}

/// Splits blocks of bytes into lines, and gives numbers to the keys.
struct LineParser {
  private(set) var requests: [Int32] = []
  private(set) var sizes: [Int32] = []
  private var numbers: [[UInt8]: Int32] = [:]
  private var rest: [UInt8] = []

  mutating func parse(_ chunk: [UInt8]) throws {
    var start = 0
    while let end = chunk[start...].firstIndex(of: UInt8(ascii: "\n")) {
      if rest.isEmpty {
        try add(chunk[start..<end])
      } else {
        rest += chunk[start..<end]
        try finish()
      }
      start = end + 1
    }
    rest += chunk[start...]
  }

  /// Reads the last line if it does not end with a newline.
  mutating func finish() throws {
    let line = rest
    rest = []
    try add(line[...])
  }

  private mutating func add(_ line: ArraySlice<UInt8>) throws {
    let fields = line.split(maxSplits: 1) { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    guard let field = fields.first else { return }
    let key = Array(field)
    let number = numbers[key] ?? Int32(numbers.count)
    numbers[key] = number
    requests.append(number)
    if fields.count > 1 {
      guard let size = Int32(String(decoding: fields[1], as: UTF8.self)), size >= 0 else {
        throw TraceError(
          text: "line \(requests.count): a size must be a whole number of bytes, up to 2 GiB")
      }
      sizes.append(size)
    }
  }
}
