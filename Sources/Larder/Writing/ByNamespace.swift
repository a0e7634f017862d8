/// A small table by namespace that finds the namespace used last without hashing: most batches have one.
struct ByNamespace<Value> {
  private var latest: (id: NamespaceID, value: Value)?
  private var others: [NamespaceID: Value] = [:]

  subscript(id: NamespaceID) -> Value? {
    get {
      if let latest, latest.id == id { return latest.value }
      return others.isEmpty ? nil : others[id]
    }
    set {
      if latest?.id == id {
        latest = newValue.map { (id, $0) }
        return
      }
      if !others.isEmpty { others[id] = nil }
      guard let newValue else { return }
      makeRoomForLatest()
      latest = (id, newValue)
    }
  }

  /// Changes a value in place.
  ///
  /// - Returns: false if there is none.
  mutating func update(_ id: NamespaceID, _ change: (inout Value) -> Void) -> Bool {
    if latest?.id != id {
      guard let value = others.removeValue(forKey: id) else { return false }
      makeRoomForLatest()
      latest = (id, value)
    }
    change(&latest!.value)
    return true
  }

  func contains(_ id: NamespaceID) -> Bool {
    latest?.id == id || !others.isEmpty && others[id] != nil
  }

  func visit(
    _ body: (NamespaceID, Value) throws(LarderError) -> Void
  ) throws(LarderError) {
    if let latest { try body(latest.id, latest.value) }
    for (id, value) in others { try body(id, value) }
  }

  private mutating func makeRoomForLatest() {
    if let latest { others[latest.id] = latest.value }
  }
}
