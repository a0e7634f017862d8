import LarderSystem
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ZoneRules {
  /// Each zone is read once per process; there are some hundred at most.
  private static let known = Mutex<[String: ZoneRules]>([:])

  /// The largest file that is read; the largest zones have 4 kB.
  private static let largestFile = 1 << 20

  /// The rules of a zone by its name in the system's time zone database, such as `Europe/Zurich`.
  static func named(_ name: String) throws(LarderError) -> ZoneRules {
    if name == "UTC" { return .utc }
    if let rules = known.withLock({ $0[name] }) { return rules }
    let rules = try load(name)
    known.withLock { $0[name] = rules }
    return rules
  }

  static func load(
    _ name: String, from directories: [String] = directories
  ) throws(LarderError) -> ZoneRules {
    guard isPossible(name) else { throw unknown(name, "the name is not one of a time zone") }
    for directory in directories {
      // A pipe or a device might never end.
      guard let file = FileDescriptor.reading(directory + "/" + name),
        let status = file.status, status.isRegularFile
      else { continue }
      guard file.size <= largestFile else {
        throw unknown(name, "\(directory)/\(name) is too large to be one")
      }
      do throws(Flaw) {
        return try ZoneRules(file: file.read(at: 0, count: file.size))
      } catch {
        throw unknown(name, "\(directory)/\(name) cannot be used: \(error.reason)")
      }
    }
    throw unknown(name, "no such file in \(directories.joined(separator: ", "))")
  }

  /// Letters, digits, `_`, `+` and `-`, in parts that begin with a letter: no path can lead out of the database.
  private static func isPossible(_ name: String) -> Bool {
    name.utf8.count <= 100
      && name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
        part.first.map { $0.isASCII && $0.isLetter } ?? false
          && part.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
              && (scalar.properties.isAlphabetic || "0123456789_+-".unicodeScalars.contains(scalar))
          }
      }
  }

  private static var directories: [String] {
    if let directory = ProcessInfo.processInfo.environment["TZDIR"], !directory.isEmpty {
      return [directory]
    }
    return ["/usr/share/zoneinfo", "/var/db/timezone/zoneinfo", "/usr/lib/zoneinfo"]
  }

  private static func unknown(_ name: String, _ reason: String) -> LarderError {
    LarderError(
      .invalidArgument, "the time zone \"\(name)\" is not known: \(reason)",
      hint:
        "use a name such as Europe/Zurich or UTC; where the database is missing, install tzdata or set TZDIR"
    )
  }
}
