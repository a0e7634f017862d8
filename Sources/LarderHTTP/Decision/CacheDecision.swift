/// How a cache handles a request.
public enum CacheDecision: Sendable, Hashable {
  /// Answer without asking the origin.
  case answer(CacheAnswer)
  /// Answer at once and revalidate in the background, once for all clients.
  case answerWhileRevalidating(CacheAnswer, CacheForward)
  /// Send a request to the origin.
  case forward(CacheForward)
}
