/// What to do with a request.
public enum CacheDecision: Sendable, Hashable {
  /// The origin need not know of it.
  case answer(CacheAnswer)
  /// Give this at once; then, in the background, make that request, once for all who get this.
  case answerWhileRevalidating(CacheAnswer, CacheForward)
  case forward(CacheForward)
}
