import LMDB
import LarderSystem

/// An error of the library: a code for programs and a text for people. The text names the path, key or limit, and a remedy.
///
/// A missing entry is never an error: reads return nil.
public struct LarderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of an error.
  public enum Code: String, Sendable {
    /// No store is at the path.
    case notFound
    /// The store cannot be opened because of its permissions, its owner, a link, or its file system.
    case cannotOpen
    /// The files at the path are not a Larder store.
    case foreign
    /// The store has a format that only later versions of Larder can read.
    case newerFormat
    /// A file of the store is damaged or truncated.
    case damaged
    /// The machine stopped before the store was closed. Open the store for writing once, which recovers the store.
    case needsRecovery
    /// Another process holds a lock for too long, or a write of another thread takes too long.
    case busy
    /// The disk or a quota is full, or a limit is reached and no entry may be evicted.
    case full
    /// The system or LMDB failed.
    case failed
    /// The store was opened for reading only.
    case readOnly
    /// A value, key or batch is larger than allowed.
    case overLimit
    /// A namespace with the name exists already, or a file is at the path of a new store.
    case exists
    /// The namespace does not exist.
    case noSuchNamespace
    /// An entry names an owner that does not exist.
    case noSuchOwner
    /// The store has no value for the key, and the request's policy forbids a load.
    case notStored
    /// A load exceeded its timeout.
    case timedOut
    /// A load asked for its own key, directly or through the load of another key.
    case loadCycle
    /// A page cursor is malformed, or belongs to another namespace.
    case badCursor
    /// A key, name, rule or argument is not valid.
    case invalidArgument
    /// A value could not be encoded.
    case unencodable
    /// A stored value could not be decoded.
    case undecodable
    /// The value is compressed or encrypted, and the store was opened without the transform or key that reads the value.
    case unreadable
    /// The call is not possible inside a write of the same thread.
    case insideWrite
    /// The store was closed.
    case closed
    /// The process is a forked child, and its parent process opened the store.
    case forked
    /// The shared tier (a Redis or Valkey server) could not be asked, or refused the request. A `set` has then made no change.
    case unreachable
    /// The shared tier did not answer in time. The shared tier may have made the change.
    case unanswered
    /// A removal took effect on this machine, but not in the shared tier. The store records the removal to repeat it later.
    case pending
  }

  /// The kind of the error.
  public let code: Code
  /// The error in words, with its path, key or size.
  public let message: String
  /// A remedy for the user, or nil.
  public let hint: String?

  /// Makes an error. Keeps at most the first 10,000 Unicode scalars of the message.
  public init(_ code: Code, _ message: String, hint: String? = nil) {
    self.code = code
    self.message =
      message.utf8.count <= Self.longestMessage
      ? message
      : String(String.UnicodeScalarView(message.unicodeScalars.prefix(Self.longestMessage))) + "..."
    self.hint = hint
  }

  private static let longestMessage = 10_000

  /// The message, and the remedy in parentheses.
  public var description: String { hint.map { "\(message) (\($0))" } ?? message }

  static func impossible(_ subject: String, hint: String) -> LarderError {
    LarderError(.invalidArgument, "\(subject) is not possible", hint: hint)
  }

  package static func tooLarge(_ size: Int, for namespace: String, _ rules: Rules) -> LarderError {
    LarderError(
      .overLimit,
      "a value of \(size) bytes is larger than namespace \(namespace) allows (\(rules.largestValue) bytes)",
      hint: "raise the namespace's largest value, or store less")
  }

  package static func unchanged(_ key: Key) -> LarderError {
    LarderError(
      .failed, "the load of \(key) says that the value is unchanged, but none was stored",
      hint: "return a value where the load is told of none")
  }

  /// - Parameter details: facts that the environment adds to the message, such as the process that holds a lock.
  init(_ error: LMDBError, path: String, details: String = "") {
    let code: Code =
      switch error {
      case _ where error.isBusy, .writerKept: .busy
      case .closed: .closed
      case .forked: .forked
      case _ where error.isFull: .full
      case .corrupted, .pageNotFound, .damagedPage: .damaged
      case .insideWrite: .insideWrite
      default: .failed
      }
    let words = details.isEmpty ? "" : " (\(details))"
    self.init(code, "\(path): \(error.description)\(words)", hint: error.recoverySuggestion)
  }

  init(_ error: OpenError) {
    let isFull = error.cause?.isFull == true
    let code: Code =
      switch error.kind {
      case .absent, .absentParent, .danglingLink: .notFound
      case .notLMDB, .otherLMDB, .foreign, .notEmpty, .notADirectory: .foreign
      case .damaged, .lacksDatabase, .truncated: .damaged
      case .busy, .inUse, .sameProcessID: .busy
      case .notCreated where isFull, .system where isFull: .full
      case .needsRecovery: .needsRecovery
      case .otherDurability: .invalidArgument
      case .exists, .inTheWay: .exists
      default: .cannotOpen
      }
    self.init(code, error.description, hint: error.recoverySuggestion)
  }
}

extension String? {
  static var verify: String? { "run `verify`; the other entries are not affected" }
}

extension Environment {
  func larderError(_ error: LMDBError) -> LarderError {
    let found = LarderError(error, path: path, details: details(of: error))
    guard error == .damagedPage, let damage else { return found }
    return LarderError(found.code, "\(found.message) (\(damage))", hint: found.hint)
  }
}

extension StoreEngine {
  func error(_ error: LMDBError) -> LarderError { environment.larderError(error) }

  func larderError(_ error: any Error) -> LarderError {
    switch error {
    case let error as LarderError: error
    case let error as LMDBError: self.error(error)
    default: LarderError(.failed, "\(environment.path): \(error)")
    }
  }

  /// Runs `body`, which must not call code of the user. Throws an error of `body` as a `LarderError`.
  @inline(__always)
  func typed<Result: ~Copyable>(_ body: () throws -> Result) throws(LarderError) -> Result {
    do { return try body() } catch { throw larderError(error) }
  }
}
