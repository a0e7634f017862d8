/// A small table by namespace that finds the namespace used last without hashing: most batches have one.
struct ByNamespace<Value> {
  // Apart from the value, so that a comparison does not copy it.
  private var latestID: NamespaceID?
  private var latest: Value?
  private var others: [NamespaceID: Value] = [:]

  subscript(id: NamespaceID) -> Value? {
    get {
      if latestID == id { return latest }
      return others.isEmpty ? nil : others[id]
    }
    set {
      if latestID == id {
        latest = newValue
        if newValue == nil { latestID = nil }
        return
      }
      if !others.isEmpty { others[id] = nil }
      guard let newValue else { return }
      makeRoomForLatest()
      latestID = id
      latest = newValue
    }
  }

  /// Reads a value without a copy of all of it; nil if it is absent.
  @inline(__always)
  func read<Result>(_ id: NamespaceID, _ body: (Value) -> Result) -> Result? {
    if latestID == id { return body(latest!) }
    return others.isEmpty ? nil : others[id].map(body)
  }

  /// Changes a value in place.
  ///
  /// - Returns: false if it is absent.
  mutating func update(_ id: NamespaceID, _ change: (inout Value) -> Void) -> Bool {
    if latestID != id {
      guard let value = others.removeValue(forKey: id) else { return false }
      makeRoomForLatest()
      latestID = id
      latest = value
    }
    change(&latest!)
    return true
  }

  /// Changes the value of the namespace used last, and removes all others.
  mutating func keepLatest(_ change: (inout Value) -> Void) {
    if !others.isEmpty { others = [:] }
    if latest != nil { change(&latest!) }
  }

  @inline(__always)
  func contains(_ id: NamespaceID) -> Bool {
    latestID == id || !others.isEmpty && others[id] != nil
  }

  func visit(
    _ body: (NamespaceID, Value) throws(LarderError) -> Void
  ) throws(LarderError) {
    if let latestID, let latest { try body(latestID, latest) }
    for (id, value) in others { try body(id, value) }
  }

  private mutating func makeRoomForLatest() {
    if let latestID, let latest { others[latestID] = latest }
  }
}

extension ByNamespace: Sendable where Value: Sendable {}
