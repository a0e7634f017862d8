import LMDB
import LarderSystem

extension LarderError {
  init(_ error: LMDBError, path: String) {
    let code: Code =
      switch error {
      case .busy: .busy
      case .closed: .closed
      case .forked: .forked
      case .mapFull, .diskFull: .full
      case .corrupted, .pageNotFound: .damaged
      default: .failed
      }
    self.init(code, "\(path): \(error.description)", hint: error.recoverySuggestion)
  }

  init(_ error: OpenError) {
    let code: Code =
      switch error.kind {
      case .absent, .absentParent: .notFound
      case .notLMDB, .foreign, .notEmpty, .notADirectory: .foreign
      case .damaged, .truncated: .damaged
      case .busy: .busy
      case .needsRecovery: .needsRecovery
      case .otherDurability: .invalidArgument
      case .exists: .exists
      default: .cannotOpen
      }
    self.init(code, error.description, hint: error.recoverySuggestion)
  }
}
