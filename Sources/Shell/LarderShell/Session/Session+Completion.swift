import Larder
package import ShellLanguage

extension Session {
  private static let mostFound = 500
  private static let mostTime = Duration.milliseconds(200)

  /// Finds names in a short time. After an error there are no candidates, because a message would appear in the typed line.
  package func candidates(for request: Completer.Request) -> Completer.Found {
    do {
      switch request {
      case .namespaces(let prefix):
        let names = try store.namespaces().map { Array($0.name.utf8) }
        return (names.filter { $0.starts(with: prefix) }, false)
      case .keys(let choice, let prefix): return try keys(with: prefix, in: namespaces(choice))
      case .files(let prefix): return try LocalFile.completions(of: prefix, atMost: Self.mostFound)
      case .fields(let choice): return (try fields(of: namespaces(choice)), false)
      }
    } catch { return ([], false) }
  }

  private func keys(
    with prefix: [UInt8], in namespaces: [Store.Namespace]
  ) throws -> Completer.Found {
    var keys: Set<[UInt8]> = []
    var isCut = false
    let start = ContinuousClock.now
    for namespace in namespaces {
      try namespace.scanEntries(prefix: prefix) { entry, _ in
        isCut = keys.count >= Self.mostFound || ContinuousClock.now - start > Self.mostTime
        if !isCut { keys.insert(entry.key.bytes) }
        return !isCut
      }
    }
    if isCut {
      // The first and the last key of each namespace are added, so that the found keys have the same common prefix as all keys.
      for namespace in namespaces {
        let most = ContinuousClock.now - start > Self.mostTime * 2 ? 1 : Self.mostFound
        let last = try namespace.lastKeys(prefix: prefix, before: nil, atMost: most)
        // If the last `most` keys have expired, a further search could take long. So the last key is a candidate, too.
        let substitute = last.count < most ? nil : last.first
        let living =
          try last.first { try namespace.entry(for: $0).map { $0.state != .expired } ?? false }
          ?? substitute
        if let living { keys.insert(living) }
        keys.formUnion(try namespace.page(limit: 1, prefix: prefix).items.map(\.key.bytes))
      }
    }
    return (keys.sorted { $0.lexicographicallyPrecedes($1) }, isCut)
  }

  private static let mostValues = 200
  private static let mostSampleTime = Duration.milliseconds(50)
  private static let largestValue = 100_000

  /// The names of the fields of objects in a few values, such as `a.b`, in order.
  private func fields(of namespaces: [Store.Namespace]) throws -> [[UInt8]] {
    var names: Set<String> = []
    let end = ContinuousClock.now + Self.mostSampleTime
    for namespace in namespaces
    where ContinuousClock.now < end + (names.isEmpty ? Self.mostTime : .zero) {
      var values = 0
      try namespace.scanReadable { _, value in
        if value.count <= Self.largestValue {
          values += 1
          names.formUnion(JSONText.paths(of: value.bytes))
        }
        return values < Self.mostValues && ContinuousClock.now < end
      }
    }
    return names.sorted().map { Array($0.utf8) }
  }
}
