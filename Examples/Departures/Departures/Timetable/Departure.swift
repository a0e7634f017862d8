public import Larder

/// A departure of a boat, train or bus.
public struct Departure: Codable, Hashable, Sendable {
  /// The planned time.
  public var time: Timestamp
  /// The expected time, if it is known.
  public var expected: Timestamp?
  /// In minutes; nil if it is not known, which is not 0.
  public var delay: Int?
  /// Whether the service has cancelled it; nil, as in stored data of earlier versions, for no.
  public var isCancelled: Bool?
  public var platform: Platform?
  /// `BAT`, `S`, `IC`, ...
  public var category: String
  /// The number of the run, `019651`: text with leading zeros.
  public var course: String
  /// The line's number, `16`.
  public var line: String
  public var operatedBy: String?
  public var destination: String
  /// The stops after this one.
  public var calls: [Call]

  /// The expected time, or the planned time with the delay.
  public var leaves: Timestamp { expected ?? time.advanced(by: .minutes(max(delay ?? 0, 0))) }

  /// How much later it leaves than planned, in minutes; nil if that is not known.
  public var minutesLate: Int? {
    expected.map { Int((time.duration(to: $0) / .seconds(60)).rounded()) } ?? delay
  }

  /// The day in Zurich at which it is due; its ship is that of this day, however late it is.
  public var day: CalendarDay { get throws { try CalendarDay(of: time) } }

  /// Identifies the run; the bodies of two answers always differ.
  public var id: String { "\(time.milliseconds / 1000)/\(course)/\(line)/\(destination)" }

  /// The category and the line, each once: `BAT 101`, and `ICN 1524` where the line has both.
  public var name: String { Self.name(category, line) }

  static func name(_ category: String, _ line: String) -> String {
    line.hasPrefix(category) ? line : "\(category) \(line)"
  }

  /// Whether it is a boat or a ferry, by the timetable's categories.
  public var isBoat: Bool { ["BAT", "FAE", "KAT"].contains(category.uppercased()) }

  /// Whether delays or expected times are known.
  public var isLive: Bool { delay != nil || expected != nil }
}

/// A stop on the way.
public struct Call: Codable, Hashable, Sendable {
  public var station: Station
  public var arrival: Timestamp?
  public var departure: Timestamp?
  public var platform: Platform?
}
