import Larder

/// The time that watchers add to writes: in a store that was never watched, in a store that was watched before, and in a store
/// that is watched now.
struct Watching {
  enum State: String, CaseIterable {
    case never, once, watched
  }

  let store: Store
  private let entries: Store.Namespace
  private let changes: Changes?
  private let value = [UInt8](repeating: 118, count: 200)

  init(_ state: State) throws {
    store = try Store.temporary()
    entries = store.namespace("entries")
    try entries.set(value, for: 0)
    let changes = state == .never ? nil : store.changes()
    self.changes = state == .watched ? changes : nil
  }

  /// The nanoseconds of one overwrite. A transaction has `size` overwrites.
  func overwrite(_ count: Int, batch size: Int) throws -> Double {
    let time = try nanoseconds {
      for _ in 0..<count / size {
        try store.write { batch in
          for key in 0..<size { try batch.set(value, for: key, in: entries) }
        }
      }
    }
    return time / Double(count)
  }
}
