/// How a request ended, for other clients that asked for the same meanwhile.
enum ExchangeOutcome: Sendable {
  /// Look at the store again.
  case arrived
  /// The response serves no other client.
  case ownOnly
  /// Its client gave up; another may send the request.
  case abandoned
  /// The origin could not be reached.
  case failed(any Error)
}
