public import Larder

/// A boat, train or bus that leaves a station.
public struct Departure: Codable, Hashable, Sendable {
  /// As the timetable has it.
  public var time: Timestamp
  /// What is expected instead, if anything is.
  public var expected: Timestamp?
  /// In minutes; nil where nothing is known, which is not the same as 0.
  public var delay: Int?
  public var platform: Platform?
  /// `BAT`, `S`, `IC`, ...
  public var category: String
  /// The number of this one run, `019651`. Text: zeros at its beginning count.
  public var course: String
  /// What people call it, `16`.
  public var line: String
  public var operatedBy: String?
  public var destination: String
  /// Where it calls afterwards.
  public var calls: [Call]

  /// When it really goes, as far as anybody knows: its natural end.
  public var leaves: Timestamp {
    expected ?? time.advanced(by: .minutes(max(delay ?? 0, 0)))
  }

  /// The same run, whenever it is asked for: no body is ever the same twice.
  public var id: String { "\(time.milliseconds / 1000)/\(course)/\(line)/\(destination)" }

  /// Whether anything is known about how it really runs.
  public var isLive: Bool { delay != nil || expected != nil }
}

/// A stop on the way.
public struct Call: Codable, Hashable, Sendable {
  public var station: Station
  public var arrival: Timestamp?
  public var departure: Timestamp?
  public var platform: Platform?
}
