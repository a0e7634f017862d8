import Larder

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
      guard let name = entry.key.string, entry.size < 1 << 16,
        let text: String = try saved.value(for: entry.key)
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
