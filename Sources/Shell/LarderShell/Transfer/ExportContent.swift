import Larder
import LarderSystem
import ShellLanguage

/// The facts of the entries of an export that are needed to find changes.
struct ExportContent {
  private struct Fact {
    var size: Int
    var expires: Timestamp?
    /// A hash of the value. Hashes of different processes cannot be compared.
    var hash: Int
  }

  /// The namespaces, including those without entries.
  private(set) var names: Set<ExactString> = []
  private var facts: [EntryID: Fact] = [:]

  init(of path: [UInt8], for session: Session) throws {
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
      throw lines.error(mistake, hint: "diff takes a file that export has written")
    }
  }

  struct Change {
    let kind: ChangeKind
    let id: EntryID
    var before: Int?
    var after: Int?
  }

  /// The changes after the export in the namespaces of the export, in the order of their namespaces and keys.
  func changes(in session: Session) throws -> [Change] {
    let namespaces = try session.store.namespaces().map(\.name)
      .filter { names.contains(ExactString($0)) }.map(session.store.namespace)
    var (left, changes) = (facts, [Change]())
    try Scope(all: namespaces, in: session).walk(showing: "looking", readingValues: true) {
      entry, value -> Change? in
      guard entry.hasValue else { return nil }
      let id = EntryID(entry)
      guard let before = left.removeValue(forKey: id) else {
        return Change(kind: .added, id: id, after: entry.size)
      }
      guard before.size != entry.size || before.hash != value.bytes.hashValue else { return nil }
      return Change(kind: .changed, id: id, before: before.size, after: entry.size)
    } _: {
      changes += $0
    }.noteDamage(session.host)
    for (id, before) in left {
      let isExpired = before.expires.map { $0 <= session.clock.now } ?? false
      changes.append(Change(kind: isExpired ? .expired : .removed, id: id, before: before.size))
    }
    return try changes.sorted(pausing: session.host.checkInterruption) { a, b in
      a.id.namespace == b.id.namespace
        ? a.id.key.lexicographicallyPrecedes(b.id.key)
        : a.id.namespace.string.utf8.lexicographicallyPrecedes(b.id.namespace.string.utf8)
    }
  }
}
