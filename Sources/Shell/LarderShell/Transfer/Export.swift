import Larder
import ShellLanguage

/// Writes the entries of a selection, each on its own line.
struct Export {
  let scope: Scope
  let format: ExportFormat
  let shown: [QueryColumn]
  let writer: Host.Sink
  private(set) var last: Store.Entry?
  private(set) var done = Tally()
  private(set) var piped = PipedKeys()
  private(set) var damaged = 0
  private(set) var negative = 0

  /// - Parameter unfinished: Words that say in which state an interruption leaves the output.
  mutating func run(unfinished: SafeText) throws {
    do {
      let namespaces = try scope.namespaces.map { try scope.session.info(of: $0.name) }
      try writer.write(format.head(namespaces, shown))
      let walked = try scope.walk(showing: "exporting", readingValues: true) { entry, value in
        (entry: entry.withoutExtras, line: line(of: entry, value))
      } _: { items in
        for item in items {
          if let line = item.line {
            try writer.write(line)
            done.add(item.entry)
          } else {
            negative += 1
          }
          last = item.entry
        }
        return true
      }
      (piped, damaged) = (walked.piped, walked.damaged)
      _ = try writer.finish(true)
    } catch is Interruption {
      let place: SafeText = last.map { ", the last \($0.namespace) \($0.key.bytes)" } ?? ""
      throw ShellError.interrupted("\(done.words) written\(place)", hint: unfinished)
    }
  }

  /// The line of an entry; nil for a negative entry, because such an entry has no value.
  private func line(of entry: Store.Entry, _ value: Span<UInt8>) -> [UInt8]? {
    let values =
      shown.isEmpty ? [] : scope.session.queries.columns(shown.map(\.operand), entry, value)
    let columns = zip(shown, values).map { (Column($0.label), $1.cell) }
    return entry.isNegative ? nil : format.line(entry, value, columns)
  }
}
