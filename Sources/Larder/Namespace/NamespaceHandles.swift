/// The handles of a store by name, each as long as something holds it or it has something to remember.
struct NamespaceHandles {
  private static let fewest = 64

  private var byName: [String: NamespaceHandle] = [:]
  /// With so many handles those are released that nothing holds. Twice as many as are left then, so that it costs O(1).
  private var most = Self.fewest

  var all: [NamespaceHandle] { Array(byName.values) }

  /// Those whose reads the store has not counted yet.
  var withCounts: [NamespaceHandle] {
    var found: [NamespaceHandle] = []
    for handle in byName.values where handle.hasUnmerged { found.append(handle) }
    return found
  }

  /// The handle of a name, the same for all who hold it.
  mutating func handle(for name: String) -> NamespaceHandle {
    if let handle = byName[name] { return handle }
    if byName.count >= most {
      releaseUnused()
      most = max(2 * byName.count, Self.fewest)
    }
    let handle = NamespaceHandle(name: name)
    byName[name] = handle
    return handle
  }

  /// O(names).
  private mutating func releaseUnused() {
    var unused: [String] = []
    var index = byName.startIndex
    while index != byName.endIndex {
      if isKnownUniquelyReferenced(&byName.values[index]), !byName.values[index].isNeeded {
        unused.append(byName.keys[index])
      }
      byName.formIndex(after: &index)
    }
    for name in unused { byName[name] = nil }
  }
}
