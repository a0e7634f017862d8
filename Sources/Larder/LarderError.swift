/// What went wrong, where, and the way out.
///
/// Not finding an entry is never an error: a read answers nil.
public struct LarderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// For programs to tell errors apart.
  public enum Code: String, Sendable {
    /// There is no store at the path.
    case notFound
    /// The store cannot be opened: permission, owner, links, file system.
    case cannotOpen
    /// It is not a Larder store.
    case foreign
    /// A later version of Larder wrote it.
    case newerFormat
    /// The file is damaged or cut short.
    case damaged
    /// The machine stopped before the store was closed: it must be opened for writing once.
    case needsRecovery
    /// Another process holds a lock for too long.
    case busy
    /// The disk is full; or a limit is reached, and nothing may be evicted.
    case full
    /// The system or LMDB failed.
    case failed
    /// The store was opened for reading only.
    case readOnly
    /// A value, key or batch is larger than allowed.
    case overLimit
    /// A namespace of that name exists already.
    case exists
    /// There is no such namespace.
    case noSuchNamespace
    /// There is no entry that another one could belong to.
    case noSuchOwner
    /// Only what is stored was asked for, and there is nothing.
    case notStored
    /// A load exceeded its timeout.
    case timedOut
    /// A load asked for its own key, directly or through the load of another key.
    case loadCycle
    /// A page cursor is malformed or of another namespace.
    case badCursor
    /// A key, name or rule is not a possible one.
    case invalidArgument
    /// A value could not be turned into bytes.
    case unencodable
    /// A stored value could not be turned into its type.
    case undecodable
    /// It cannot be done inside a write of the same thread.
    case insideWrite
    /// The store was closed.
    case closed
    /// The store was opened before the process was forked.
    case forked
  }

  public let code: Code
  /// What happened, with the path, key or size it happened to.
  public let message: String
  /// What can be done about it.
  public let hint: String?

  public init(_ code: Code, _ message: String, hint: String? = nil) {
    self.code = code
    self.message = message
    self.hint = hint
  }

  public var description: String {
    hint.map { "\(message) (\($0))" } ?? message
  }
}

extension String? {
  static var verify: String? { "run `verify`; the other entries are not affected" }
}
