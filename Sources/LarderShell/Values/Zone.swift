package import Larder

/// How far the wall clocks of a place are ahead of UTC.
///
/// A closure, because time zones live in the C library or in all of ICU, and a shell that starts in
/// milliseconds must not load the latter.
package struct Zone: Sendable {
  /// In seconds.
  let offset: @Sendable (Timestamp) -> Int

  package init(_ offset: @escaping @Sendable (Timestamp) -> Int) { self.offset = offset }

  package static let utc = Zone { _ in 0 }
}
