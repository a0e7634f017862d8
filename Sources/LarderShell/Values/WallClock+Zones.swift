// Zones other than fixed ones live in FoundationInternationalization; this file alone asks for it.
#if canImport(FoundationEssentials)
  package import FoundationEssentials
  import FoundationInternationalization
#else
  package import Foundation
#endif

extension WallClock {
  /// The zone of this machine, or UTC where that is asked for.
  package static func zone(utc: Bool) -> TimeZone { utc ? .gmt : .current }

  /// The zone of that name in the time zone database.
  package static func zone(named name: String) -> TimeZone? { TimeZone(identifier: name) }
}
