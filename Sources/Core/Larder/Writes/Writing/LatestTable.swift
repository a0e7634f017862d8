/// A small table that finds the last used value without hashing, because most batches use only one namespace.
struct LatestTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  // Key and value are separate, and the value is not optional, so that no comparison and no read copies the value.
  private var latestKey: Key?
  private var latest: Value
  private var others: [Key: Value] = [:]

  /// - Parameter unused: any value, which fills ``latest`` while the table is empty.
  init(unused: Value) { latest = unused }

  /// Sets the value of a key, which becomes the value that was used last; nil removes the key.
  mutating func set(_ key: Key, to value: Value?) {
    if latestKey == key { latestKey = nil } else if !others.isEmpty { others[key] = nil }
    if let value { setLatest(key, value) }
  }

  /// A property of the value of a key. The closure lets the compiler read this property alone; a subscript copies the value.
  @inline(__always)
  func read<Property>(
    _ key: Key, default absent: @autoclosure () -> Value, _ property: (Value) -> Property
  ) -> Property {
    latestKey == key ? property(latest) : property(others[key] ?? absent())
  }

  var last: Value? { latestKey == nil ? nil : latest }

  /// The value of a key. The value becomes the value that was used last.
  mutating func find(_ key: Key) -> Value? { makeLatest(key) ? latest : nil }

  mutating func update(_ key: Key, _ change: (inout Value) -> Void) {
    if makeLatest(key) { change(&latest) }
  }

  mutating func keepLatest(_ change: (inout Value) -> Void) {
    if !others.isEmpty { others = [:] }
    if latestKey != nil { change(&latest) }
  }

  @inline(__always)
  func contains(_ key: Key) -> Bool { latestKey == key || !others.isEmpty && others[key] != nil }

  func visit<Failure>(_ body: (Key, Value) throws(Failure) -> Void) throws(Failure) {
    if let latestKey { try body(latestKey, latest) }
    for (key, value) in others { try body(key, value) }
  }

  private mutating func makeLatest(_ key: Key) -> Bool {
    if latestKey == key { return true }
    guard !others.isEmpty, let value = others.removeValue(forKey: key) else { return false }
    setLatest(key, value)
    return true
  }

  private mutating func setLatest(_ key: Key, _ value: Value) {
    if let latestKey { others[latestKey] = latest }
    latestKey = key
    latest = value
  }
}
