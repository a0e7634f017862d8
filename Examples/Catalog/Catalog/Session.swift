import Larder
import Service
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A user's session, the same for all processes. Data is stored only during a session.
///
/// An entry of the store has its name. Signing out removes the entry; a process with the name of an ended session stores
/// nothing.
final class Session: Sendable {
  enum State: Equatable {
    case unused
    case named(String)
    /// The store was full when it began. It stores nothing, because no other process could end it.
    case unnamed
    case over
  }

  private let user: String
  private let entries: Cache<String>
  private let state = Mutex(State.unused)
  private var store: Store { entries.namespace.store }

  init(of user: String, in store: Store) {
    self.user = user
    entries = store.cache(TextCodec(), in: "catalog.sessions", rules: .userData)
  }

  /// The current session; throws if it has ended.
  @discardableResult
  func check() throws -> State {
    let state = try joined()
    guard try isOpen(state) else { throw CatalogError.ended }
    return state
  }

  /// Whether no process has ended it.
  func isOpen(_ state: State) throws -> Bool {
    switch state {
    case .named(let name): try entries.value(for: user) == name
    case .unnamed: try self.state.withLock { $0 == state } && entries.value(for: user) == nil
    case .unused, .over: false
    }
  }

  /// Changes the store during the session; does nothing and returns nil if it has ended, or stores nothing.
  func write<Result>(_ body: (inout WriteBatch) throws -> Result) throws -> Result? {
    guard case .named(let name) = try joined() else { return nil }
    return try store.write { (batch: inout WriteBatch) throws -> Result? in
      guard try batch.value(for: user, in: entries) == name else { return nil }
      return try body(&batch)
    }
  }

  /// Begins a new session; all others of the user end.
  func begin() throws {
    try state.withLock { state in
      let new = UUID().uuidString
      try store.write { batch in try set(new, in: &batch) }
      state = .named(new)
    }
  }

  /// Ends the user's current session, and calls `body` in the same transaction.
  func end(_ body: (inout WriteBatch) throws -> Void) throws {
    try state.withLock { state in
      try store.write { batch in
        try batch.remove(user, from: entries)
        try body(&batch)
      }
      state = .over
    }
  }

  /// Ends this session, not a later one; false if it stored nothing.
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

  /// The session of the first use. A later session does not replace it.
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

  /// User data: a session does not end because of an eviction.
  private func set(_ name: String, in batch: inout WriteBatch) throws {
    try batch.set(name, for: user, in: entries)
  }
}
