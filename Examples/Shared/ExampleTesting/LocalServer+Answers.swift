import Foundation
public import LarderHTTPTesting

extension LocalServer.Answer {
  /// An answer with JSON, of objects that `JSONSerialization` can write.
  public init(_ status: Int = 200, _ fields: [String: String] = [:], json: Any) {
    do {
      let data = try JSONSerialization.data(withJSONObject: json, options: .sortedKeys)
      self.init(
        status, fields.merging(["Content-Type": "application/json"]) { first, _ in first },
        body: data)
    } catch {
      self.init(500, text: "\(error)")
    }
  }
}
