import ArgumentParser
import HTTPTypes
import LarderHTTP

/// A rule on the command line: a pattern, and after the pattern words such as `ttl=60`.
struct RuleOption: ExpressibleByArgument {
  let rule: HTTPCacheRule

  static let help: ArgumentHelp = """
    A rule for some URIs, the first that matches applies: 'HOST/PATH ttl=S default-ttl=S status=200,404 type=image/*,text/css \
    ignore=utm_source,utm_medium any-order by-body=POST,QUERY', with * for any bytes; repeatable.
    """

  /// Nil if the pattern has neither `/` nor `*`, if a word is unknown, or if a value is impossible.
  init?(argument: String) {
    let words = argument.split(separator: " ")
    guard let pattern = words.first, pattern.contains("/") || pattern.contains("*") else {
      return nil
    }
    var rule = HTTPCacheRule(String(pattern))
    for word in words.dropFirst() {
      let parts = word.split(separator: "=", maxSplits: 1)
      let values = parts.count == 2 ? parts[1].split(separator: ",").map(String.init) : []
      let seconds = values.count == 1 ? Int64(values[0]).flatMap { $0 >= 0 ? $0 : nil } : nil
      switch parts.first {
      case "ttl":
        guard let seconds else { return nil }
        rule.freshness = .seconds(seconds)
      case "default-ttl":
        guard let seconds else { return nil }
        rule.defaultFreshness = .seconds(seconds)
      case "status":
        let statuses = values.compactMap { Int($0) }.filter { (200...599).contains($0) }
        guard !statuses.isEmpty, statuses.count == values.count else { return nil }
        rule.statuses = Set(statuses)
      case "type":
        guard !values.isEmpty else { return nil }
        rule.contentTypes = Set(values.map { $0.lowercased() })
      case "ignore":
        guard !values.isEmpty else { return nil }
        rule.ignoredParameters = Set(values)
      case "by-body":
        let methods = values.compactMap { HTTPRequest.Method($0) }
        guard !methods.isEmpty, methods.count == values.count else { return nil }
        rule.bodyMethods = Set(methods)
      case "any-order" where parts.count == 1:
        rule.ignoresParameterOrder = true
      default: return nil
      }
    }
    self.rule = rule
  }
}
