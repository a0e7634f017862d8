public import Larder

extension EntityRule {
  /// The rules of the namespace; nil for a kind that is switched off.
  public var rules: Rules? {
    switch lifetime {
    case .never: Rules(expires: .never)
    case .after(let duration): Rules(expires: .after(duration))
    case .at(let moment): Rules(expires: .at(moment))
    case .off: nil
    }
  }
}
