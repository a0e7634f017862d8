import LMDB
import LarderSystem

/// An error of the library: a code for programs and a text for people. The text names the path, key or limit, and a
/// remedy.
///
/// A missing entry is never an error: reads return nil.
public struct LarderError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of an error.
  public enum Code: String, Sendable {
    /// No store is at the path.
    case notFound
    /// The permissions, the owner, links or the file system do not allow the store to be opened.
    case cannotOpen
    /// The files at the path are not a Larder store.
    case foreign
    /// A later version of Larder wrote the store.
    case newerFormat
    /// The file is damaged or cut short.
    case damaged
    /// The machine stopped before the store was closed; the store must be opened for writing once.
    case needsRecovery
    /// Another process keeps a lock for too long, or a write of another thread does not end.
    case busy
    /// The disk is full, or a limit is reached and nothing may be evicted.
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
    /// No value is stored, and the policy forbids a load.
    case notStored
    /// A load exceeded its timeout.
    case timedOut
    /// A load asked for its own key, directly or through the load of another key.
    case loadCycle
    /// A page cursor is malformed or of another namespace.
    case badCursor
    /// A key, name, rule or argument is impossible.
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
    /// The store was opened before the process was forked.
    case forked
    /// The shared tier cannot be reached or refused the request: nothing was changed there.
    case unreachable
    /// The shared tier did not answer in time: the change may or may not have been made there.
    case unanswered
    /// A removal has taken effect on this machine. The store keeps the removal until the shared tier can be reached.
    case pending
  }

  /// The kind of the error.
  public let code: Code
  /// The error in words, with its path, key or size.
  public let message: String
  /// A remedy for the user, or nil.
  public let hint: String?

  /// An error with a message, which is cut after 10,000 Unicode scalars, and an optional remedy.
  public init(_ code: Code, _ message: String, hint: String? = nil) {
    self.code = code
    self.message =
      message.utf8.count <= Self.longestMessage
      ? message
      : String(String.UnicodeScalarView(message.unicodeScalars.prefix(Self.longestMessage))) + "..."
    self.hint = hint
  }

  /// The Unicode scalars after which a message is cut: a message may quote an argument of any length. Every path is shorter.
  private static let longestMessage = 10_000

  /// The message, and the remedy in parentheses.
  public var description: String {
    hint.map { "\(message) (\($0))" } ?? message
  }

  /// - Parameter details: facts that the environment adds to the message, such as the process that holds a lock.
  init(_ error: LMDBError, path: String, details: String = "") {
    let code: Code =
      switch error {
      case _ where error.isBusy, .writerKept: .busy
      case .closed: .closed
      case .forked: .forked
      case .mapFull, .diskFull, .fileTooLarge: .full
      case .corrupted, .pageNotFound, .damagedPage: .damaged
      case .insideWrite: .insideWrite
      default: .failed
      }
    let words = details.isEmpty ? "" : " (\(details))"
    self.init(code, "\(path): \(error.description)\(words)", hint: error.recoverySuggestion)
  }

  init(_ error: OpenError) {
    let isFull = error.cause == .diskFull || error.cause == .fileTooLarge
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

  /// Runs `body`, which calls no code of the user, and throws its error as the library's error.
  @inline(__always)
  func typed<Result: ~Copyable>(_ body: () throws -> Result) throws(LarderError) -> Result {
    do {
      return try body()
    } catch {
      throw larderError(error)
    }
  }
}
