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

  /// The namespaces, including those without entries.
  private(set) var names: Set<ExactString> = []
  private var facts: [EntryID: Fact] = [:]

  init(_ session: Session, only names: Set<ExactString>) throws {
    let namespaces = try session.store.namespaces().map(\.name)
      .filter { names.contains(ExactString($0)) }.map(session.store.namespace)
    try Scope(all: namespaces, in: session).walk(showing: "looking", readingValues: true) {
      entry, value in
      (
        id: EntryID(entry),
        fact: Fact(size: entry.size, expires: entry.expires, hash: value.bytes.hashValue)
      )
    } _: {
      for item in $0 { facts[item.id] = item.fact }
    }.noteDamage(session.host)
  }

  init(file path: [UInt8], for session: Session) throws {
    var lines = try ExportReader(path, in: session)
    do {
      while let line = try lines.next() {
        switch line {
        case .head: break
        case .namespace(let name, _, _): names.insert(ExactString(name))
        case .entry(let entry):
          names.insert(ExactString(entry.namespace))
          let expires: Timestamp? =
            if case .at(let time) = entry.attributes.expires { time } else { nil }
          facts[EntryID(entry.namespace, entry.key)] = Fact(
            size: entry.value.count, expires: expires, hash: entry.value.hashValue)
        }
      }
    } catch let mistake as ExportReader.Mistake {
      throw ShellError(
        .usage, "\(lines.name):\(mistake.line):\(mistake.column): \(mistake.reason)",
        hint: "diff takes a file that export has written")
    }
  }

  struct Change {
    let kind: ChangeKind
    let namespace: String
    let key: [UInt8]
    let before: Int?
    let after: Int?
  }

  func changes(
    to later: StoreContent, now: Timestamp, pause: () throws -> Void
  ) throws -> [Change] {
    let ids = try Set(facts.keys).union(later.facts.keys).sorted(pausing: pause) { a, b in
      a.namespace == b.namespace
        ? a.key.lexicographicallyPrecedes(b.key)
        : a.namespace.string.utf8.lexicographicallyPrecedes(b.namespace.string.utf8)
    }
    return ids.compactMap { id in
      let (before, after) = (facts[id], later.facts[id])
      let kind: ChangeKind
      switch (before, after) {
      case (nil, _): kind = .added
      case (let before?, nil):
        kind = before.expires.map { $0 <= now } ?? false ? .expired : .removed
      case (let before?, let after?):
        guard before.size != after.size || before.hash != after.hash else { return nil }
        kind = .changed
      }
      return Change(
        kind: kind, namespace: id.namespace.string, key: id.key, before: before?.size,
        after: after?.size)
    }
  }
}
