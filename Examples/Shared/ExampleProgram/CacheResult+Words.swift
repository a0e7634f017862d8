public import Larder
import Service

extension CacheResult {
  /// The source and the age: `from the store, 5 minutes old, stale: the service cannot be reached`.
  public var words: String {
    let place =
      switch source {
      case .loaded, .shared: "from the service"
      case .memory: "from memory, \(age.words) old"
      case .disk, .stale: "from the store, \(age.words) old"
      }
    let state = source == .stale ? ", stale" : error == nil ? "" : ", not stored"
    return place + state + (error.map { ": \($0)" } ?? "")
  }
}
