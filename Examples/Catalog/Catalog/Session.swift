import Larder
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A user's time between signing in and signing out, as all processes see it. Only within it is anything kept of him.
///
/// An entry of the store says which it is. Signing out removes that; who knows only a session that is not there any more
/// keeps nothing, and whoever comes later begins another one.
final class Session: Sendable {
  enum State: Equatable {
    case unused
    case named(String)
    /// The store was full when it began. It is open until this process ends it or another session begins, and keeps nothing:
    /// no other process could end what it keeps.
    case unnamed
    case over
  }

  private let user: String
  private let entries: Cache<String>
  private let state = Mutex(State.unused)
  private var store: Store { entries.namespace.store }

  init(of user: String, in store: Store) {
    self.user = user
    entries = store.cache(TextCodec(), in: "catalog.sessions")
  }

  /// The session that there is now; throws when it is over.
  @discardableResult
  func check() throws -> State {
    let state = try joined()
    guard try isOpen(state) else { throw CatalogError.ended }
    return state
  }

  /// Whether that one has not ended, in whatever process.
  func isOpen(_ state: State) throws -> Bool {
    switch state {
    case .named(let name): try entries.value(for: user) == name
    case .unnamed: try self.state.withLock { $0 == state } && entries.value(for: user) == nil
    case .unused, .over: false
    }
  }

  /// Changes the store while the session lasts; nil, and nothing is changed, when it is over, or keeps nothing.
  func write<Result>(_ body: (inout WriteBatch) throws -> Result) throws -> Result? {
    guard case .named(let name) = try joined() else { return nil }
    return try store.write { (batch: inout WriteBatch) throws -> Result? in
      guard try batch.value(for: user, in: entries) == name else { return nil }
      return try body(&batch)
    }
  }

  /// Begins another one. Those that others know of this user are over.
  func begin() throws {
    try state.withLock { state in
      let new = UUID().uuidString
      try store.write { batch in try set(new, in: &batch) }
      state = .named(new)
    }
  }

  /// Ends the user's session, whichever it is, together with what `body` removes.
  func end(_ body: (inout WriteBatch) throws -> Void) throws {
    try state.withLock { state in
      try store.write { batch in
        try batch.remove(user, from: entries)
        try body(&batch)
      }
      state = .over
    }
  }

  /// Ends that session and none that has begun since; false, and nothing is removed, if nothing is kept of it.
  func end(_ own: State, _ body: (inout WriteBatch) throws -> Void) throws -> Bool {
    try state.withLock { state in
      guard state == own else { return false }
      guard case .named(let name) = own else {
        state = .over
        return false
      }
      let isEnded = try store.write { (batch: inout WriteBatch) throws -> Bool in
        guard try batch.value(for: user, in: entries) == name else { return false }
        try batch.remove(user, from: entries)
        try body(&batch)
        return true
      }
      state = .over
      return isEnded
    }
  }

  /// The session that there was at the first use, or that began with it. A later one is none of this.
  private func joined() throws -> State {
    try state.withLock { state in
      guard case .unused = state else { return state }
      do {
        state = .named(try entries.value(for: user) ?? begun())
      } catch let error as LarderError where error.code == .full {
        state = .unnamed
      }
      return state
    }
  }

  private func begun() throws -> String {
    try store.write { batch in
      // Another process may have been faster.
      if let found = try batch.value(for: user, in: entries) { return found }
      let new = UUID().uuidString
      try set(new, in: &batch)
      return new
    }
  }

  /// Pinned, for a session does not end because something needs its place.
  private func set(_ name: String, in batch: inout WriteBatch) throws {
    var attributes = EntryAttributes(expires: .never)
    attributes.isPinned = true
    try batch.set(name, for: user, in: entries, attributes)
  }
}
