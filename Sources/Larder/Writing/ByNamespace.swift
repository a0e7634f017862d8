/// What a batch keeps for each namespace that it meets.
///
/// The one that was changed last is found without hashing; nearly always it is the one asked for next.
struct ByNamespace<Value> {
  private var values: [(id: NamespaceID, value: Value?)] = []
  private var places: [NamespaceID: Int] = [:]
  private var last = 0

  private func place(of id: NamespaceID) -> Int? {
    last < values.count && values[last].id == id ? last : places[id]
  }

  func contains(_ id: NamespaceID) -> Bool {
    place(of: id).map { values[$0].value != nil } ?? false
  }

  subscript(id: NamespaceID) -> Value? {
    get { place(of: id).flatMap { values[$0].value } }
    _modify {
      if let place = place(of: id) {
        last = place
      } else {
        last = values.count
        places[id] = last
        values.append((id, nil))
      }
      yield &values[last].value
    }
  }

  /// Those that have a value.
  var all: [(id: NamespaceID, value: Value)] {
    values.compactMap { entry in entry.value.map { (entry.id, $0) } }
  }
}
