/// A small table by namespace that finds the last changed namespace without hashing: most batches use only one namespace.
struct ByNamespace<Value: Sendable>: Sendable {
  // Separate from the value, and the value is not optional. So no comparison and no read copies the value.
  private var latestID: NamespaceID?
  private var latest: Value
  private var others: [NamespaceID: Value] = [:]

  /// - Parameter unused: any value; it fills the empty table.
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

  /// Lends a value without a copy: values are large.
  subscript(id: NamespaceID, default absent: @autoclosure () -> Value) -> Value {
    @inline(__always) _read {
      if latestID == id { yield latest } else { yield others[id] ?? absent() }
    }
  }

  /// Changes a value in place; false if the value is absent.
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

  mutating func keepLatest(_ change: (inout Value) -> Void) {
    if !others.isEmpty { others = [:] }
    if latestID != nil { change(&latest) }
  }

  @inline(__always)
  func contains(_ id: NamespaceID) -> Bool {
    latestID == id || !others.isEmpty && others[id] != nil
  }

  func visit<Failure>(_ body: (NamespaceID, Value) throws(Failure) -> Void) throws(Failure) {
    if let latestID { try body(latestID, latest) }
    for (id, value) in others { try body(id, value) }
  }

  private mutating func makeRoomForLatest() {
    if let latestID { others[latestID] = latest }
  }
}
