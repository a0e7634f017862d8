import LarderSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The temporary stores that processes left which were killed.
enum TemporaryLeftovers {
  /// A store that is being made has no lock yet, for a moment.
  private static let youngest = Duration.seconds(60)

  /// Removes the directories that no process has open, in so far as the user may.
  static func remove(beginningWith prefix: String, in folder: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix(prefix) {
      let path = folder + "/" + name
      if isAbandoned(path) { try? FileManager.default.removeItem(atPath: path) }
    }
  }

  private static func isAbandoned(_ path: String) -> Bool {
    guard let status = FileStatus.of(path), status.isDirectory, isOld(path) else { return false }
    // A process with the store open holds the lock, whatever its process id is called here.
    let lock = try? FileLock(readingIfPresent: path + "/lock.open", in: ForkGuard())
    return (try? lock?.take()) == true
  }

  private static func isOld(_ path: String) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    guard let changed = attributes?[.modificationDate] as? Date else { return false }
    return Date().timeIntervalSince(changed) > Double(youngest.components.seconds)
  }
}
