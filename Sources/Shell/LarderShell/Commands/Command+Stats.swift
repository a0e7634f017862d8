import Larder
import ShellLanguage

import struct LarderShared.SharedStatus
import struct LarderShared.ValueStamp

extension Command {
  static let stats = Command(
    "stats", .store, .reads, "Shows space, durability, hits, evictions and readers.",
    namespaces: .oneOrAll,
    options: [.value("--every", .duration, "repeat at this interval")],
    plain: ["": "namespace fact value"],
    examples: [
      Example("stats", "the store"),
      Example("stats @departures --every 2s", "a namespace as it changes"),
    ],
    run: showStatistics)

  private static func showStatistics(_ call: Invocation, in session: Session) throws -> Outcome {
    let only = call.meansStore ? nil : try session.namespace(call.namespaces).name
    let interval = call.duration("--every")
    guard interval == nil || session.output.presentation.mode != .json else {
      throw ShellError(
        .usage, "--every has no end, and json is one document", hint: "use `-o jsonl`")
    }
    guard interval != .zero else {
      throw ShellError(
        .badTime, "--every needs a time between two answers", at: call.range("--every"),
        hint: "use `--every 2s`")
    }
    var isFirst = true
    while true {
      // A person sees where the next look begins.
      if !isFirst, session.output.isTable {
        try session.output.writeLines([
          "", "\(session.wallClock.timeOfDay(session.clock.now.unix))",
        ])
      }
      isFirst = false
      let report = StatisticsReport(
        try session.store.statistics(), try session.store.limits(), only: only,
        shared: try SharedStatus(of: session.store)?.words,
        http: try HTTPCounts.read(from: session.store))
      for reply in report.replies(for: session.output.presentation) {
        try session.output.answer(reply)
      }
      guard let interval else { return .done }
      guard try session.host.pause(interval) else {
        return .exitCode(ShellError.Code.interrupted.exitCode)
      }
    }
  }
}

/// How HTTP caches answered requests, as they have saved it in the namespace `http-statistics`: under the name of each cache's
/// namespace a line for each count.
struct HTTPCounts {
  let namespace: String
  let counts: [(name: String, count: Int)]

  /// The most namespaces, and counts of each, that are read.
  private static let most = 100

  static func read(from store: Store) throws -> [HTTPCounts] {
    let saved = store.namespace("http-statistics")
    return try saved.page(limit: most).items.compactMap { entry in
      // A look at the statistics is no read, which they would count.
      guard let name = entry.key.string, entry.size < 1 << 16,
        let text = try saved.lookUp(
          entry.key.bytes, { String(validating: $1.bytes, as: UTF8.self) })
          ?? nil
      else { return nil }
      let counts = text.split(separator: "\n").prefix(most).compactMap { line in
        line.lastIndex(of: " ").flatMap { space in
          Int(line[line.index(after: space)...]).map { (String(line[..<space]), $0) }
        }
      }
      return counts.isEmpty ? nil : HTTPCounts(namespace: name, counts: counts)
    }
  }
}

extension Command {
  static let shared = Command(
    "shared", .store, .reads, "Shows what the store knows of a tier that machines share.",
    examples: [Example("shared", "without a connection to the tier")],
    run: showShared)

  private static func showShared(_ call: Invocation, in session: Session) throws -> Outcome {
    let status = try SharedStatus(of: session.store)
    // Without a tier the document has the same fields.
    let facts: [(String, Cell)] = [
      ("application", status?.application.map { .text($0) } ?? .null),
      ("state", .text(status?.state ?? "none")),
      ("reader", status?.reader.map { .text("process \($0)") } ?? .null),
      ("position", status?.applied.map { .text($0.description) } ?? .null),
      ("newest", status?.head.map { .text($0.description) } ?? .null),
      ("behind", status.map { .span($0.behind.milliseconds) } ?? .null),
      ("outbox", status.map { .number($0.waitingRemovals) } ?? .null),
      ("histories", status.map { .number(Int(clamping: $0.epoch)) } ?? .null),
      ("namespaces", .list(status?.namespaces.map { .text($0) } ?? [])),
    ]
    try session.output.answer(
      Reply(
        .object(facts.map { Column($0.0) }, facts.map(\.1)),
        sentences: status == nil ? ["this store has no cache that machines share"] : [],
        isLong: true))
    return .done
  }
}

extension SharedStatus {
  fileprivate var state: String {
    if isConfirmed { return "confirmed" }
    return reader == nil ? "unconfirmed: no process reads the log" : "unconfirmed: out of touch"
  }

  /// One line for `stats`.
  var words: String {
    var words = "\(application ?? "never reached"), \(state)"
    if waitingRemovals > 0 { words += ", \(waitingRemovals) removals wait" }
    return words
  }

  /// The version of a copy, and how current it is, for `info`.
  func cell(for entry: Store.Entry) -> Cell {
    guard let version = entry.metadata.flatMap({ ValueStamp(bytes: $0) })?.version else {
      return .text("not from the tier")
    }
    return .text("\(version), \(isConfirmed ? "confirmed" : "unconfirmed")")
  }
}

extension Command {
  static let report = Command(
    "report", .store, .reads, "Writes a page that shows the store, to be read in a browser.",
    namespaces: .oneOrAll, parameters: [.one("FILE", .file)],
    options: [.flag("--force", "replace an existing file")],
    plain: ["": "file bytes"],
    examples: [
      Example("report store.html", "the whole store"),
      Example("report articles.html @articles --force", "a namespace"),
    ],
    run: writeReport)

  private static func writeReport(_ call: Invocation, in session: Session) throws -> Outcome {
    let name = call.bytes("FILE")!
    let file = try LocalFile(name, of: session)
    let only = call.meansStore ? nil : try session.namespace(call.namespaces).name
    // That the file may not be written shows before everything is looked at.
    let writer = try file.writer(replaces: call.has("--force"))
    let page: [UInt8]
    do {
      page = Array(try HTMLReport(of: session, only: only).page().utf8)
    } catch is Interruption {
      throw ShellError(.interrupted, "interrupted: no file was made", hint: nil)
    }
    try writer.write(page)
    try writer.finish()
    try session.output.acknowledge(
      Reply(
        [
          Column("file", holdsBytes: true): .bytes(Array(file.path.utf8)),
          "bytes": .size(page.count),
        ],
        sentences: ["wrote \(Wording.size(page.count)) to \(name)"]))
    return .done
  }
}
