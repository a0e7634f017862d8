import LarderSystem

/// The cursors with which a write looks records up and changes them: one for each of the first three databases it changes,
/// which are as many as most writes need.
///
/// A cursor that is on the right leaf already spares LMDB the search from the root. LMDB keeps it right when another call
/// changes the database, and closes it with the transaction.
struct ChangeCursors {
  @safe struct Place {
    let database: Database
    let cursor: OpaquePointer
    /// Whether the cursor is on the record that was looked up last, which nothing has changed since.
    var isLocated = false
  }

  // Three properties need no allocation.
  private var first: Place?
  private var second: Place?
  private var third: Place?

  var hasRoom: Bool { third == nil }

  @inline(__always)
  subscript(database: Database) -> Place? {
    get {
      if let first, first.database == database { return first }
      if let second, second.database == database { return second }
      if let third, third.database == database { return third }
      return nil
    }
  }

  /// - Precondition: there is room, and the database has none.
  mutating func add(_ place: Place) {
    if first == nil {
      first = place
    } else if second == nil {
      second = place
    } else {
      third = place
    }
  }

  @inline(__always)
  mutating func setLocated(_ isLocated: Bool, in database: Database) {
    if first?.database == database {
      first?.isLocated = isLocated
    } else if second?.database == database {
      second?.isLocated = isLocated
    } else if third?.database == database {
      third?.isLocated = isLocated
    }
  }
}
