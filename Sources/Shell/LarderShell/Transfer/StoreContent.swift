import Larder
import LarderSystem
import ShellLanguage

/// The facts of a store or an export that are needed to find changes.
struct StoreContent {
  struct Fact: Hashable {
    var size: Int
    var expires: Timestamp?
    /// A hash of the value. Hashes of different processes cannot be compared.
    var hash: Int
  }

  /// The entries by namespace. A namespace without entries has an empty dictionary.
  private(set) var entries: [ExactString: [[UInt8]: Fact]] = [:]

  init(_ session: Session, only names: Set<ExactString>) throws {
    for name in names { entries[name] = [:] }
    let namespaces = try session.store.namespaces().map(\.name)
      .filter { names.contains(ExactString($0)) }.map(session.store.namespace)
    try Scope(all: namespaces, in: session).walk(showing: "looking", readingValues: true) {
      entry, value in
      (
        name: ExactString(entry.namespace), key: entry.key.bytes,
        fact: Fact(size: entry.size, expires: entry.expires, hash: value.bytes.hashValue)
      )
    } _: { items in
      for item in items { entries[item.name, default: [:]][item.key] = item.fact }
      return true
    }
  }

  init(_ file: LocalFile, for session: Session) throws {
    var lines = LineSource(input: try file.reader(), name: SafeText(file.path))
    var hasHead = false
    func wrong(_ reason: SafeText, line: Int, column: Int) -> ShellError {
      ShellError(
        .usage, "\(file.path):\(line):\(column): \(reason)",
        hint: "diff takes a file that export has written")
    }
    while let line = try lines.line() {
      try session.host.checkInterruption()
      guard !line.isEmpty else { continue }
      do throws(ImportLine.ParseError) {
        guard hasHead else {
          try ImportLine.head(line)
          hasHead = true
          continue
        }
        switch try ImportLine(line) {
        case .head: break
        case .namespace(let name, _, _):
          let name = ExactString(name)
          entries[name] = entries[name] ?? [:]
        case .entry(let entry):
          let expires: Timestamp? =
            if case .at(let time) = entry.attributes.expires { time } else { nil }
          entries[ExactString(entry.namespace), default: [:]][entry.key] = Fact(
            size: entry.value.count, expires: expires, hash: entry.value.hashValue)
        }
      } catch {
        throw wrong(error.reason, line: lines.count, column: error.offset + 1)
      }
    }
    guard hasHead else { throw wrong(ImportLine.noHead, line: 1, column: 1) }
  }

  struct Change {
    enum Kind: String { case added, changed, removed, expired }

    let kind: Kind
    let namespace: String
    let key: [UInt8]
    let before: Int?
    let after: Int?
  }

  func changes(
    to later: StoreContent, now: Timestamp, pause: () throws -> Void
  ) throws -> [Change] {
    var changes: [Change] = []
    let names = Set(entries.keys).union(later.entries.keys)
    for name in names.sorted(by: { Key($0.string) < Key($1.string) }) {
      let (old, new) = (entries[name] ?? [:], later.entries[name] ?? [:])
      let keys = try Set(old.keys).union(new.keys)
        .sorted(pausing: pause) { $0.lexicographicallyPrecedes($1) }
      for key in keys {
        let (before, after) = (old[key], new[key])
        let kind: Change.Kind
        switch (before, after) {
        case (nil, _): kind = .added
        case (let before?, nil):
          kind = before.expires.map { $0 <= now } ?? false ? .expired : .removed
        case (let before?, let after?):
          guard before.size != after.size || before.hash != after.hash else { continue }
          kind = .changed
        }
        changes.append(
          Change(
            kind: kind, namespace: name.string, key: key, before: before?.size, after: after?.size))
      }
    }
    return changes
  }
}
