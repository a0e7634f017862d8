/// A small table by namespace that finds the namespace used last without hashing: most batches have one.
struct ByNamespace<Value> {
  // Apart from the value, which is not an optional, so that neither a comparison nor a loan copies it.
  private var latestID: NamespaceID?
  private var latest: Value
  private var others: [NamespaceID: Value] = [:]

  /// - Parameter unused: any value.
  init(unused: Value) { latest = unused }

  subscript(id: NamespaceID) -> Value? {
    get {
      if latestID == id { return latest }
      return others.isEmpty ? nil : others[id]
    }
    set {
      if latestID == id {
        if let newValue { latest = newValue } else { latestID = nil }
        return
      }
      if !others.isEmpty { others[id] = nil }
      guard let newValue else { return }
      makeRoomForLatest()
      latestID = id
      latest = newValue
    }
  }

  /// Lends a value, which is large, without a copy.
  subscript(id: NamespaceID, default absent: @autoclosure () -> Value) -> Value {
    @inline(__always) _read {
      if latestID == id { yield latest } else { yield others[id] ?? absent() }
    }
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
    change(&latest)
    return true
  }

  /// Changes the value of the namespace used last, and removes all others.
  mutating func keepLatest(_ change: (inout Value) -> Void) {
    if !others.isEmpty { others = [:] }
    if latestID != nil { change(&latest) }
  }

  @inline(__always)
  func contains(_ id: NamespaceID) -> Bool {
    latestID == id || !others.isEmpty && others[id] != nil
  }

  func visit<Failure>(
    _ body: (NamespaceID, Value) throws(Failure) -> Void
  ) throws(Failure) {
    if let latestID { try body(latestID, latest) }
    for (id, value) in others { try body(id, value) }
  }

  private mutating func makeRoomForLatest() {
    if let latestID { others[latestID] = latest }
  }
}

extension ByNamespace: Sendable where Value: Sendable {}
