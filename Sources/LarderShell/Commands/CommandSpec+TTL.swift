extension CommandSpec {
  static let ttl = CommandSpec(
    "ttl", aliases: ["expiry"], .looking, .reads, "Shows when entries expire.",
    selection: .optional,
    examples: [
      Example("ttl @departures \"Malm\u{F6} C:07\"", "one key"),
      Example("ttl 'Kiruna:'*", "all that match"),
    ],
    run: showExpiry)

  private static func showExpiry(_ call: Invocation, in session: Session) throws -> Outcome {
    let selection = call.selection!
    let namespaces = try session.namespaces(selection.namespaces)
    try session.checkKeys(of: selection, in: namespaces)
    try session.list(
      selection, in: namespaces, as: .expiry(namesNamespaces: namespaces.count > 1),
      includingExpired: selection.isOfKeys)
    return .done
  }
}
