import LMDB
import LarderSystem

extension LarderError {
  /// - Parameter details: what the environment adds to the message, such as the process that holds a lock.
  init(_ error: LMDBError, path: String, details: String = "") {
    let code: Code =
      switch error {
      case .busy: .busy
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
    let code: Code =
      switch error.kind {
      case .absent, .absentParent, .danglingLink: .notFound
      case .notLMDB, .foreign, .notEmpty, .notADirectory: .foreign
      case .damaged, .truncated: .damaged
      case .busy, .inUse: .busy
      case .notCreated where error.cause == .diskFull || error.cause == .fileTooLarge: .full
      case .needsRecovery: .needsRecovery
      case .otherDurability: .invalidArgument
      case .exists: .exists
      default: .cannotOpen
      }
    self.init(code, error.description, hint: error.recoverySuggestion)
  }
}

extension Environment {
  /// The library's error for one of LMDB, with what the environment knows of its cause.
  func larderError(_ error: LMDBError) -> LarderError {
    let found = LarderError(error, path: path, details: details(of: error))
    guard error == .damagedPage, let damage else { return found }
    return LarderError(found.code, "\(found.message) (\(damage))", hint: found.hint)
  }
}

extension StoreEngine {
  func error(_ error: LMDBError) -> LarderError { environment.larderError(error) }

  /// The library's error for any that its own code throws.
  func larderError(_ error: any Error) -> LarderError {
    switch error {
    case let error as LarderError: error
    case let error as LMDBError: self.error(error)
    default: LarderError(.failed, "\(environment.path): \(error)")
    }
  }

  /// Runs a body that calls no code of the user, and throws what it throws as the library's error.
  @inline(__always)
  func typed<Result: ~Copyable>(_ body: () throws -> Result) throws(LarderError) -> Result {
    do {
      return try body()
    } catch {
      throw larderError(error)
    }
  }
}
