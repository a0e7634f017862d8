import Larder
import Service

/// A water temperature and its source.
public struct WaterTemperature: Codable, Hashable, Sendable {
  public enum Origin: String, Codable, Sendable {
    /// The report of all lakes.
    case report
    /// A simulation, if the report has no value.
    case simulation
  }

  public var celsius: Double
  public var origin: Origin
}

/// A water level in metres above the sea.
public struct WaterLevel: Codable, Hashable, Sendable { public var metres: Double }

/// The report of all lakes; missing measurements are null.
struct LakeReport: Decodable {
  struct Row: Decodable {
    var name: String
    @Lenient var temperature: Double?
    /// `405.96 m.\u{FC}.M.`, or with a comma; `1'405.96` with either apostrophe.
    @Lenient var waterLevel: String?

    var celsius: Double? { temperature?.within(-10...60) }

    var level: WaterLevel? {
      waterLevel.flatMap {
        let digits = $0.trimmingBlanks.replacing(",", with: ".").filter {
          !"'\u{2019}".contains($0)
        }
        return Double(digits.prefix { $0.isNumber || ".eE+-".contains($0) })
      }
      .flatMap { $0.within(0...5000) }.map { WaterLevel(metres: $0) }
    }
  }

  var lakes: LenientList<Row>

  func row(of lake: Lake) -> Row? { lakes.elements.first { $0.name == lake.name } }
}

/// Simulated temperatures in steps of some hours, future ones included.
struct SimulationBody: Decodable {
  struct Variable: Decodable { var data: [Lenient<Double>?] }
  struct Variables: Decodable {
    var temperature: Variable
    enum CodingKeys: String, CodingKey { case temperature = "T" }
  }

  /// When each value holds.
  var time: [Lenient<String>?]
  var variables: Variables

  /// Why it cannot be used; nil if it can, or nothing is measured.
  var fault: String? {
    let values = variables.temperature.data
    if time.count != values.count {
      return "times and values differ in number: \(time.count), \(values.count)"
    }
    let moments = time.compactMap { $0?.wrappedValue.flatMap { SwissTime.moment($0) } }
    if moments.isEmpty, !time.isEmpty { return "no time can be read" }
    let isMeasured = values.contains { $0 != nil }
    let isReadable = values.contains { $0?.wrappedValue != nil }
    return isMeasured && !isReadable ? "no value can be read" : nil
  }

  /// The last known value that is not in the future.
  func celsius(at now: Timestamp) -> Double? {
    let known = zip(time, variables.temperature.data).compactMap { text, celsius in
      text?.wrappedValue.flatMap { SwissTime.moment($0) }.flatMap { moment in
        celsius?.wrappedValue?.within(-10...60).map { (moment, $0) }
      }
    }
    return known.filter { $0.0 <= now }.max { $0.0 < $1.0 }?.1
  }
}
