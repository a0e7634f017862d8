import Larder
import ShellLanguage

/// Writes the entries of a selection, each on its own line.
struct Export {
  private let scope: Scope
  private let format: ExportFormat
  private let shown: [QueryColumn]
  private let writer: Host.Sink
  private var last: Store.Entry?
  private(set) var done = Tally()
  private(set) var damaged = 0
  private(set) var negative = 0

  private var session: Session { scope.session }

  init(
    of scope: Scope, as format: ExportFormat, showing shown: [QueryColumn], to writer: Host.Sink
  ) {
    (self.scope, self.format, self.shown, self.writer) = (scope, format, shown, writer)
  }

  /// - Parameter unfinished: Words that say in which state an interruption leaves the output.
  mutating func run(unfinished: SafeText) throws {
    do {
      let namespaces = try scope.namespaces.map { try session.info(of: $0.name) }
      try writer.write(format.head(namespaces, shown))
      damaged = try scope.walk(showing: "exporting", readingValues: true, line) {
        try write($0)
        return true
      }.damaged
      _ = try writer.finish(true)
    } catch is Interruption {
      let place: SafeText = last.map { ", the last \($0.namespace) \($0.key.bytes)" } ?? ""
      throw ShellError.interrupted("\(done.words) written\(place)", hint: unfinished)
    }
  }

  private func line(
    of entry: Store.Entry, _ value: Span<UInt8>
  ) throws -> (entry: Store.Entry, line: [UInt8]?)? {
    let cells =
      shown.isEmpty
      ? []
      : session.queries.columns(shown.map(\.operand), entry, value).map(\.cell)
    let columns = zip(shown, cells).map { (Column($0.label), $1) }
    let line = entry.isNegative ? nil : format.line(entry, value, columns)
    return (entry.withoutExtras, line)
  }

  private mutating func write(_ items: [(entry: Store.Entry, line: [UInt8]?)]) throws {
    for item in items {
      guard let line = item.line else {
        negative += 1
        continue
      }
      try writer.write(line)
      done.add(item.entry)
    }
    last = items.last?.entry
  }
}
